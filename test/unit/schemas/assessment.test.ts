// The response of POST /assess: every key is always present, null if there is no value.
import t from 'tap';
import { Assessment, FUSION_METHODS } from '../../../schemas/responses/assessment.ts';
import { parse, parseJson } from '../../../schemas/validation/model.ts';
import { serialize } from '../../support/schemas/models.ts';
import { LEVELS } from '../../../schemas/vocabulary.ts';
import { makeAssessment } from '../../support/schemas/assessment.ts';
import { checkField, onlyIssue, refusedPaths, without, type Fields } from '../../support/schemas/refusal.ts';

const NULLABLE = ['reference', 'plan', 'executor_evidence', 'summarizer_result', 'error', 'quality_score'];

t.test('a complete response survives serializing and parsing', async (t) => {
  const assessment = makeAssessment();
  t.strictSame(parse(Assessment, assessment), assessment);
  t.strictSame(parseJson(Assessment, serialize(Assessment, assessment)), assessment);
});

t.test('every key is required, also nullable ones, and no other is accepted', async (t) => {
  const assessment: Fields = { ...makeAssessment() };
  for (const key of Object.keys(assessment))
    t.strictSame(refusedPaths(Assessment, without(assessment, key)), [`/${key}`], key);
  t.strictSame(
    refusedPaths(Assessment, { ...assessment, image_path: '/tmp/spool/1' }),
    ['/image_path'],
    'no path of ours leaves the house',
  );
  const empty = { ...assessment, ...Object.fromEntries(NULLABLE.map((key) => [key, null])) };
  t.strictSame(parse(Assessment, empty), empty);
  for (const key of Object.keys(assessment).filter((key) => !NULLABLE.includes(key)))
    t.equal(onlyIssue(Assessment, { ...assessment, [key]: null }).path, `/${key}`);
});

t.test('limits of the score and the counts', async (t) => {
  const base: Fields = { ...makeAssessment() };
  const score = makeAssessment().quality_score!;
  checkField(t, 'iteration_count', { schema: Assessment, base, accepts: [0, 5], refuses: [-1, 0.5, '1'] });
  checkField(t, 'quality_score', {
    schema: Assessment,
    base,
    accepts: [
      { ...score, value: 1 },
      { ...score, value: 5 },
      { ...score, interval: null, tool_mean: null },
      ...LEVELS.map((level) => ({ ...score, level })),
      ...FUSION_METHODS.map((method) => ({ ...score, method })),
    ],
    refuses: [
      { ...score, value: 0.99 },
      { ...score, value: 5.01 },
      { ...score, value: NaN },
      { ...score, level: 'good' },
      { ...score, method: 'guess' },
      { ...score, interval: [1] },
      { ...score, interval: [1, 2, 3] },
      { ...score, weights: { ...score.weights, Good: 1.01 } },
      { ...score, weights: without(score.weights, 'Bad') },
      { ...score, probabilities: { ...score.probabilities, Superb: 0 } },
    ],
  });
});
