// Well-formed HTTP replies with bad content: encoded keys, invalid counts, broken log-probabilities, long and unusual answers.
import t, { type Test } from 'tap';
import { issue } from '../../../schemas/validation/explain.ts';
import { ValidationError } from '../../../schemas/validation/model.ts';
import { createGuardedFetch } from '../../../src/vlm/transport/guarded-fetch.ts';
import { levelsFromLogprobs } from '../../../src/vlm/level-probabilities.ts';
import { createKeyRemover, createRedactor, Secret } from '../../../src/vlm/transport/secret.ts';
import type { VLMError } from '../../../src/vlm/errors.ts';
import { BACKEND_NAMES, startBareServer } from '../../support/providers/bare-server.ts';
import { sessionFor, SIMPLE_REQUEST, YES_OR_NO } from '../../support/providers/models.ts';
import type { Wire } from '../../support/providers/provider-double.ts';

const KEY = 'sk-odd_Contents-1234567890';
const SAID = '{"answer":"yes"}';
const WIRES = Object.keys(BACKEND_NAMES) as Wire[];

/** A server that sends these texts in turn, with these headers. */
async function serve(
  t: Test,
  wire: Wire,
  bodies: string[],
  headers: Record<string, string> = { 'content-type': 'application/json' },
) {
  const server = await startBareServer(t, wire, KEY, (response, before) => {
    response.writeHead(200, headers).end(bodies[before] ?? '{}');
  });
  return {
    ...server,
    ask: () => server.backend.client.generate({ ...SIMPLE_REQUEST, logprobs: 5 }, AbortSignal.timeout(20_000)),
  };
}

/** The answer in one or several parts, in each wire format. */
function envelope(wire: Wire, pieces: string[], more: Record<string, unknown> = {}): object {
  if (wire === 'openai')
    return {
      choices: [
        {
          finish_reason: 'stop',
          message: { content: pieces.map((text) => ({ type: 'text', text })) },
          ...(more['choice'] as object),
        },
      ],
      ...more,
    };
  if (wire === 'anthropic')
    return { content: pieces.map((text) => ({ type: 'text', text })), stop_reason: 'end_turn', ...more };
  return {
    candidates: [
      { finishReason: 'STOP', content: { parts: pieces.map((text) => ({ text })) }, ...(more['choice'] as object) },
    ],
    ...more,
  };
}

const escaped = (text: string): string =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

t.test('a key that is split, or escaped twice, is redacted', async (t) => {
  for (const wire of WIRES) {
    const inside = JSON.stringify({ answer: 'KEY' }).replace('KEY', escaped(KEY));
    const bodies = [
      JSON.stringify(envelope(wire, [`{"answer":"${KEY.slice(0, 9)}`, `${KEY.slice(9)}"}`])),
      JSON.stringify(envelope(wire, [inside])),
      JSON.stringify(envelope(wire, ['{"answer":"KEY"}'])).replace('KEY', escaped(KEY)),
      JSON.stringify(envelope(wire, [`{"answer":"${Buffer.from(`Bearer ${KEY}`).toString('base64')}"}`])),
    ];
    const { ask } = await serve(t, wire, bodies);
    for (const [index] of bodies.entries()) {
      const { text } = await ask();
      t.match(text, /\(key\)/, `${wire} ${index}`);
      t.notOk(JSON.stringify(JSON.parse(text)).includes(KEY.slice(9, -3)), `${wire} ${index}: ${text}`);
    }
  }
});

t.test(
  "no key in the model's name, in an error behind a 200, or in anything of the answer that an SDK sees",
  async (t) => {
    const { ask } = await serve(t, 'openai', [
      JSON.stringify(envelope('openai', [SAID], { model: `m ${KEY} sk-of-another-account-12345` })),
      JSON.stringify({ error: { message: `no such key: ${KEY}`, code: 401 } }),
    ]);
    t.equal((await ask()).model, 'm (key) (key)');
    const error = await ask().then(
      () => null,
      (thrown: unknown) => thrown as VLMError,
    );
    t.match(error, { kind: 'authentication', providerSays: 'no such key: (key)' });
    const keys = [new Secret(KEY)];
    const fetchSafely = createGuardedFetch({
      redact: createRedactor(keys),
      removeKeys: createKeyRemover(keys),
      fetch: async () =>
        new Response(JSON.stringify({ deep: [KEY] }), {
          headers: { 'content-type': 'application/json', 'x-echo': KEY },
        }),
    });
    const response = await fetchSafely('http://localhost/');
    t.same([await response.text(), [...response.headers.values()]], ['{"deep":["(key)"]}', ['application/json']]);
  },
);

t.test('invalid counts make the usage unknown; the cost is never negative', async (t) => {
  const usages: Record<Wire, [string, string]> = {
    openai: [
      '"usage":{"prompt_tokens":1e999,"completion_tokens":5}',
      '"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":100000000}}',
    ],
    anthropic: [
      '"usage":{"input_tokens":7,"output_tokens":-4}',
      '"usage":{"input_tokens":10,"output_tokens":5,"cache_creation_input_tokens":0}',
    ],
    google: [
      '"usageMetadata":{"promptTokenCount":"12","candidatesTokenCount":5}',
      '"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":5,"cachedContentTokenCount":100000000}',
    ],
  };
  for (const wire of WIRES) {
    const body = JSON.stringify(envelope(wire, [SAID]));
    const { ask, backend } = await serve(
      t,
      wire,
      [...usages[wire], usages[wire][1]].map((usage) => `${body.slice(0, -1)},${usage}}`),
    );
    t.equal((await ask()).usage, null, wire);
    t.match((await ask()).usage, { inputTokens: 10, outputTokens: 5 }, wire);
    const { ask: askAsSession, budget } = sessionFor({ chain: [backend] });
    await askAsSession(20_000);
    t.ok(budget.usage().cost_usd > 0 && budget.usage().cost_usd < 0.001, `${wire}: ${budget.usage().cost_usd}`);
  }
});

t.test('tokens written to the prompt cache have their own price', async (t) => {
  const { backend } = await serve(t, 'anthropic', [
    JSON.stringify(
      envelope('anthropic', [SAID], {
        usage: {
          input_tokens: 100,
          output_tokens: 0,
          cache_read_input_tokens: 1000,
          cache_creation_input_tokens: 1000,
        },
      }),
    ),
  ]);
  const { ask, budget } = sessionFor({ chain: [backend] });
  await ask(20_000);
  t.match(budget.usage(), { input_tokens: 2_100, cost_usd: Math.round(100 * 2 + 1000 * 0.2 + 1000 * 2.5) / 1e6 });
});

t.test('an invalid model name, broken log-probabilities, no content type: the answer is accepted', async (t) => {
  const ruins = {
    openai: [
      {
        logprobs: {
          content: [
            null,
            7,
            { token: 5, logprob: 'x', top_logprobs: {} },
            { token: 'a', top_logprobs: [null, { token: null }] },
          ],
        },
      },
      { logprobs: { content: { a: 1 } } },
      { logprobs: 'none' },
    ],
    google: [
      {
        logprobsResult: { chosenCandidates: [null, 7, { token: 5 }], topCandidates: [{ candidates: [null, 3] }, null] },
      },
      { logprobsResult: { chosenCandidates: 'no', topCandidates: 5 } },
      { logprobsResult: null },
    ],
    anthropic: [{}],
  };
  for (const wire of WIRES) {
    const bodies = ruins[wire].map((choice) =>
      JSON.stringify(envelope(wire, [SAID], { choice, model: 42, modelVersion: ['x'] })),
    );
    const { ask, backend } = await serve(t, wire, bodies, {});
    for (const [index] of bodies.entries()) {
      const { text, model, tokens } = await ask();
      t.same([text, model], [SAID, backend.model], `${wire} ${index}`);
      t.equal(levelsFromLogprobs(tokens, 'answer'), null);
    }
  }
});

t.test('a useless 200 reply may be charged: the reserved cost stays spent', async (t) => {
  const { backend, asked } = await serve(t, 'openai', ['<html>', '<html>'], { 'content-type': 'text/html' });
  const { ask } = sessionFor({ chain: [backend], limits: { max_calls: 9, max_cost_usd: 0.03 } });
  await t.rejects(ask(20_000), /could exceed the limit of 0.03 USD/);
  t.equal(asked(), 1);
});

t.test('issues are recorded with their path in the answer; of a thousand only the first are listed', async (t) => {
  const { backend } = await serve(
    t,
    'openai',
    [SAID, SAID].map((text) => JSON.stringify(envelope('openai', [text]))),
  );
  const { ask, session } = sessionFor({ chain: [backend], role: { retry_attempts: 2 } });
  let round = 0;
  const read = () => {
    round += 1;
    throw new ValidationError(
      'answer',
      Array.from({ length: round === 1 ? 1 : 1_000 }, (_, index) =>
        issue(`/plan/steps/${index}`, 'true or false', 'perhaps'),
      ),
    );
  };
  const question = { ...YES_OR_NO, compose: async () => ({ ...(await YES_OR_NO.compose({} as never)), read }) };
  await t.rejects(ask(20_000, question), { code: 'IQA_MODEL_FAILED' });
  t.equal(
    session.failures()[0]?.message,
    'Invalid answer: Expected true or false for /plan/steps/0 but received "perhaps"',
  );
  t.match(session.failures()[1]?.message, /^Invalid answer: .*\/plan\/steps\/11 .*; and 988 more$/);
});
