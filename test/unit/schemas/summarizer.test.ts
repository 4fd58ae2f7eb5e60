// The summarizer's output: trimmed texts, and a replan always has a reason.
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import { buildJsonSchema, parse, parseJson } from '../../../schemas/validation/model.ts';
import { examplesOf, serialize } from '../../support/schemas/models.ts';
import { SummarizerOutput } from '../../../schemas/pipeline/summarizer.ts';
import {
  checkField,
  checkRequired,
  onlyIssue,
  refusedPaths,
  without,
  type Fields,
} from '../../support/schemas/refusal.ts';

const VERDICT = {
  final_answer: 'Good',
  quality_reasoning: 'Sharp, little noise.',
  need_replan: false,
  replan_reason: null,
  used_evidence: { tools: ['NIQE'] },
};

const parseWithWarnings = (input: Fields) => {
  const warnings: string[] = [];
  return { output: parse(SummarizerOutput, input, { warn: (message) => void warnings.push(message) }), warnings };
};

// Scenario: summarizer-state-models / Create SummarizerOutput model with required fields
t.test('every field, and the defaults', async (t) => {
  const cases = { schema: SummarizerOutput, base: VERDICT };
  checkField(t, 'final_answer', {
    ...cases,
    accepts: ['A', 'Excellent', 'Unable to determine'],
    refuses: ['', null, 1, ['A']],
  });
  checkField(t, 'quality_reasoning', { ...cases, accepts: ['x', 'Two\nlines'], refuses: ['', null, 1, {}] });
  checkField(t, 'need_replan', { ...cases, accepts: [false], refuses: ['true', 1, 0, null] });
  checkField(t, 'replan_reason', { ...cases, accepts: [null, 'Missing tool scores'], refuses: [1, [], false] });
  checkField(t, 'used_evidence', {
    ...cases,
    accepts: [null, {}, { any: [1, { thing: null }] }],
    refuses: [[], 'text', 1],
  });
  checkRequired(t, SummarizerOutput, VERDICT, ['final_answer', 'quality_reasoning']);
  t.strictSame(parse(SummarizerOutput, { final_answer: 'A', quality_reasoning: 'x' }), {
    need_replan: false,
    replan_reason: null,
    used_evidence: null,
    final_answer: 'A',
    quality_reasoning: 'x',
  });
  t.strictSame(refusedPaths(SummarizerOutput, { ...VERDICT, score: 4, level: 'Good' }), ['/score', '/level']);
});

// Scenario: summarizer-state-models / Validate quality_reasoning is non-empty
// Scenario: summarizer-state-models / Validate quality_reasoning content
t.test('quality_reasoning is trimmed and must not be blank', async (t) => {
  t.equal(parse(SummarizerOutput, { ...VERDICT, quality_reasoning: ' \n Sharp.\t' }).quality_reasoning, 'Sharp.');
  t.equal(
    parse(SummarizerOutput, { ...VERDICT, quality_reasoning: ' . ' }).quality_reasoning,
    '.',
    'one character suffices',
  );
  for (const quality_reasoning of ['', ' ', '\n\t\r', '\u00a0\u2003']) {
    t.equal(
      onlyIssue(SummarizerOutput, { ...VERDICT, quality_reasoning }).message,
      'Expected a non-blank string for /quality_reasoning but received ""',
    );
  }
});

// Scenario: summarizer-state-models / Validate final_answer format
t.test('final_answer is trimmed and must not be blank', async (t) => {
  t.equal(parse(SummarizerOutput, { ...VERDICT, final_answer: '  B\n' }).final_answer, 'B');
  for (const final_answer of ['', ' ', '\n\t'])
    t.strictSame(refusedPaths(SummarizerOutput, { ...VERDICT, final_answer }), ['/final_answer']);
  t.strictSame(refusedPaths(SummarizerOutput, { ...VERDICT, final_answer: ' ', quality_reasoning: '' }).toSorted(), [
    '/final_answer',
    '/quality_reasoning',
  ]);
});

// Scenario: summarizer-state-models / Validate replan_reason presence
t.test('a replan without a reason gets one, with exactly one warning', async (t) => {
  for (const input of [
    { ...VERDICT, need_replan: true },
    { ...VERDICT, need_replan: true, replan_reason: '  ' },
    { ...without(VERDICT, 'replan_reason'), need_replan: true },
    { ...VERDICT, need_replan: true, replan_reason: undefined },
  ]) {
    const { output, warnings } = parseWithWarnings(input);
    t.equal(output.replan_reason, 'No reason provided');
    t.strictSame(warnings, ['need_replan is true without a replan_reason']);
    t.strictSame(parseWithWarnings(output).warnings, [], 'and none when the result is read again');
  }
  t.equal(
    parse(SummarizerOutput, { ...VERDICT, need_replan: true }).replan_reason,
    'No reason provided',
    'without a warn callback',
  );
});

// Scenario: summarizer-state-models / Validate replan_reason presence
t.test('a given reason is trimmed; without a replan there is none', async (t) => {
  const { output, warnings } = parseWithWarnings({
    ...VERDICT,
    need_replan: true,
    replan_reason: ' Missing tool scores ',
  });
  t.equal(output.replan_reason, 'Missing tool scores');
  t.strictSame(warnings, []);
  t.match(parseWithWarnings(VERDICT), { output: { replan_reason: null }, warnings: [] });
});

// Scenario: summarizer-state-models / Serialize and deserialize SummarizerOutput
t.test('serializing and parsing keep it unchanged', async (t) => {
  for (const value of [
    VERDICT,
    { ...VERDICT, need_replan: true, replan_reason: 'Missing tool scores', used_evidence: null },
    ...examplesOf(SummarizerOutput),
  ]) {
    const verdict = parse(SummarizerOutput, value);
    const read = parseJson(SummarizerOutput, serialize(SummarizerOutput, verdict));
    t.strictSame(read, verdict);
    t.ok(isDeepStrictEqual(read, verdict));
  }
});

// Scenario: summarizer-state-models / Provide example for explanation/QA mode
t.test('the example of an answer', async (t) => {
  const example = {
    final_answer: 'B',
    quality_reasoning: 'The image shows moderate blur affecting sharpness, consistent with tool score of 2.6.',
    need_replan: false,
  };
  t.strictSame((buildJsonSchema(SummarizerOutput)['examples'] as unknown[])[0], example);
  t.match(parse(SummarizerOutput, example), { ...example, replan_reason: null, used_evidence: null });
});

// Scenario: summarizer-state-models / Provide example for replanning scenario
t.test('the example of a replan', async (t) => {
  const example = {
    final_answer: 'Unable to determine',
    quality_reasoning: 'Insufficient evidence for vehicle region.',
    need_replan: true,
    replan_reason: 'Missing tool scores for vehicle region',
  };
  t.strictSame((buildJsonSchema(SummarizerOutput)['examples'] as unknown[])[1], example);
  t.match(parse(SummarizerOutput, example), example);
});
