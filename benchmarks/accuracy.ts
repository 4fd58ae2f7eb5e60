// npm run bench:accuracy: the whole service's answers measured on rated pictures, every fold with models that have not seen its pictures.
//   --tid-manifest tid2013.csv --tid-folder tid2013     TID2013 (python -m training.manifests tid2013 …), or
//   --live-manifest livec.csv --live-folder livec       LIVE Challenge, or both
//   --fit "python -m training.fit_learned {out} --data … --hold-out {hold_out}"    makes a fold's models, run in sidecar/; without it, those that come with the service
//   --runs name,name   --splits 10   --quick   --limit pictures   --concurrency 3   --comparisons 60   --seed n   --work folder   --docs folder   --source
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../src/config/config.ts';
import { collectFold, type Collected } from './accuracy/collecting.ts';
import { readDataset } from './accuracy/datasets.ts';
import { createFitting } from './accuracy/models.ts';
import { overviewPage, writePages, type AccuracyResult } from './accuracy/pages.ts';
import { makePlan, type Run } from './accuracy/plan.ts';
import { drawScatter } from './accuracy/scatter.ts';
import { startBenchService } from './accuracy/service.ts';
import { summarize, type RunSummary } from './accuracy/summary.ts';

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
const plan = makePlan(tid, live, {
  seed,
  quick: options.quick,
  limit: Number(options.limit ?? Infinity),
  splits: Number(options.splits),
});
const unknown = wanted?.filter((name) => plan.every((run) => run.name !== name)) ?? [];
if (unknown.length > 0)
  throw new Error(`Expected runs of ${plan.map(({ name }) => name).join(', ')} but received ${unknown.join(', ')}`);
const fitModels = createFitting(options.fit ?? null, work, join(root, 'sidecar'));
mkdirSync(work, { recursive: true });

const started = performance.now();
const runs: RunSummary[] = [];
const plots = new Map<string, string>();
for (const run of plan.filter(({ name }) => wanted?.includes(name) ?? true)) {
  const folds = await runFolds(run);
  const summary = summarize(run, folds, { seed });
  const points = folds.flatMap(({ answers }) => answers.map(({ score, picture }) => ({ score, mos: picture.mos })));
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

const isWhole = !options.quick && options.limit === undefined;
// Only whole runs are worth keeping; the others are for looking at.
const results = isWhole ? join(import.meta.dirname, 'results') : work;
const file = join(results, `accuracy-${new Date().toISOString().slice(0, 10)}.json`);
const result: AccuracyResult = {
  benchmark: 'accuracy',
  date: new Date().toISOString(),
  commit: spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: root }).stdout.trim(),
  machine: { cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, node: process.version },
  quick: options.quick,
  fit: options.fit ?? null,
  seconds: Math.round((performance.now() - started) / 1000),
  runs: plan.flatMap(
    ({ name }) => runs.find((run) => run.name === name) ?? earlierRuns().find((run) => run.name === name) ?? [],
  ),
};
mkdirSync(results, { recursive: true });
writeFileSync(file, `${JSON.stringify(result, roundNumbers, 2)}\n`);
const docs = options.docs ?? (isWhole ? join(root, 'docs/accuracy') : join(work, 'docs'));
writePages(result, plots, docs);
console.log(`${overviewPage(result)}\n${result.seconds} s; tables and plots in ${docs}, answers in ${work}`);

async function runFolds(run: Run): Promise<Collected[]> {
  const collected: Collected[] = [];
  for (const fold of run.folds) {
    const { folder, seconds } = await fitModels(run, fold);
    const begun = performance.now();
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
      // For whoever wants to look closer; too much for the repository.
      writeFileSync(join(work, `answers-${run.name}-${fold.name}.json`), JSON.stringify(answered));
    } finally {
      await service.stop();
    }
    console.log(
      `${run.name} ${fold.name}: ${fold.pictures.length} pictures in ${Math.round((performance.now() - begun) / 1000)} s, fitted in ${Math.round(seconds)} s`,
    );
  }
  return collected;
}

/** The day's other runs, when only some were asked for. */
function earlierRuns(): RunSummary[] {
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

/** Four digits: more than the data know. JSON has no NaN; what is not defined is null. */
function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' && Number.isFinite(value) ? Math.round(value * 1e4) / 1e4 : value;
}
