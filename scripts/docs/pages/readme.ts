// Generates the measured figures and the example reply of README.md from committed results.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AccuracyResult } from '../../../benchmarks/accuracy/report.ts';
import { readExampleAnswer } from '../example-answer.ts';
import { DocsError, fillSection, readText, root, table, wrapText } from '../page.ts';

interface MetricsResult {
  tools: Record<string, { ms: number; times_piq: number }>;
}
interface OverheadResult {
  total_ms: { p50: number };
  overhead_ms: { p50: number };
}
interface SidecarResult {
  import_to_serving_s: { median: number };
  idle_pss_mb: { all_processes: number };
}
interface KillsResult {
  kills: number;
  ready_again_ms: { worst: number };
}

export function readmePage(): string {
  const page = fillSection(readText('README.md'), 'measured', measuredTable());
  return fillSection(page, 'reply', `\`\`\`jsonc\n${exampleReply()}\n\`\`\``);
}

function measuredTable(): string {
  const accuracy = readResult<AccuracyResult>('accuracy');
  const { tools } = readResult<MetricsResult>('metrics');
  const overhead = readResult<OverheadResult>('overhead');
  const sidecar = readResult<SidecarResult>('sidecar');
  const kills = readResult<KillsResult>('sidecar-kills');
  const run = (name: string) =>
    getEntry(
      accuracy.runs.find((candidate) => candidate.name === name),
      `run ${name}`,
    );
  const [splits, unseen, live, blind] = ['tid2013-splits', 'tid2013-unseen', 'live-challenge', 'tid2013-blind'].map(
    run,
  );
  if (!splits || !unseen || !live || !blind) throw new DocsError('Expected four accuracy runs');
  const metric = (name: string) => getEntry(tools[name], `metric ${name}`);
  const speed = (name: string) =>
    `${name} ${Math.round(metric(name).ms)} ms (${metric(name).times_piq.toFixed(1)}× piq)`;
  const all = metric('the nine');
  const category = (summary: typeof blind) => percent(getEntry(summary.categories, 'categories').balanced);
  return table(
    [`measured up to ${accuracy.date.slice(0, 10)} on ${accuracy.machine.cores} cores, no GPU, no model`, ''],
    [
      ['correlation (SRCC) with human ratings, no reference: LIVE Challenge, 5-fold', live.srcc.toFixed(3)],
      ['correlation (SRCC) with human ratings, with reference: TID2013, ten random splits', splits.srcc.toFixed(3)],
      [
        'the same on TID2013 without any TID2013 label: with / without reference',
        `${unseen.srcc.toFixed(3)} / ${blind.srcc.toFixed(3)}`,
      ],
      [
        '80 % intervals that contain the rating: LIVE Challenge / TID2013 splits',
        `${percent(live.intervals.coverage)} / ${percent(splits.intervals.coverage)}`,
      ],
      [
        'main distortion named correctly, TID2013 levels 3–5: with / without reference',
        `${category(unseen)} / ${category(blind)}`,
      ],
      [
        'undistorted photos with no false finding above "slight", no reference',
        readFigure('docs/model-cards.md', /([\d.]+ %) show nothing worse than slight/),
      ],
      [
        'exact-match planning accuracy on 150 held-out questions',
        readFigure('docs/planner.md', /\*\*150 held-out questions\*\*[^\n]*\*\*([\d.]+ %)\*\*/),
      ],
      [
        'p50 latency of a 512 × 384 JPEG, caches off; service overhead in it',
        `${Math.round(overhead.total_ms.p50)} ms; ${Math.round(overhead.overhead_ms.p50)} ms`,
      ],
      [
        'metrics on 1920 × 1080, one thread',
        [
          ...['SSIM', 'FSIM', 'VSI', 'MDSI'].map(speed),
          `nine in one call ${Math.round(all.ms)} ms (${all.times_piq.toFixed(1)}×)`,
        ].join(', '),
      ],
      [
        'sidecar: start-up; memory of all idle processes',
        `${sidecar.import_to_serving_s.median.toFixed(1)} s; ${Math.round(sidecar.idle_pss_mb.all_processes)} MB`,
      ],
      [
        `ready again after the sidecar is killed under load, worst of ${kills.kills}`,
        `${(kills.ready_again_ms.worst / 1000).toFixed(1)} s`,
      ],
    ],
  );
}

/** The newest committed result of a benchmark. */
function readResult<Result>(benchmark: string): Result {
  const pattern = new RegExp(`^${benchmark}-\\d{4}-\\d\\d-\\d\\d\\.json$`);
  const newest = readdirSync(join(root, 'benchmarks/results'))
    .filter((name) => pattern.test(name))
    .sort()
    .at(-1);
  return JSON.parse(readText(`benchmarks/results/${getEntry(newest, `result of ${benchmark}`)}`)) as Result;
}

function readFigure(file: string, pattern: RegExp): string {
  return getEntry(pattern.exec(readText(file))?.[1], `figure ${String(pattern)} in ${file}`);
}

function getEntry<T>(value: T | null | undefined, name: string): T {
  if (value === undefined || value === null) throw new DocsError(`README.md needs ${name}`);
  return value;
}

const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`);

function exampleReply(): string {
  const { query, quality_score: score, summarizer_result: result } = readExampleAnswer();
  return [
    '{',
    `  "query": ${JSON.stringify(query)},`,
    `  "quality_score": { "value": ${score.value}, "level": "${score.level}", "interval": [${score.interval.join(', ')}], … },`,
    '  "summarizer_result": {',
    `    "final_answer": ${JSON.stringify(result.final_answer)},`,
    `    "quality_reasoning": ${wrapText(JSON.stringify(result.quality_reasoning), 96).join('\n       ')}, …`,
    '  },',
    '  "plan": { … }, "executor_evidence": { … }, "diagnostics": { … }, "metadata": { … }',
    '}',
  ].join('\n');
}
