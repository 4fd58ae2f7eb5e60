// The accuracy benchmark on data made by hand: nothing leaks between folds, figures are what they are called, pages and plots can be read.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { collectFold, type Answered, type Collected } from '../../../benchmarks/accuracy/collecting.ts';
import {
  CATEGORY_OF_TYPE,
  onScale,
  readDataset,
  type Dataset,
  type RatedPicture,
} from '../../../benchmarks/accuracy/datasets.ts';
import { createFitting } from '../../../benchmarks/accuracy/models.ts';
import { writePages } from '../../../benchmarks/accuracy/pages.ts';
import { countRightPairs, findPairs } from '../../../benchmarks/accuracy/pairs.ts';
import { makePlan, type Run } from '../../../benchmarks/accuracy/plan.ts';
import { askableAbout, makeQuestion } from '../../../benchmarks/accuracy/questions.ts';
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
  pictures: Array.from({ length: 3_000 }, (_, index): RatedPicture => {
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
  pictures: Array.from({ length: 103 }, (_, index) => ({
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
  'the plan: what a fold is tested on is held out, splits test on 13 of 25, folds cover every photo once',
  async (t) => {
    const plan = makePlan(tid, live, whole);
    t.strictSame(
      plan.map(({ name, withReference, looksAtAnswers }) => [name, withReference, looksAtAnswers]),
      [
        ['tid2013-splits', true, false],
        ['tid2013-unseen', true, true],
        ['live-challenge', false, false],
        ['tid2013-blind', false, true],
      ],
    );
    for (const { folds } of plan)
      for (const { holdOut, pictures } of folds) t.ok(pictures.every(({ group }) => holdOut.includes(group)));
    const [splits, unseen, challenge] = plan;
    t.strictSame(
      splits!.folds.map(({ holdOut, pictures }) => [holdOut.length, pictures.length]),
      Array.from({ length: 10 }, () => [13, 1_560]),
    );
    t.equal(new Set(splits!.folds.map(({ holdOut }) => holdOut.join())).size, 10, 'ten different ones');
    t.equal(unseen!.folds[0]!.holdOut.length, 25);
    t.strictSame(
      challenge!.folds.flatMap(({ pictures }) => pictures.map(({ file }) => file)).toSorted(),
      live.pictures.map(({ file }) => file).toSorted(),
    );
    t.strictSame(makePlan(tid, live, whole), plan, 'the same seed, the same plan');
    t.strictSame(
      makePlan(null, live, whole).map(({ name }) => name),
      ['live-challenge'],
    );
  },
);

t.test('quick: a tenth, every type and level alike, one fold', async (t) => {
  const [splits, unseen] = makePlan(tid, live, { ...whole, quick: true });
  t.equal(splits!.folds.length, 1);
  const { pictures } = unseen!.folds[0]!;
  t.equal(pictures.length, 300);
  const strata = new Map<string, number>();
  for (const { type, level } of pictures) strata.set(`${type} ${level}`, (strata.get(`${type} ${level}`) ?? 0) + 1);
  t.ok(strata.size === 120 && [...strata.values()].every((count) => count === 2 || count === 3));
  t.equal(new Set(pictures).size, 300);
});

t.test('questions: four options, one right, in the query or beside it', async (t) => {
  const asked = tid.pictures.filter(askableAbout);
  t.equal(asked.length, 25 * 12 * 2, 'twelve types with a clear category, two levels');
  const kinds = new Set<string>();
  for (const [index, picture] of asked.slice(0, 200).entries()) {
    const { question, right } = makeQuestion(picture, index);
    const options =
      question.choices ?? [...question.query!.matchAll(/[A-D]\. ([A-Z][a-z]+(?: [a-z]+)?)/g)].map((found) => found[1]!);
    kinds.add(question.choices ? 'beside' : 'in the query');
    t.equal(new Set(options).size, 4);
    const word = options['ABCD'.indexOf(right)]!;
    t.equal(word.slice(0, 4).toLowerCase(), CATEGORY_OF_TYPE.get(picture.type!)!.slice(0, 4).toLowerCase());
  }
  t.equal(kinds.size, 2);
});

t.test('pairs of one content at least 1 apart', async (t) => {
  const pictures = tid.pictures.filter(({ group, type }) => group === 'i03' && type === 1);
  t.equal(findPairs(pictures).length, 10);
  t.ok(findPairs(pictures).every(({ better, worse }) => better.mos - worse.mos >= 1));
  t.strictSame(countRightPairs(pictures.map((picture) => ({ picture, score: -picture.mos }))), {
    pairs: 10,
    right: 0,
    share: 0,
  });
});

t.test('ratings on our scale, clipped', async (t) => {
  t.strictSame(
    [1.5, 3.8, 6.1, 0, 9].map((mos) => Math.round(onScale(mos, tid.scale) * 1e9) / 1e9),
    [1, 3, 5, 1, 5],
  );
});

/** Scores follow the level, every category is seen, intervals are half a level to each side. */
function answerWell(picture: RatedPicture): Answered {
  const score = onScale(picture.mos, tid.scale);
  return {
    picture,
    fold: 'all',
    score,
    interval: [score - 0.5, score + 0.5],
    level: 'Fair',
    findings: [
      {
        category: CATEGORY_OF_TYPE.get(picture.type!) ?? 'Sharpness',
        severity: SEVERITIES[picture.level! - 1]!,
        strength: null,
      },
    ],
  };
}

t.test('a perfect service has perfect figures, a contrary one the opposite', async (t) => {
  const run = makePlan(tid, null, { ...whole, quick: true }).find(({ name }) => name === 'tid2013-unseen') as Run;
  const collected = (change: (answer: Answered) => Answered): Collected[] => [
    {
      answers: run.folds[0]!.pictures.map((picture) => change(answerWell(picture))),
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
    pictures: 300,
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
  t.ok(bad.srcc < -0.999 && bad.severity.every(({ srcc }) => srcc === 0), 'a severity that never varies says nothing');
});

t.test('a study with another idea of 1 and 5 is aligned only where the models never saw it', async (t) => {
  const plan = makePlan(tid, null, whole);
  const narrow: Collected = {
    answers: tid.pictures.map((picture) => {
      const score = 2 + onScale(picture.mos, tid.scale) / 4;
      return { ...answerWell(picture), score, interval: [score - 0.1, score + 0.1] };
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

t.test('errors that all versions of a content share are found as such', async (t) => {
  const run = makePlan(tid, null, whole).find(({ name }) => name === 'tid2013-unseen') as Run;
  const shift = (picture: RatedPicture) => (Number(picture.group.slice(1)) % 5) / 10;
  const shared: Collected = {
    answers: tid.pictures.map((picture) => ({
      ...answerWell(picture),
      score: onScale(picture.mos, tid.scale) - shift(picture),
    })),
    unscored: [],
    chosen: [],
    compared: [],
  };
  t.ok(summarize(run, [shared], few).errors.shared > 0.99);
});

t.test('a fold is asked: default question, then options and comparisons; pages and plots are written', async (t) => {
  const folder = t.testdir();
  const pictures = tid.pictures.filter(
    ({ group, type, level }) => group <= 'i02' && (type === 1 || type === 8) && level! >= 4,
  );
  const plan = makePlan({ ...tid, pictures }, null, whole);
  const run = plan.find(({ name }) => name === 'tid2013-unseen') as Run;
  const levelOf = (path: string) => Number(/_(\d)\.bmp$/.exec(path)![1]);
  const asked: string[] = [];
  const service: BenchService = {
    async assess(image, reference, question) {
      asked.push(`${image} ${reference ?? ''} ${question?.query ?? 'default'}`);
      const answer = makeAssessment();
      return {
        ...answer,
        quality_score: { ...answer.quality_score!, value: 6 - levelOf(image), interval: null },
        summarizer_result: { ...answer.summarizer_result!, final_answer: 'A' },
      };
    },
    compare: async (images) => ({ best: levelOf(images[0]!) < levelOf(images[1]!) ? 1 : 2 }) as Comparison,
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
          points: collected.answers.map(({ score, picture }) => ({ score, mos: picture.mos })),
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

t.test('models: the command gets folder and groups, equal folds share a fit, a failure ends it', async (t) => {
  const folder = t.testdir({
    'fit.mjs':
      "import { copyFileSync } from 'node:fs'; copyFileSync(process.argv[3], process.argv[2] + '/groups.txt');",
  });
  const [splits, unseen, blind] = makePlan(tid, null, whole) as [Run, Run, Run];
  const fit = createFitting(`${process.execPath} fit.mjs {out} {hold_out}`, join(folder, 'work'), folder);
  const first = await fit(unseen, unseen.folds[0]!);
  t.equal(readFileSync(join(first.folder!, 'groups.txt'), 'utf8').trim().split('\n').length, 25);
  t.equal(await fit(blind, blind.folds[0]!), first);
  t.not((await fit(splits, splits.folds[0]!)).folder, first.folder);
  await t.rejects(
    createFitting(`${process.execPath} missing.mjs {out}`, join(folder, 'other'), folder)(unseen, unseen.folds[0]!),
    /Fitting ended with 1/,
  );
  t.strictSame(await createFitting(null, folder, folder)(unseen, unseen.folds[0]!), { folder: null, seconds: 0 });
});

t.test('a manifest is read by its columns, and refused where they are missing', async (t) => {
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
    ).pictures,
    [{ file: 'a.bmp', reference: 'b.bmp', type: 7, level: 3, group: 'i01', mos: 5.5 }],
  );
  t.strictSame(readDataset('x', write('file,group,mos\na.bmp,a,32.1\n'), folder, [0, 1]).pictures, [
    { file: 'a.bmp', reference: null, type: null, level: null, group: 'a', mos: 32.1 },
  ]);
  t.throws(() => readDataset('x', write('file,mos\na.bmp,1\n'), folder, [0, 1]), /file, group and mos/);
  t.throws(() => readDataset('x', write('file,group,mos\na.bmp,1\n'), folder, [0, 1]), /3 cells/);
});
