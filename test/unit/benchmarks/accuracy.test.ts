// The accuracy benchmark on synthetic data: no leaks between folds, correct figures, readable pages and plots.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collectFold, type Answered, type Collected } from '../../../benchmarks/accuracy/collect.ts';
import {
  CATEGORY_BY_TYPE,
  rescaleRating,
  readDataset,
  type Dataset,
  type RatedImage,
} from '../../../benchmarks/accuracy/datasets.ts';
import { createModelFitter } from '../../../benchmarks/accuracy/fit-models.ts';
import { writePages } from '../../../benchmarks/accuracy/report.ts';
import { countRightPairs, findPairs } from '../../../benchmarks/accuracy/pairs.ts';
import { planRuns, type Run } from '../../../benchmarks/accuracy/plan.ts';
import { hasClearCategory, makeQuestion } from '../../../benchmarks/accuracy/questions.ts';
import { drawScatter } from '../../../benchmarks/accuracy/scatter.ts';
import type { BenchService } from '../../../benchmarks/accuracy/service.ts';
import { summarize } from '../../../benchmarks/accuracy/summary.ts';
import type { Comparison } from '../../../schemas/responses/comparison.ts';
import { SEVERITIES } from '../../../schemas/vocabulary.ts';
import { makeAssessment } from '../../support/schemas/assessment.ts';

/** 25 contents × 24 types × 5 levels, rated by level alone. */
const tid: Dataset = {
  name: 'TID2013',
  folder: '/nowhere',
  scale: [1.5, 6.1],
  images: Array.from({ length: 3_000 }, (_, index): RatedImage => {
    const [content, type, level] = [Math.floor(index / 120) + 1, (Math.floor(index / 5) % 24) + 1, (index % 5) + 1];
    return {
      file: `i${content}_${type}_${level}.bmp`,
      reference: `I${content}.BMP`,
      type,
      level,
      group: `i${String(content).padStart(2, '0')}`,
      mos: 7 - level + content / 100,
    };
  }),
};
const live: Dataset = {
  name: 'LIVE Challenge',
  folder: '/nowhere',
  scale: [15, 85],
  images: Array.from({ length: 103 }, (_, index) => ({
    file: `${index}.bmp`,
    reference: null,
    type: null,
    level: null,
    group: `${index}.bmp`,
    mos: index,
  })),
};
const few = { seed: 1, rounds: 10 };
const whole = { seed: 7, quick: false, limit: Infinity };

t.test(
  'the plan holds out what a fold is tested on; splits test on 13 of 25, folds cover every photo once',
  async (t) => {
    const plan = planRuns(tid, live, whole);
    t.strictSame(
      plan.map(({ name, withReference, checksAnswers }) => [name, withReference, checksAnswers]),
      [
        ['tid2013-splits', true, false],
        ['tid2013-unseen', true, true],
        ['live-challenge', false, false],
        ['tid2013-blind', false, true],
      ],
    );
    for (const { folds } of plan)
      for (const { holdOut, images } of folds) t.ok(images.every(({ group }) => holdOut.includes(group)));
    const [splits, unseen, challenge] = plan;
    t.strictSame(
      splits!.folds.map(({ holdOut, images }) => [holdOut.length, images.length]),
      Array.from({ length: 10 }, () => [13, 1_560]),
    );
    t.equal(new Set(splits!.folds.map(({ holdOut }) => holdOut.join())).size, 10, 'ten different splits');
    t.equal(unseen!.folds[0]!.holdOut.length, 25);
    t.strictSame(
      challenge!.folds.flatMap(({ images }) => images.map(({ file }) => file)).toSorted(),
      live.images.map(({ file }) => file).toSorted(),
    );
    t.strictSame(planRuns(tid, live, whole), plan, 'the same seed, the same plan');
    t.strictSame(
      planRuns(null, live, whole).map(({ name }) => name),
      ['live-challenge'],
    );
  },
);

t.test('a quick run takes a stratified tenth and one fold', async (t) => {
  const [splits, unseen] = planRuns(tid, live, { ...whole, quick: true });
  t.equal(splits!.folds.length, 1);
  const { images } = unseen!.folds[0]!;
  t.equal(images.length, 300);
  const strata = new Map<string, number>();
  for (const { type, level } of images) strata.set(`${type} ${level}`, (strata.get(`${type} ${level}`) ?? 0) + 1);
  t.ok(strata.size === 120 && [...strata.values()].every((count) => count === 2 || count === 3));
  t.equal(new Set(images).size, 300);
});

t.test('questions have four options, one of them right, in the query or in choices', async (t) => {
  const asked = tid.images.filter(hasClearCategory);
  t.equal(asked.length, 25 * 12 * 2, 'twelve types with a clear category, two levels');
  const kinds = new Set<string>();
  for (const [index, image] of asked.slice(0, 200).entries()) {
    const { question, right } = makeQuestion(image, index);
    const options =
      question.choices ?? [...question.query!.matchAll(/[A-D]\. ([A-Z][a-z]+(?: [a-z]+)?)/g)].map((found) => found[1]!);
    kinds.add(question.choices ? 'choices' : 'query');
    t.equal(new Set(options).size, 4);
    const word = options['ABCD'.indexOf(right)]!;
    t.equal(word.slice(0, 4).toLowerCase(), CATEGORY_BY_TYPE.get(image.type!)!.slice(0, 4).toLowerCase());
  }
  t.equal(kinds.size, 2);
});

t.test('pairs of one content are at least 1 MOS apart', async (t) => {
  const images = tid.images.filter(({ group, type }) => group === 'i03' && type === 1);
  t.equal(findPairs(images).length, 10);
  t.ok(findPairs(images).every(({ better, worse }) => better.mos - worse.mos >= 1));
  t.strictSame(countRightPairs(images.map((image) => ({ image, score: -image.mos }))), {
    pairs: 10,
    right: 0,
    share: 0,
  });
});

t.test('ratings are mapped to 1 to 5 and clipped', async (t) => {
  t.strictSame(
    [1.5, 3.8, 6.1, 0, 9].map((mos) => Math.round(rescaleRating(mos, tid.scale) * 1e9) / 1e9),
    [1, 3, 5, 1, 5],
  );
});

/** Scores follow the level, every category is found, intervals are half a level to each side. */
function makePerfectAnswer(image: RatedImage): Answered {
  const score = rescaleRating(image.mos, tid.scale);
  return {
    image,
    fold: 'all',
    score,
    interval: [score - 0.5, score + 0.5],
    level: 'Fair',
    findings: [
      {
        category: CATEGORY_BY_TYPE.get(image.type!) ?? 'Sharpness',
        severity: SEVERITIES[image.level! - 1]!,
        strength: null,
      },
    ],
  };
}

t.test('a perfect service has perfect figures, an inverted one the opposite', async (t) => {
  const run = planRuns(tid, null, { ...whole, quick: true }).find(({ name }) => name === 'tid2013-unseen') as Run;
  const collected = (change: (answer: Answered) => Answered): Collected[] => [
    {
      answers: run.folds[0]!.images.map((image) => change(makePerfectAnswer(image))),
      unscored: [],
      chosen: [],
      compared: [],
    },
  ];
  const good = summarize(
    run,
    collected((answer) => answer),
    few,
  );
  t.match(good, {
    images: 300,
    intervals: { known: 300, coverage: 1 },
    categories: { balanced: 1 },
    pairs: { share: 1 },
    questions: null,
    compared: null,
  });
  t.ok(good.srcc > 0.999 && good.pooled.plcc > 0.99 && good.errors.rmse < 1e-9);
  t.equal(good.types.length, 24);
  t.ok(good.severity.length === 12 && good.severity.every(({ srcc }) => srcc > 0.999));
  const bad = summarize(
    run,
    collected((answer) => ({
      ...answer,
      score: 6 - answer.score,
      interval: null,
      findings: [{ category: 'Sharpness', severity: 'slight', strength: null }],
    })),
    few,
  );
  t.match(bad, { intervals: { known: 0, coverage: null }, categories: { balanced: 0 }, pairs: { share: 0 } });
  t.ok(bad.srcc < -0.999 && bad.severity.every(({ srcc }) => srcc === 0), 'a constant severity does not correlate');
});

t.test('scales are aligned only for a study whose ratings the models never saw', async (t) => {
  const plan = planRuns(tid, null, whole);
  const narrow: Collected = {
    answers: tid.images.map((image) => {
      const score = 2 + rescaleRating(image.mos, tid.scale) / 4;
      return { ...makePerfectAnswer(image), score, interval: [score - 0.1, score + 0.1] };
    }),
    unscored: [],
    chosen: [],
    compared: [],
  };
  const [unseen, splits] = ['tid2013-unseen', 'tid2013-splits'].map(
    (wanted) => summarize(plan.find(({ name }) => name === wanted) as Run, [narrow], few).intervals,
  );
  t.ok(unseen!.coverage! < 0.4 && unseen!.aligned === 1);
  t.equal(splits!.aligned, null);
});

t.test('errors shared by all versions of a content are correlated', async (t) => {
  const run = planRuns(tid, null, whole).find(({ name }) => name === 'tid2013-unseen') as Run;
  const shift = (image: RatedImage) => (Number(image.group.slice(1)) % 5) / 10;
  const shared: Collected = {
    answers: tid.images.map((image) => ({
      ...makePerfectAnswer(image),
      score: rescaleRating(image.mos, tid.scale) - shift(image),
    })),
    unscored: [],
    chosen: [],
    compared: [],
  };
  t.ok(summarize(run, [shared], few).errors.shared > 0.99);
});

t.test('a fold gets the default question, multiple choice and comparisons; pages and plots are written', async (t) => {
  const folder = t.testdir();
  const images = tid.images.filter(
    ({ group, type, level }) => group <= 'i02' && (type === 1 || type === 8) && level! >= 4,
  );
  const plan = planRuns({ ...tid, images }, null, whole);
  const run = plan.find(({ name }) => name === 'tid2013-unseen') as Run;
  const readLevel = (path: string) => Number(/_(\d)\.bmp$/.exec(path)![1]);
  const asked: string[] = [];
  const service: BenchService = {
    async assess(image, reference, question) {
      asked.push(`${image} ${reference ?? ''} ${question?.query ?? 'default'}`);
      const answer = makeAssessment();
      return {
        ...answer,
        quality_score: { ...answer.quality_score!, value: 6 - readLevel(image), interval: null },
        summarizer_result: { ...answer.summarizer_result!, final_answer: 'A' },
      };
    },
    compare: async (images) => ({ best: readLevel(images[0]!) < readLevel(images[1]!) ? 1 : 2 }) as Comparison,
    stop: async () => undefined,
  };
  const collected = await collectFold(run, run.folds[0]!, service, { concurrency: 2, seed: 1, comparisons: 3 });
  t.equal(collected.answers.length, 8);
  t.equal(collected.chosen.length, 8);
  t.ok(collected.compared.length === 3 && collected.compared.every(({ better }) => better === 'right'));
  t.ok(asked[0]?.startsWith('/nowhere/i1_1_4.bmp /nowhere/I1.BMP default'));
  const result = {
    benchmark: 'accuracy',
    date: '2026-11-17T00:00:00Z',
    commit: 'abc',
    machine: { cpu: 'x', cores: 2, node: 'v20' },
    quick: false,
    fit: null,
    seconds: 1,
    runs: [summarize(run, [collected], few)],
  };
  writePages(
    result,
    new Map([
      [
        run.name,
        drawScatter({
          title: 'a < b',
          label: 'MOS',
          points: collected.answers.map(({ score, image }) => ({ score, mos: image.mos })),
        }),
      ],
    ]),
    folder,
  );
  const overview = readFileSync(join(folder, 'README.md'), 'utf8');
  t.match(overview, /Not cross-validated/);
  t.match(overview, /3 right, 0 wrong, 0 too close to call of 3/);
  t.match(readFileSync(join(folder, `${run.name}.md`), 'utf8'), /## Top category[^]*\| Noise \|[^]*## Multiple choice/);
  const svg = readFileSync(join(folder, `${run.name}.svg`), 'utf8');
  t.ok(svg.includes('a &lt; b') && svg.match(/<circle /g)?.length === 8 && !svg.includes('NaN'));
});

t.test('the fitting command gets folder and groups, equal folds share a fit, a failure throws', async (t) => {
  const folder = t.testdir({
    'fit.mjs':
      "import { copyFileSync } from 'node:fs'; copyFileSync(process.argv[3], process.argv[2] + '/groups.txt');",
  });
  const [splits, unseen, blind] = planRuns(tid, null, whole) as [Run, Run, Run];
  const fit = createModelFitter(`${process.execPath} fit.mjs {out} {hold_out}`, join(folder, 'work'), folder);
  const first = await fit(unseen, unseen.folds[0]!);
  t.equal(readFileSync(join(first.folder!, 'groups.txt'), 'utf8').trim().split('\n').length, 25);
  t.equal(await fit(blind, blind.folds[0]!), first);
  t.not((await fit(splits, splits.folds[0]!)).folder, first.folder);
  await t.rejects(
    createModelFitter(`${process.execPath} missing.mjs {out}`, join(folder, 'other'), folder)(unseen, unseen.folds[0]!),
    /Fitting ended with 1/,
  );
  t.strictSame(await createModelFitter(null, folder, folder)(unseen, unseen.folds[0]!), { folder: null, seconds: 0 });
});

t.test('a manifest is read by its columns and rejected without them', async (t) => {
  const folder = t.testdir();
  const write = (text: string) => {
    writeFileSync(join(folder, 'm.csv'), text);
    return join(folder, 'm.csv');
  };
  t.strictSame(
    readDataset(
      'x',
      write('file,reference,distortion,category,strength,group,mos\na.bmp,b.bmp,tid-07,Noise,3,i01,5.5\n'),
      folder,
      [0, 1],
    ).images,
    [{ file: 'a.bmp', reference: 'b.bmp', type: 7, level: 3, group: 'i01', mos: 5.5 }],
  );
  t.strictSame(readDataset('x', write('file,group,mos\na.bmp,a,32.1\n'), folder, [0, 1]).images, [
    { file: 'a.bmp', reference: null, type: null, level: null, group: 'a', mos: 32.1 },
  ]);
  t.throws(() => readDataset('x', write('file,mos\na.bmp,1\n'), folder, [0, 1]), /file, group and mos/);
  t.throws(() => readDataset('x', write('file,group,mos\na.bmp,1\n'), folder, [0, 1]), /3 cells/);
});
