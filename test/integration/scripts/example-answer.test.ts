// README's example: the recorded answer is still what the service says about docs/example.jpg.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Assessment } from '../../../schemas/responses/assessment.ts';
import { readExampleAnswer, trimAnswer } from '../../../scripts/docs/example-answer.ts';
import { buildTestApp, formRequest } from '../../support/app.ts';

/** Other processors differ in the last digits. */
const SCORE_TOLERANCE = 0.05;

t.test('the recorded example answer is current', async (t) => {
  const { app, config } = await buildTestApp(t);
  const image = readFileSync(join(config.root, 'docs/example.jpg'));
  const response = await app.inject(await formRequest({ image }));
  t.equal(response.statusCode, 200);
  const { quality_score: score, summarizer_result: result, ...rest } = trimAnswer(response.json<Assessment>());
  const { quality_score: recordedScore, summarizer_result: recorded, ...recordedRest } = readExampleAnswer();
  t.strictSame(rest, recordedRest, 'run "npm run docs:example" if this changed on purpose');
  t.equal(score.level, recordedScore.level);
  t.ok(Math.abs(score.value - recordedScore.value) < SCORE_TOLERANCE);
  const removeNumbers = (text: string) => text.replaceAll(/\d+(\.\d+)?/g, '#');
  t.equal(removeNumbers(result.quality_reasoning), removeNumbers(recorded.quality_reasoning));
});
