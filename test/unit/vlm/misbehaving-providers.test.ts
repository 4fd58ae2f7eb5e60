// Unusual but legal provider behaviour: raw HTTP replies written from the providers' documentation, independent of the provider double.
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { levelsFromLogprobs } from '../../../src/vlm/level-probabilities.ts';
import { VLMError } from '../../../src/vlm/errors.ts';
import { startBareServer } from '../../support/providers/bare-server.ts';
import { sessionFor, SIMPLE_REQUEST } from '../../support/providers/models.ts';
import type { Wire } from '../../support/providers/provider-double.ts';

type Answer = (response: ServerResponse) => void;
const KEYS = { openai: 'sk-odd-1234567890', anthropic: 'sk-ant-odd-1234567890', google: 'AIzaOdd1234567890abc' };
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { ...JSON_TYPE, ...headers }).end(JSON.stringify(body));
  };

/** A server that sends these replies in turn. */
const serve = (t: Test, wire: Wire, ...answers: Answer[]) =>
  startBareServer(t, wire, KEYS[wire], (response, before) => {
    (answers[before] ?? json({}, 418))(response);
  });

const SAID = '{"answer":"yes"}';
const ENVELOPES: Record<Wire, Answer[]> = {
  openai: [
    json({ choices: [{ message: { content: SAID } }] }),
    json({
      id: 1,
      object: 'x',
      model: 'other',
      system_fingerprint: null,
      service_tier: 'flex',
      novelty: { deep: [] },
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          native_finish_reason: 'STOP',
          message: {
            role: 'assistant',
            content: SAID,
            reasoning_content: 'Hm.',
            annotations: [],
            audio: null,
            tool_calls: [],
          },
          logprobs: null,
        },
      ],
      usage: null,
    }),
    json({
      choices: [
        {
          finish_reason: 'stop',
          message: {
            content: [
              { type: 'text', text: '{"answer":' },
              { type: 'output_text', text: '"yes"}' },
              { type: 'image', url: 'x' },
            ],
          },
        },
      ],
      usage: {},
    }),
    json({
      choices: [
        { finish_reason: 'stop', message: { content: SAID, refusal: '' } },
        { finish_reason: 'length', message: { content: 'second' } },
      ],
    }),
  ],
  anthropic: [
    json({ content: [{ type: 'text', text: SAID }] }),
    json({
      type: 'message',
      role: 'assistant',
      model: 'x',
      stop_reason: 'end_turn',
      stop_details: null,
      container: null,
      usage: {},
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'text', text: '{"answer":', citations: null },
        { type: 'novelty' },
        { type: 'text', text: '"yes"}' },
      ],
    }),
    json({
      stop_reason: 'stop_sequence',
      content: [{ type: 'text', text: SAID }],
      usage: { input_tokens: 3, output_tokens: null, cache_read_input_tokens: null },
    }),
  ],
  google: [
    json({ candidates: [{ content: { parts: [{ text: SAID }] } }] }),
    json({
      candidates: [
        {
          finishReason: 'STOP',
          index: 0,
          avgLogprobs: -0.1,
          safetyRatings: [],
          content: {
            role: 'model',
            parts: [{ text: 'Hm.', thought: true }, { text: '{"answer":' }, { text: '"yes"}', thoughtSignature: 's' }],
          },
          novelty: 1,
        },
      ],
      modelVersion: 'x',
      responseId: 'r',
      promptFeedback: {},
      usageMetadata: { promptTokenCount: 3 },
    }),
    json({
      candidates: [{ finishReason: 'STOP', content: { parts: [{ text: SAID }], role: 'model' }, logprobsResult: {} }],
    }),
  ],
};

for (const wire of ['openai', 'anthropic', 'google'] as const) {
  t.test(`${wire}: omitted fields, unknown fields, split text`, async (t) => {
    const { backend } = await serve(t, wire, ...ENVELOPES[wire]);
    for (const [index] of ENVELOPES[wire].entries()) {
      const reply = await backend.client.generate({ ...SIMPLE_REQUEST, logprobs: 5 }, AbortSignal.timeout(20_000));
      t.match(reply, { text: SAID, complete: true, model: String }, `envelope ${index}`);
      t.ok(
        reply.usage === null || Object.values(reply.usage).every(Number.isFinite),
        'counted, or said that it is not known',
      );
    }
  });

  t.test(`${wire}: chunked anywhere, compressed, and both`, async (t) => {
    const whole = Buffer.from(
      JSON.stringify({
        choices: [{ message: { content: SAID } }],
        content: [{ type: 'text', text: SAID }],
        candidates: [{ content: { parts: [{ text: SAID }] } }],
        note: 'ü€😀'.repeat(50),
      }),
    );
    const dribble =
      (body: Buffer, headers: Record<string, string>): Answer =>
      (response) => {
        response.writeHead(200, { ...JSON_TYPE, ...headers });
        for (let at = 0; at < body.length; at += 7) response.write(body.subarray(at, at + 7));
        response.end();
      };
    const { backend } = await serve(
      t,
      wire,
      dribble(whole, {}),
      dribble(gzipSync(whole), { 'content-encoding': 'gzip' }),
      (response) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(gzipSync(whole));
      },
    );
    for (let round = 0; round < 3; round += 1)
      t.equal((await backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000))).text, SAID);
  });
}

const CUT: [Wire, unknown][] = [
  ['openai', { choices: [{ finish_reason: 'length', message: { content: null } }] }],
  ['anthropic', { stop_reason: 'max_tokens', content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }] }],
  ['anthropic', { stop_reason: 'model_context_window_exceeded', content: [] }],
  ['google', { candidates: [{ finishReason: 'MAX_TOKENS' }] }],
  ['google', { candidates: [{ finishReason: 'MAX_TOKENS', content: {} }] }],
];
t.test('a reply cut off before its first word is truncated, not malformed', async (t) => {
  for (const [wire, body] of CUT) {
    const { backend } = await serve(t, wire, json(body));
    t.match(
      await backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000)),
      { text: '', complete: false },
      JSON.stringify(body),
    );
  }
});

const FAILURES: [Wire, string, Answer, string][] = [
  [
    'openai',
    'a refusal with content',
    json({ choices: [{ finish_reason: 'stop', message: { content: SAID, refusal: 'No.' } }] }),
    'refusal',
  ],
  [
    'openai',
    'a content filter',
    json({ choices: [{ finish_reason: 'content_filter', message: { content: '{"ans' } }] }),
    'refusal',
  ],
  [
    'anthropic',
    'a refusal with text',
    json({ stop_reason: 'refusal', content: [{ type: 'text', text: 'I would rather not.' }] }),
    'refusal',
  ],
  [
    'google',
    'a blocked prompt',
    json({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 9 } }),
    'refusal',
  ],
  [
    'google',
    'a blocked answer',
    json({ candidates: [{ finishReason: 'SAFETY', safetyRatings: [{ blocked: true }] }] }),
    'refusal',
  ],
  ['google', 'a candidate without content', json({ candidates: [{ finishReason: 'STOP' }] }), 'bad_reply'],
  [
    'anthropic',
    'no text at all',
    json({ stop_reason: 'tool_use', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }] }),
    'bad_reply',
  ],
  ['openai', 'choices of null', json({ choices: null }), 'bad_reply'],
  [
    'openai',
    'an error with status 200',
    json({ error: { message: 'Rate limited upstream', code: 429 } }),
    'rate_limited',
  ],
  [
    'openai',
    'an error with status 200 and no code',
    json({ error: { message: 'Provider returned error' } }),
    'unavailable',
  ],
  [
    'anthropic',
    'an error with status 200',
    json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    'unavailable',
  ],
  [
    'google',
    'an error with status 200',
    json({ error: { code: 403, status: 'PERMISSION_DENIED', message: 'API key not valid' } }),
    'authentication',
  ],
  [
    'anthropic',
    '529',
    json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529),
    'unavailable',
  ],
  ['google', 'an error as a list', json([{ error: { code: 503, message: 'unavailable' } }], 503), 'unavailable'],
  ['openai', 'a redirect', json({}, 307, { location: '/v1/elsewhere' }), 'bad_request'],
  [
    'google',
    'a key that Google does not know',
    json(
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'API key not valid.',
          details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
        },
      },
      400,
    ),
    'authentication',
  ],
  [
    'openai',
    'a success without content',
    (response) => {
      response.writeHead(204).end();
    },
    'bad_reply',
  ],
  [
    'openai',
    'an unrequested stream',
    (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {}\n\n');
    },
    'bad_reply',
  ],
  [
    'openai',
    'a body that is not gzip though it says so',
    (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }).end(SAID);
    },
    'network',
  ],
  [
    'openai',
    'a body that ends too early',
    (response) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': '500' }).write('{"choices":', () => response.destroy());
    },
    'network',
  ],
];
t.test('every kind of failure is classified', async (t) => {
  for (const [wire, title, answer, kind] of FAILURES) {
    const { backend, asked } = await serve(t, wire, answer);
    const error: unknown = await backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000)).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    t.ok(error instanceof VLMError, `${wire}, ${title}: ${String(error)}`);
    t.equal((error as VLMError | null)?.kind, kind, `${wire}, ${title}`);
    t.equal(asked(), 1, 'once');
  }
});

t.test('a date in Retry-After, also one in the past', async (t) => {
  const past = new Date(Date.now() - 60_000).toUTCString();
  const { backend } = await serve(
    t,
    'anthropic',
    json({}, 429, { 'retry-after': past }),
    json({}, 503, { 'retry-after': 'soon' }),
  );
  const failure = () =>
    backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000)).then(
      () => null,
      (thrown: unknown) => thrown as VLMError,
    );
  t.match(await failure(), { kind: 'rate_limited', retryAfterMs: 0 });
  t.match(await failure(), { kind: 'unavailable', retryAfterMs: undefined });
});

t.test('a retry delay in the body, as Google sends it; an empty header is ignored', async (t) => {
  const quota = {
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      message: 'Quota',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2.5s' }],
    },
  };
  const { backend } = await serve(t, 'google', json(quota, 429), json({}, 429, { 'retry-after-ms': '' }));
  const failure = () =>
    backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000)).then(
      () => null,
      (thrown: unknown) => thrown as VLMError,
    );
  t.match(await failure(), { kind: 'rate_limited', retryAfterMs: 2_500 });
  t.match(await failure(), { kind: 'rate_limited', retryAfterMs: undefined });
});

t.test('error bodies of small servers are quoted in the log', async (t) => {
  const { backend } = await serve(
    t,
    'openai',
    json({ error: 'model not found' }, 404),
    json({ detail: 'logprobs are not supported' }, 400),
    json({ object: 'error', message: 'no such model' }, 404),
    json([{ error: { message: 'in a list' } }], 500),
  );
  for (const said of ['model not found', 'logprobs are not supported', 'no such model', 'in a list']) {
    const error = await backend.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(20_000)).then(
      () => null,
      (thrown: unknown) => thrown as VLMError,
    );
    t.equal(error?.providerSays, said);
  }
});

t.test('a call without reported usage counts at its maximum cost', async (t) => {
  const { backend } = await serve(t, 'openai', json({ choices: [{ message: { content: SAID } }] }));
  const { ask, budget } = sessionFor({ chain: [backend], limits: { max_calls: 9, max_cost_usd: 0.03 } });
  t.match(await ask(20_000), { value: { answer: 'yes' }, model: 'gpt-4o' });
  t.match(budget.usage(), { calls: 1, input_tokens: 0, cost_usd: 0 });
  await t.rejects(ask(20_000), /could exceed the limit of 0.03 USD/);
});

t.test('malformed log-probabilities', async (t) => {
  const level = (token: string, logprob: number | null, top: unknown) => [
    { token: '{"final_answer":"', logprob: 0, top_logprobs: [] },
    { token, logprob, top_logprobs: top },
    { token: '"}', logprob: 0 },
  ];
  const contents = [
    level('good', -0.1, undefined),
    level('good', -0.1, [
      { token: ' Good', logprob: -0.7 },
      { token: 'good', logprob: -1.2, bytes: [103] },
      { token: 'bytes:\\xf0\\x9f', logprob: -3 },
      { token: '', logprob: -4 },
      { token: '"FAIR"', logprob: -2 },
    ]),
    level('good', null, [
      { token: 'good', logprob: -0.2 },
      { token: 'poor', logprob: null },
      { token: 'bad', logprob: -9999 },
    ]),
  ];
  const { backend } = await serve(
    t,
    'openai',
    ...contents.map((content) =>
      json({ choices: [{ message: { content: '{"final_answer":"good"}' }, logprobs: { content } }] }),
    ),
  );
  for (const [index] of contents.entries()) {
    const { tokens } = await backend.client.generate({ ...SIMPLE_REQUEST, logprobs: 5 }, AbortSignal.timeout(20_000));
    const shares = levelsFromLogprobs(tokens, 'final_answer');
    t.ok(
      shares &&
        Math.abs(Object.values(shares).reduce((sum, share) => sum + share, 0) - 1) < 1e-9 &&
        Object.values(shares).every((share) => share >= 0),
      `${index}: ${JSON.stringify(shares)}`,
    );
    t.ok((shares?.Good ?? 0) > 0.5, 'good, in whatever spelling');
  }
});
