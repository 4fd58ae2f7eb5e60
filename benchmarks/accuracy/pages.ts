// The result as pages: one with the four headlines, one per run with its tables and plot.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from './summary.ts';

export interface AccuracyResult {
  benchmark: string;
  date: string;
  commit: string;
  machine: { cpu: string; cores: number; node: string };
  quick: boolean;
  /** The command that made each fold's models; null: the models that come with the service, so that figures are not cross-validated. */
  fit: string | null;
  seconds: number;
  runs: RunSummary[];
}

/** `plots`: SVG by the name of the run. */
export function writePages(result: AccuracyResult, plots: ReadonlyMap<string, string>, folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'README.md'), overviewPage(result));
  for (const run of result.runs) writeFileSync(join(folder, `${run.name}.md`), runPage(run, result));
  for (const [name, svg] of plots) writeFileSync(join(folder, `${name}.svg`), svg);
}

export function overviewPage(result: AccuracyResult): string {
  const rows = result.runs.map((run) => [
    `[${run.title}](${run.name}.md)`,
    String(run.pictures),
    `**${figure(run.srcc)}**`,
    span(run.pooled.intervals.srcc),
    figure(run.pooled.plcc),
    figure(run.pooled.krcc),
    figure(run.pooled.rmse),
    figure(run.floor),
    figure(run.goal),
    tellCoverage(run),
  ]);
  const answers = result.runs
    .filter(({ questions }) => questions !== null)
    .map((run) => [
      run.title,
      percent(run.categories?.balanced ?? NaN),
      figure(meanOf(run.severity.map(({ srcc }) => srcc))),
      percent(run.questions?.share ?? NaN),
      percent(run.pairs?.share ?? NaN),
      tellCompared(run),
    ]);
  return [
    '# Accuracy',
    '',
    '<!-- Made by "npm run bench:accuracy"; do not edit. -->',
    '',
    `The whole service's answer to the default query, over HTTP, on ${result.date.slice(0, 10)} at commit ${result.commit} (${result.machine.cores} cores, ${result.machine.cpu}).`,
    result.fit === null
      ? '**Not cross-validated**: every fold was answered by the models that come with the service, which may have been fitted on these pictures.'
      : 'Every fold was answered by models fitted without its pictures: none of their groups (versions of one content) was seen.',
    ...(result.quick ? ['A quick run: a tenth of the pictures and one fold of each run.'] : []),
    '',
    'SRCC is the mean over the folds; the other figures are of all folds together, PLCC and RMSE after the monotone logistic between scores and ratings.',
    'Scales are aligned by mean and deviation, learned from the other half of the contents.',
    '',
    table(['run', 'answers', 'SRCC', '95 %', 'PLCC', 'KRCC', 'RMSE', 'floor', 'goal', '80 % intervals hold'], rows),
    '',
    ...(answers.length === 0
      ? []
      : [
          'What else the answers say, nothing fitted on TID2013:',
          '',
          table(
            [
              'run',
              'top category right, levels 3–5, balanced',
              'severity against level, mean SRCC',
              'multiple choice, levels 4–5',
              'pairs ≥ 1 MOS apart in order',
              'the same by /compare, a sample',
            ],
            answers,
          ),
          '',
        ]),
  ].join('\n');
}

function runPage(run: RunSummary, { quick }: AccuracyResult): string {
  const { pooled, errors } = run;
  const sections = [
    `# ${run.title}`,
    '',
    '<!-- Made by "npm run bench:accuracy"; do not edit. -->',
    '',
    `${run.pictures} answers${run.unscored > 0 ? `, ${run.unscored} without a score` : ''}${quick ? ', a quick run' : ''}. SRCC ${figure(run.srcc)} (floor ${figure(run.floor)}, goal ${figure(run.goal)}).`,
    '',
    `![Scores against ratings](${run.name}.svg)`,
    '',
    table(
      ['SRCC', 'KRCC', 'PLCC', 'PLCC of bare scores', 'RMSE'],
      [
        [
          withSpan(pooled.srcc, pooled.intervals.srcc),
          figure(pooled.krcc),
          withSpan(pooled.plcc, pooled.intervals.plcc),
          figure(pooled.plcc_raw),
          figure(pooled.rmse),
        ],
      ],
    ),
    '',
    `On the scale of the scores, ratings taken as 1 to 5: RMSE ${figure(errors.rmse)}, bias ${figure(errors.bias)}, correlation of the errors within one content ${figure(errors.shared)}.`,
    run.intervals.coverage === null
      ? 'Scores have no intervals.'
      : `${run.intervals.known} intervals, ${figure(run.intervals.mean_width ?? NaN)} wide on average, hold ${tellCoverage(run)} of the ratings (80 % is meant).`,
    '',
  ];
  if (run.folds.length > 1)
    sections.push(
      '## Folds',
      '',
      table(
        ['fold', 'answers', 'SRCC'],
        run.folds.map(({ name, count, srcc }) => [name, String(count), figure(srcc)]),
      ),
      '',
    );
  if (run.types.length > 0) {
    sections.push(
      '## Distortion types',
      '',
      table(
        ['type', 'answers', 'SRCC', 'PLCC', 'KRCC', 'RMSE'],
        run.types.map(({ type, title, agreement }) => [
          `${type} ${title}`,
          String(agreement.count),
          withSpan(agreement.srcc, agreement.intervals.srcc),
          figure(agreement.plcc),
          figure(agreement.krcc),
          figure(agreement.rmse),
        ]),
      ),
      '',
    );
  }
  if (run.categories) {
    sections.push(
      '## Top category, levels 3–5',
      '',
      `Rows: what was put in; columns: the worst finding. Right, balanced over the categories: ${percent(run.categories.balanced)}.`,
      '',
      table(
        ['', ...run.categories.columns, 'right'],
        run.categories.rows.map(({ category, counts, share }) => [category, ...counts.map(String), percent(share)]),
      ),
      '',
    );
  }
  if (run.severity.length > 0) {
    sections.push(
      '## Severity against level',
      '',
      table(
        ['type', 'SRCC'],
        [
          ...run.severity.map(({ type, title, srcc }) => [`${type} ${title}`, figure(srcc)]),
          ['mean', figure(meanOf(run.severity.map(({ srcc }) => srcc)))],
        ],
      ),
      '',
    );
  }
  if (run.questions) {
    sections.push(
      '## Multiple choice, levels 4–5',
      '',
      `${run.questions.asked} questions with four options, ${percent(run.questions.share)} right.`,
      '',
      table(
        ['put in', 'asked', 'right'],
        run.questions.by_category.map(({ category, asked, share }) => [category, String(asked), percent(share)]),
      ),
      '',
    );
  }
  if (run.pairs) {
    sections.push(
      '## Pairs of one content, at least 1 MOS apart',
      '',
      `By scores: ${run.pairs.right} of ${run.pairs.pairs} in order, ${percent(run.pairs.share)}. ${run.compared ? `By /compare: ${tellCompared(run)}.` : ''}`.trim(),
      '',
    );
  }
  return sections.join('\n');
}

/** Where the models never saw the study's ratings, also with its scale brought onto ours. */
function tellCoverage({ intervals: { coverage, aligned } }: RunSummary): string {
  if (coverage === null) return 'no intervals';
  return aligned === null
    ? percent(coverage)
    : `${percent(coverage)} (${percent(aligned)} once the scales are aligned)`;
}

function tellCompared({ compared }: RunSummary): string {
  return compared
    ? `${compared.right} right, ${compared.wrong} wrong, ${compared.too_close} too close to call of ${compared.pairs}`
    : '';
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
const figure = (value: number): string => (Number.isFinite(value) ? value.toFixed(3) : '–');
const percent = (value: number): string => (Number.isFinite(value) ? `${(value * 100).toFixed(1)} %` : '–');
const span = (interval: readonly number[] | null): string =>
  interval ? `${figure(interval[0] ?? NaN)}–${figure(interval[1] ?? NaN)}` : '–';
const withSpan = (value: number, interval: readonly number[] | null): string => `${figure(value)} (${span(interval)})`;
