// `npm run calibrate:planner`: fits the weights of the planner's confidence and reports how reliable it is on queries that fitted nothing.
// A labelled query that is in the tests is read right, so its errors are made: words of the lists are taken away, as if nobody had thought of them.
// That makes no error of grammar; those come from `first_try`, whether a query was read right before anybody had seen it fail.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PlannerOutput } from '../schemas/pipeline/planner.ts';
import { projectRoot } from '../src/config/config.ts';
import { derivePlan } from '../src/pipeline/rules/plan.ts';
import {
  doubtsOf,
  loadConfidenceWeights,
  type ConfidenceWeights,
  type Doubts,
} from '../src/reasoners/embedded/query/confidence.ts';
import { readEnglishFile, type EnglishFile } from '../src/reasoners/embedded/query/word-list.ts';
import { buildLexicon, readLexiconFile, type LexiconFile } from '../src/reasoners/embedded/query/lexicon.ts';
import { readQuery, understandQuery, type Vocabulary } from '../src/reasoners/embedded/query/parse-query.ts';
import { loadRegistry } from '../src/tools/registry.ts';

interface Labelled {
  id: string;
  query: string;
  has_reference: boolean;
  first_try?: boolean;
  expect: PlannerOutput;
}
interface Sample {
  doubts: Doubts;
  right: boolean;
}

const ROUNDS = 12;
/** Of the lines (word families) and of the single words in them; so many that about as many plans fail as of fresh queries. */
const DROPPED_LINES = 0.025;
const DROPPED_WORDS = 0.05;
const STEPS = 1_500;
const LEARNING_RATE = 1;
const SHRINKAGE = 0.0002;
const BANDS = [0, 0.5, 0.8, 0.9, 0.95, 1.01];

const root = projectRoot();
const paths = {
  lexicon: join(root, 'configs/lexicon.yaml'),
  english: join(root, 'configs/english.yaml'),
  weights: join(root, 'configs/planner-confidence.yaml'),
};
const { rows: tools } = loadRegistry(root);

function main(): void {
  const labelled = readLabelled('planner-queries.jsonl');
  const [lexicon, english, before] = [
    readLexiconFile(paths.lexicon),
    readEnglishFile(paths.english),
    loadConfidenceWeights(paths.weights),
  ];
  const random = createRandom(20_261_117);
  const thinned = Array.from({ length: ROUNDS }, () => {
    const vocabulary = { lexicon: buildLexicon(thin(lexicon, random), thinEnglish(english, random), before), tools };
    return labelled.map((item) => sample(item, vocabulary));
  }).flat();
  const whole = { lexicon: buildLexicon(lexicon, english, before), tools };
  const firstTries = labelled.flatMap((item) =>
    item.first_try === undefined ? [] : [{ ...sample(item, whole), right: item.first_try }],
  );
  const samples = [...thinned, ...Array.from({ length: ROUNDS }, () => firstTries).flat()];
  const weights = fit(samples);
  const wrongOf = (of: readonly Sample[]): number => of.filter(({ right }) => !right).length;
  const origin = `${labelled.length} labelled queries read ${ROUNDS} times with words taken away (${thinned.length} readings, ${wrongOf(thinned)} wrong) and ${firstTries.length} as they were read first (${wrongOf(firstTries)} wrong) by scripts/calibrate-planner.ts`;
  if (process.argv.includes('--write')) writeFileSync(paths.weights, toYaml(weights, origin));
  console.log(origin);
  const vocabulary = { lexicon: buildLexicon(lexicon, english, weights), tools };
  for (const name of [
    'planner-queries-held-out.jsonl',
    ...process.argv.slice(2).filter((argument) => argument.endsWith('.jsonl')),
  ])
    report(name, readLabelled(name), vocabulary);
}

function readLabelled(name: string): Labelled[] {
  const path = name.includes('/') ? name : join(root, 'test/fixtures', name);
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Labelled);
}

/** Linear congruential: the same words are taken away in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Grammar and what is no question's subject stay: a person is not lost by a missing article. */
function thin(file: LexiconFile, random: () => number): LexiconFile {
  const thinList = (lines: readonly string[]): string[] =>
    lines
      .filter(() => random() >= DROPPED_LINES)
      .map((line) =>
        line
          .split(' ')
          .map((part) => {
            const words = part.split('/').filter(() => random() >= DROPPED_WORDS);
            return words.length > 0 ? words.join('/') : part;
          })
          .join(' '),
      );
  const thinLists = <T extends Record<string, unknown>>(lists: T): T =>
    Object.fromEntries(
      Object.entries(lists).map(([key, lines]) => [key, Array.isArray(lines) ? thinList(lines as string[]) : lines]),
    ) as T;
  // Sides name phrases of the lists above them, which may be gone.
  const distortions = Object.fromEntries(
    Object.entries(file.distortions).map(([category, { sides, ...lists }]) => [category, thinLists(lists)]),
  ) as LexiconFile['distortions'];
  return {
    ...file,
    distortions,
    quality: thinLists(file.quality),
    other: thinLists(file.other),
    reference: thinList(file.reference),
    media: thinList(file.media),
    abstractions: thinList(file.abstractions),
  };
}

function thinEnglish(file: EnglishFile, random: () => number): EnglishFile {
  const entries = Object.entries(file).map(([list, lines]) => [
    list,
    lines.map((line) =>
      line
        .split(' ')
        .filter((_word, index) => index === 0 || random() >= 3 * DROPPED_WORDS)
        .join(' '),
    ),
  ]);
  return Object.fromEntries(entries) as EnglishFile;
}

function sample({ query, has_reference: hasReference, expect }: Labelled, vocabulary: Vocabulary): Sample {
  const { understanding, reading } = readQuery(query, vocabulary);
  return { doubts: doubtsOf(reading), right: isDeepStrictEqual(derivePlan(understanding, { hasReference }), expect) };
}

/** Logistic regression by plain gradient descent; a doubt can only lower the confidence. */
function fit(samples: readonly Sample[]): ConfidenceWeights {
  const names = Object.keys(samples[0]?.doubts ?? {}) as (keyof Doubts)[];
  const counted = countEqual(samples, names);
  let intercept = 2;
  const weights = names.map(() => -0.5);
  for (let step = 0; step < STEPS; step += 1) {
    let slope = 0;
    const slopes = names.map(() => 0);
    for (const { values, count, rights } of counted) {
      const sum = values.reduce((total, value, index) => total + value * (weights[index] ?? 0), intercept);
      const residual = (count / (1 + Math.exp(-sum)) - rights) / samples.length;
      slope += residual;
      values.forEach((value, index) => {
        slopes[index] = (slopes[index] ?? 0) + residual * value;
      });
    }
    intercept -= LEARNING_RATE * slope;
    weights.forEach((weight, index) => {
      weights[index] = Math.min(0, weight - LEARNING_RATE * ((slopes[index] ?? 0) + SHRINKAGE * weight));
    });
  }
  const round = (value: number): number => Math.round(value * 1_000) / 1_000 || 0;
  const doubts = Object.fromEntries(names.map((name, index) => [name, round(weights[index] ?? 0)])) as Record<
    keyof Doubts,
    number
  >;
  return { intercept: round(intercept), doubts };
}

function countEqual(samples: readonly Sample[], names: readonly (keyof Doubts)[]) {
  const groups = new Map<string, { values: number[]; count: number; rights: number }>();
  for (const { doubts, right } of samples) {
    const values = names.map((name) => Math.round(doubts[name] * 1_000) / 1_000);
    const group = groups.get(values.join()) ?? { values, count: 0, rights: 0 };
    groups.set(values.join(), { values, count: group.count + 1, rights: group.rights + (right ? 1 : 0) });
  }
  return [...groups.values()];
}

function toYaml({ intercept, doubts }: ConfidenceWeights, origin: string): string {
  const lines = Object.entries(doubts).map(([name, weight]) => `  ${name}: ${weight}`);
  return `# How sure the embedded planner is: a logistic curve over doubts that src/reasoners/embedded/query/confidence.ts counts. Fitted, not written by hand.\nfitted_on: ${JSON.stringify(origin)}\nintercept: ${intercept}\ndoubts:\n${lines.join('\n')}\n`;
}

function report(name: string, labelled: readonly Labelled[], vocabulary: Vocabulary): void {
  const results = labelled.map(({ query, has_reference: hasReference, expect }) => {
    const understood = understandQuery(query, vocabulary);
    return {
      confidence: understood.confidence,
      right: isDeepStrictEqual(derivePlan(understood, { hasReference }), expect),
    };
  });
  const rights = results.filter(({ right }) => right).length;
  console.log(
    `\n${name}: ${rights} of ${results.length} plans exactly right (${((100 * rights) / results.length).toFixed(1)} %)\n\n| confidence | queries | mean confidence | right |\n| --- | --- | --- | --- |`,
  );
  for (const [index, low] of BANDS.slice(0, -1).entries()) {
    const band = results.filter(({ confidence }) => confidence >= low && confidence < (BANDS[index + 1] ?? 2));
    if (band.length === 0) continue;
    const mean = band.reduce((sum, { confidence }) => sum + confidence, 0) / band.length;
    console.log(
      `| ${low} – ${Math.min(1, BANDS[index + 1] ?? 1)} | ${band.length} | ${mean.toFixed(2)} | ${((100 * band.filter(({ right }) => right).length) / band.length).toFixed(0)} % |`,
    );
  }
}

main();
