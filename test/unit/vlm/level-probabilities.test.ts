// Probabilities of the five levels: from tokens in all spellings, from declared numbers, from the level alone.
import t from 'tap';
import type { TokenLogprobs } from '../../../src/vlm/client.ts';
import {
  levelsFromClassification,
  levelsFromDeclaration,
  levelsFromLogprobs,
} from '../../../src/vlm/level-probabilities.ts';

type Alternatives = Record<string, number>;
const certain = (token: string): TokenLogprobs => ({ token, logprob: 0, alternatives: [{ token, logprob: 0 }] });
const spoken = (token: string, alternatives: Alternatives): TokenLogprobs => ({
  token,
  logprob: Math.log(alternatives[token] ?? 1),
  alternatives: Object.entries(alternatives).map(([word, share]) => ({ token: word, logprob: Math.log(share) })),
});
const sum = (shares: Record<string, number> | null) =>
  Object.values(shares ?? {}).reduce((total, share) => total + share, 0);
const near = (shares: Record<string, number> | null, expected: Record<string, number>) =>
  Object.entries(expected).every(([level, share]) => Math.abs((shares?.[level] ?? -1) - share) < 1e-9);

t.test('casing, quotes, leading spaces and parts of words are merged and renormalised', async (t) => {
  const tokens = [
    certain('{"'),
    certain('final_answer'),
    certain('":"'),
    spoken('Good', {
      Good: 0.5,
      ' good': 0.1,
      '"Good': 0.05,
      Go: 0.05,
      Fair: 0.2,
      'Poor"': 0.05,
      Bad: 0.03,
      Excellent: 0.02,
    }),
    certain('"}'),
  ];
  const shares = levelsFromLogprobs(tokens, 'final_answer');
  t.ok(near(shares, { Good: 0.7, Fair: 0.2, Poor: 0.05, Bad: 0.03, Excellent: 0.02 }), JSON.stringify(shares));
});

t.test('the level may share its token with the punctuation before and after', async (t) => {
  for (const tokens of [
    [certain('{"final_answer":'), spoken(' "Fair', { ' "Fair': 0.6, ' "Good': 0.4 }), certain('"}')],
    [certain('{"final_answer'), spoken('":"Fair","', { '":"Fair","': 0.6, '":"Good","': 0.4 }), certain('x":1}')],
    [certain('{\n  "final_answer" '), certain(': '), certain('"'), spoken('F', { F: 0.6, G: 0.4 }), certain('air"}')],
    [certain('```json\n{"final_answer": "'), spoken('fair', { fair: 0.6, good: 0.4 }), certain('"}')],
  ]) {
    const shares = levelsFromLogprobs(tokens, 'final_answer');
    t.ok(Math.abs((shares?.Fair ?? 0) / (shares?.Good ?? 1) - 1.5) < 1e-9, tokens.map(({ token }) => token).join(''));
    t.ok(Math.abs(sum(shares) - 1) < 1e-9);
  }
});

t.test('letters: A is Excellent, E is Bad', async (t) => {
  const shares = levelsFromLogprobs(
    [certain('{"final_answer":"'), spoken('B', { B: 0.6, A: 0.1, C: 0.1, D: 0.1, ' E': 0.1 }), certain('"}')],
    'final_answer',
  );
  t.ok(near(shares, { Excellent: 0.1, Good: 0.6, Fair: 0.1, Poor: 0.1, Bad: 0.1 }), JSON.stringify(shares));
  const mixed = levelsFromLogprobs(
    [
      certain('{"final_answer":"'),
      spoken('B', { B: 0.5, Good: 0.1, ' b': 0.1, E: 0.2, Excellent: 0.1 }),
      certain('"}'),
    ],
    'final_answer',
  );
  t.ok(near(mixed, { Good: 0.7, Bad: 0.2, Excellent: 0.1 }), `words and letters: ${JSON.stringify(mixed)}`);
  t.ok(
    near(levelsFromLogprobs([spoken('B', { B: 0.5, A: 0.5 })], 'final_answer'), { Good: 0.5, Excellent: 0.5, Bad: 0 }),
    'an answer that is nothing but the letter',
  );
});

t.test('unlisted levels get at most the probability of the last listed token', async (t) => {
  const shares = levelsFromLogprobs(
    [certain('{"final_answer":"'), spoken('Good', { Good: 0.8, Fair: 0.1, nonsense: 0.04 })],
    'final_answer',
  );
  const missing = Math.min(0.04, 0.06 / 3);
  t.ok(
    near(shares, { Excellent: missing / (0.9 + 3 * missing), Good: 0.8 / (0.9 + 3 * missing) }),
    JSON.stringify(shares),
  );
  t.ok((shares?.Bad ?? 0) > 0, 'improbable is not impossible');
});

t.test('tokens marked as too improbable do not bound the others', async (t) => {
  const place = {
    token: 'Good',
    logprob: Math.log(0.9),
    alternatives: [
      { token: 'Good', logprob: Math.log(0.9) },
      { token: 'Fair', logprob: Math.log(0.04) },
      { token: 'Bad', logprob: -9999 },
      { token: 'x', logprob: -Infinity },
    ],
  };
  const shares = levelsFromLogprobs([certain('{"final_answer":"'), place, certain('"}')], 'final_answer');
  t.ok((shares?.Bad ?? 0) > 0.01 && (shares?.Excellent ?? 0) > 0.01, JSON.stringify(shares));
});

t.test('with reasoning before the answer, the position in the answer counts', async (t) => {
  const tokens = [
    certain('<think>{"final_answer":"'),
    spoken('Bad', { Bad: 0.9, Poor: 0.1 }),
    certain('"}</think>{"final_answer":"'),
    spoken('Good', { Good: 0.8, Fair: 0.2 }),
    certain('"}'),
  ];
  t.ok(near(levelsFromLogprobs(tokens, 'final_answer', 'Good'), { Good: 0.8, Fair: 0.2, Bad: 0 }));
  t.ok(near(levelsFromLogprobs(tokens, 'final_answer', 'Bad'), { Bad: 0.9, Poor: 0.1 }));
  t.equal(levelsFromLogprobs(tokens, 'final_answer', 'Excellent'), null, 'no place with this value');
});

t.test('null if the tokens do not name a level', async (t) => {
  t.equal(levelsFromLogprobs(null, 'final_answer'), null);
  t.equal(levelsFromLogprobs([], 'final_answer'), null);
  t.equal(levelsFromLogprobs([certain('{"other":"Good"}')], 'final_answer'), null);
  t.equal(levelsFromLogprobs([certain('{"final_answer":"'), spoken('thing', { thing: 1 })], 'final_answer'), null);
  t.equal(levelsFromLogprobs([certain('{"final_answer":7}')], 'final_answer'), null);
  t.ok(
    near(
      levelsFromLogprobs(
        [certain('{"final_answer":"'), { token: 'Good', logprob: -0.1, alternatives: [] }],
        'final_answer',
      ),
      {},
    ),
    'a server that lists no alternatives',
  );
});

t.test('declared and classified', async (t) => {
  t.ok(
    near(levelsFromDeclaration({ Excellent: 2, Good: 2, Fair: 0, Poor: 0, Bad: 0 }), {
      Excellent: 0.5,
      Good: 0.5,
      Bad: 0,
    }),
  );
  t.equal(levelsFromDeclaration({ Excellent: 0, Good: 0, Fair: 0, Poor: 0, Bad: 0 }), null);
  t.equal(levelsFromDeclaration(null), null);
  const shares = levelsFromClassification('Good');
  t.ok(Math.abs(sum(shares) - 1) < 1e-9);
  t.ok(shares.Good > shares.Fair && Math.abs(shares.Fair - shares.Excellent) < 1e-12 && shares.Fair > shares.Poor);
});
