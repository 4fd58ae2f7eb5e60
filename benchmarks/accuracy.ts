// npm run bench:accuracy: measures the whole service on rated images, every fold with models fitted without its images.
//   --tid-manifest tid2013.csv --tid-folder tid2013     TID2013 (python -m training.manifests tid2013 …), or
//   --live-manifest livec.csv --live-folder livec       LIVE Challenge, or both
//   --fit "python -m training.fit_learned {out} --data … --hold-out {hold_out}"    fits a fold's models, run in sidecar/; without it, the packaged models are used
//   --runs name,name   --splits 10   --quick   --limit images   --concurrency 3   --comparisons 60   --seed n   --work folder   --docs folder   --source
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../src/config/config.ts';
import { collectFold, type Collected } from './accuracy/collect.ts';
import { readDataset } from './accuracy/datasets.ts';
import { createModelFitter } from './accuracy/fit-models.ts';
import { overviewPage, writePages, type AccuracyResult } from './accuracy/report.ts';
import { planRuns, type Run } from './accuracy/plan.ts';
import { drawScatter } from './accuracy/scatter.ts';
import { startBenchService } from './accuracy/service.ts';
import { summarize, type RunSummary } from './accuracy/summary.ts';
import { describeMachine, readCommit } from './save-result.ts';

const text = { type: 'string' } as const;
const { values: options } = parseArgs({
  options: {
    'tid-manifest': text,
    'tid-folder': text,
    'live-manifest': text,
    'live-folder': text,
    fit: text,
    runs: text,
    limit: text,
    work: text,
    docs: text,
    concurrency: { ...text, default: '3' },
    comparisons: { ...text, default: '60' },
    seed: { ...text, default: '2013' },
    splits: { ...text, default: '10' },
    quick: { type: 'boolean', default: false },
    source: { type: 'boolean', default: false },
  },
});

const root = projectRoot();
const work = options.work ?? mkdtempSync(join(tmpdir(), 'accuracy-'));
const seed = Number(options.seed);
// As in the calibrations: MOS of TID2013 from 1.5 to 6.1, of LIVE Challenge from 15 to 85.
const tid = readIfGiven('TID2013', options['tid-manifest'], options['tid-folder'], [1.5, 6.1]);
const live = readIfGiven('LIVE Challenge', options['live-manifest'], options['live-folder'], [15, 85]);
if (!tid && !live) throw new Error('Expected --tid-manifest and --tid-folder, or --live-manifest and --live-folder');

const wanted = options.runs?.split(',');
const plan = planRuns(tid, live, {
  seed,
  quick: options.quick,
  limit: Number(options.limit ?? Infinity),
  splits: Number(options.splits),
});
const unknown = wanted?.filter((name) => plan.every((run) => run.name !== name)) ?? [];
if (unknown.length > 0)
  throw new Error(`Expected runs of ${plan.map(({ name }) => name).join(', ')} but received ${unknown.join(', ')}`);
const fitModels = createModelFitter(options.fit ?? null, work, join(root, 'sidecar'));
mkdirSync(work, { recursive: true });

const started = performance.now();
const runs: RunSummary[] = [];
const plots = new Map<string, string>();
for (const run of plan.filter(({ name }) => wanted?.includes(name) ?? true)) {
  const folds = await runFolds(run);
  const summary = summarize(run, folds, { seed });
  const points = folds.flatMap(({ answers }) => answers.map(({ score, image }) => ({ score, mos: image.mos })));
  runs.push(summary);
  plots.set(
    run.name,
    drawScatter({
      title: `${run.title}: SRCC ${summary.srcc.toFixed(3)}`,
      label: `MOS of ${run.dataset.name}`,
      points,
    }),
  );
}

const isComplete = !options.quick && options.limit === undefined;
// Only complete runs are committed.
const results = isComplete ? join(import.meta.dirname, 'results') : work;
const file = join(results, `accuracy-${new Date().toISOString().slice(0, 10)}.json`);
const result: AccuracyResult = {
  benchmark: 'accuracy',
  date: new Date().toISOString(),
  commit: readCommit(),
  machine: describeMachine(),
  quick: options.quick,
  fit: options.fit ?? null,
  seconds: Math.round((performance.now() - started) / 1000),
  runs: plan.flatMap(
    ({ name }) => runs.find((run) => run.name === name) ?? readEarlierRuns().find((run) => run.name === name) ?? [],
  ),
};
mkdirSync(results, { recursive: true });
writeFileSync(file, `${JSON.stringify(result, roundNumbers, 2)}\n`);
const docs = options.docs ?? (isComplete ? join(root, 'docs/accuracy') : join(work, 'docs'));
writePages(result, plots, docs);
console.log(`${overviewPage(result)}\n${result.seconds} s; tables and plots in ${docs}, answers in ${work}`);

async function runFolds(run: Run): Promise<Collected[]> {
  const collected: Collected[] = [];
  for (const fold of run.folds) {
    const { folder, seconds } = await fitModels(run, fold);
    const foldStarted = performance.now();
    const service = await startBenchService({
      modelsFolder: folder,
      licences: run.licences,
      fromSource: options.source,
    });
    try {
      const answered = await collectFold(run, fold, service, {
        concurrency: Number(options.concurrency),
        seed,
        comparisons: Number(options.comparisons),
      });
      collected.push(answered);
      // For inspection; too large for the repository.
      writeFileSync(join(work, `answers-${run.name}-${fold.name}.json`), JSON.stringify(answered));
    } finally {
      await service.stop();
    }
    console.log(
      `${run.name} ${fold.name}: ${fold.images.length} images in ${Math.round((performance.now() - foldStarted) / 1000)} s, fitted in ${Math.round(seconds)} s`,
    );
  }
  return collected;
}

/** The day's other runs, if only some were requested. */
function readEarlierRuns(): RunSummary[] {
  return wanted && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as AccuracyResult).runs : [];
}

function readIfGiven(
  name: string,
  manifest: string | undefined,
  folder: string | undefined,
  scale: readonly [number, number],
) {
  return manifest !== undefined && folder !== undefined ? readDataset(name, manifest, folder, scale) : null;
}

/** Four decimals, more than the data justify. JSON has no NaN: undefined figures become null. */
function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && Number.isFinite(value) ? Math.round(value * 1e4) / 1e4 : value;
}
