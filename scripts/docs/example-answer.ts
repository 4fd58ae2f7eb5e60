// The recorded answer to docs/example.jpg that README.md and the answer card show.
import type { Assessment } from '../../schemas/responses/assessment.ts';
import { DocsError, readText } from './page.ts';

export interface ExampleAnswer {
  query: string;
  quality_score: { value: number; level: string; interval: readonly number[] };
  summarizer_result: { final_answer: string; quality_reasoning: string };
  findings: readonly { distortion: string; severity: string }[];
}

export function readExampleAnswer(): ExampleAnswer {
  return JSON.parse(readText('docs/example-answer.json')) as ExampleAnswer;
}

/** Keeps what does not change from run to run. */
export function trimAnswer({
  query,
  quality_score: score,
  summarizer_result: result,
  diagnostics,
}: Assessment): ExampleAnswer {
  if (!score?.interval || !result) throw new DocsError('Expected an answer with a score and an interval');
  return {
    query,
    quality_score: { value: score.value, level: score.level, interval: score.interval },
    summarizer_result: { final_answer: result.final_answer, quality_reasoning: result.quality_reasoning },
    findings: diagnostics.findings.map(({ distortion, severity }) => ({ distortion, severity })),
  };
}
