// The four clients against the provider double: the same request, the same reply, and the same classification of failures.
import t from 'tap';
import { VLMError } from '../../../src/vlm/errors.ts';
import { makeImage } from '../../support/images/images.ts';
import { KEYS, startProviderDouble, type Step, type Wire } from '../../support/providers/provider-double.ts';
import { backendsFor, SIMPLE_REQUEST } from '../../support/providers/models.ts';

const BACKENDS: [Wire, string][] = [
  ['openai', 'openai.gpt-4o'],
  ['anthropic', 'anthropic.claude-3.5-sonnet'],
  ['google', 'google.gemini-3.5-flash-lite'],
];
/** Long enough for a slow machine that is loading an SDK. */
const PATIENCE_MS = 60_000;
const photo = await makeImage({ width: 64, height: 48 }).png().toBuffer();
const image = {
  label: 'The image:',
  mediaType: 'image/png' as const,
  base64: photo.toString('base64'),
  width: 64,
  height: 48,
  key: 'photo',
};

for (const [wire, name] of BACKENDS) {
  t.test(`${wire}: text, image, conversation, schema and parameters are sent; the reply is parsed`, async (t) => {
    const double = await startProviderDouble(t);
    const [backend] = backendsFor(double.environment(wire), name);
    double.play({ say: { answer: 'yes' }, levels: {} });
    const turns = [
      { role: 'user', text: 'First.' },
      { role: 'assistant', text: 'Hm.' },
      { role: 'user', text: 'Again.' },
    ] as const;
    const reply = await backend!.client.generate(
      { ...SIMPLE_REQUEST, turns, images: [image], logprobs: backend!.capabilities.logprobs },
      AbortSignal.timeout(PATIENCE_MS),
    );
    t.match(reply, {
      text: '{"answer":"yes"}',
      complete: true,
      usage: { inputTokens: 900, outputTokens: 120, cachedInputTokens: 0 },
    });
    t.equal(reply.tokens !== null, wire !== 'anthropic', 'log-probabilities where the provider has them');
    const [seen] = double.seen;
    t.match(seen, {
      system: 'You answer.',
      maxTokens: 100,
      turns: [
        { role: 'user', text: /The image:[\s\S]*First\./ },
        { role: 'assistant', text: 'Hm.' },
        { role: 'user', text: 'Again.' },
      ],
    });
    t.same([seen?.temperature, seen?.topP], wire === 'anthropic' ? [undefined, undefined] : [0, 0.1]);
    t.same(seen?.schema?.required, ['answer']);
    t.ok(seen?.images[0]?.data.equals(photo), 'the very bytes');
  });

  const echo = { error: { message: `Incorrect API key provided: ${KEYS[wire]}`, type: 'authentication_error' } };
  const cases: [string, Step, string][] = [
    ['401 that echoes the key', { fail: 401, body: echo }, 'authentication'],
    ['400', { fail: 400 }, 'bad_request'],
    [
      'an empty account',
      { fail: 429, body: { error: { code: 'insufficient_quota', message: 'no money' } } },
      'authentication',
    ],
    ['500', { fail: 500 }, 'unavailable'],
    ['529', { fail: 529, body: 'overloaded' }, 'unavailable'],
    ['wrong content type', { raw: '<html>Bad gateway</html>', contentType: 'text/html' }, 'bad_reply'],
    ['broken JSON in the envelope', { raw: '{"choices": [', contentType: 'application/json' }, 'bad_reply'],
    ['an envelope of nothing', { raw: '{}', contentType: 'application/json' }, 'bad_reply'],
    ['null', { raw: 'null', contentType: 'application/json' }, 'bad_reply'],
    ['no choices', { speech: { text: '', finish: 'empty' } }, 'bad_reply'],
    ['refusal', { speech: { text: '', finish: 'refusal' } }, 'refusal'],
    ['hang-up', { misbehave: 'hang_up' }, 'network'],
    ['50 MB', { misbehave: 'huge' }, 'bad_reply'],
  ];
  t.test(`${wire}: failures are classified, not retried, and never show the key`, async (t) => {
    const double = await startProviderDouble(t);
    const [backend] = backendsFor(double.environment(wire), name);
    for (const [title, step, kind] of cases) {
      double.play(step);
      const error: unknown = await backend!.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(PATIENCE_MS)).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      t.ok(error instanceof VLMError, `${title}: ${String(error)}`);
      t.equal((error as VLMError).kind, kind, title);
      t.notOk(
        JSON.stringify([
          error,
          (error as Error).message,
          (error as VLMError).providerSays,
          String((error as Error).cause),
        ]).includes(KEYS[wire]),
        title,
      );
    }
    t.equal(double.seen.length, cases.length, 'the SDKs do not retry by themselves');
  });

  t.test(`${wire}: Retry-After in seconds, in milliseconds and as a date`, async (t) => {
    const double = await startProviderDouble(t);
    const [backend] = backendsFor(double.environment(wire), name);
    const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
    for (const [headers, least, most] of [
      [{ 'retry-after': '7' }, 7_000, 7_000],
      [{ 'retry-after-ms': '40' }, 40, 40],
      [{ 'retry-after': inAnHour }, 3_500_000, 3_600_000],
    ] as const) {
      double.play({ fail: 429, headers });
      const error = await backend!.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(PATIENCE_MS)).then(
        () => null,
        (thrown: unknown) => thrown as VLMError,
      );
      t.equal(error?.kind, 'rate_limited');
      t.ok(
        error?.retryAfterMs !== undefined && error.retryAfterMs >= least && error.retryAfterMs <= most,
        JSON.stringify(headers),
      );
    }
  });

  t.test(`${wire}: a silent and a very slow provider are abandoned when the signal fires`, async (t) => {
    const double = await startProviderDouble(t);
    const [backend] = backendsFor(double.environment(wire), name);
    for (const misbehave of ['never', 'slow_bytes'] as const) {
      const { signal, abort } = lateSignal();
      double.play(() => {
        // Only once the request has arrived: how long that takes is the machine's affair.
        setTimeout(abort, 100);
        return { misbehave };
      });
      const error: unknown = await backend!.client.generate(SIMPLE_REQUEST, signal).then(
        () => null,
        (thrown: unknown) => thrown,
      );
      t.equal((error as Error).name, 'TimeoutError', misbehave);
    }
  });
}

t.test('a reply cut off at the token limit is marked incomplete', async (t) => {
  const double = await startProviderDouble(t);
  for (const [wire, name] of BACKENDS) {
    const [backend] = backendsFor(double.environment(wire), name);
    double.play({ speech: { text: '{"answer": "y', finish: 'length' } });
    t.match(
      await backend!.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(PATIENCE_MS)),
      { complete: false, text: '{"answer": "y' },
      wire,
    );
  }
});

t.test('an OpenAI-compatible server needs only an address', async (t) => {
  const double = await startProviderDouble(t);
  const [backend] = backendsFor({ IQA_LOCAL_VLM_URL: `${double.url}/v1` }, 'qwen2.5-vl-local');
  double.play({ say: { answer: 'no' } });
  t.equal((await backend!.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(PATIENCE_MS))).text, '{"answer":"no"}');
  t.equal(double.seen[0]?.model, 'Qwen/Qwen2.5-VL-7B-Instruct');
});

t.test('redirects are not followed: they could send the key elsewhere', async (t) => {
  const double = await startProviderDouble(t);
  const [backend] = backendsFor(double.environment('openai'), 'openai.gpt-4o');
  double.play({ fail: 302, headers: { location: `${double.url}/v1/chat/completions` } });
  await t.rejects(backend!.client.generate(SIMPLE_REQUEST, AbortSignal.timeout(PATIENCE_MS)), {
    code: 'VLM_BAD_REQUEST',
    status: 302,
    retry: 'never',
  });
  t.equal(double.seen.length, 1);
});

function lateSignal(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    abort: () => {
      controller.abort(new DOMException('late', 'TimeoutError'));
    },
  };
}
