// npm run calibrate:planner: fits the weights of the planner's confidence and reports its reliability on held-out queries.
// The planner parses every labelled query correctly, so errors are simulated by removing words from the lists.
// That simulates no errors of grammar; those come from `first_try`: whether a query was parsed correctly before any correction.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { PlannerOutput } from '../schemas/pipeline/planner.ts';
import { projectRoot } from '../src/config/config.ts';
import { derivePlan } from '../src/pipeline/rules/plan.ts';
import {
  loadConfidenceWeights,
  type ConfidenceWeights,
  type UncertaintyFeatures,
} from '../src/reasoners/embedded/query/confidence-weights.ts';
import { computeUncertainty } from '../src/reasoners/embedded/query/confidence.ts';
import { readCommonWordsFile, type CommonWordsFile } from '../src/reasoners/embedded/query/words/common-words.ts';
import { readLexiconFile, type LexiconFile } from '../src/reasoners/embedded/query/words/lexicon-file.ts';
import { buildLexicon } from '../src/reasoners/embedded/query/words/lexicon.ts';
import { analyzeQuery, parseQuery, type Vocabulary } from '../src/reasoners/embedded/query/parse-query.ts';
import { loadRegistry } from '../src/tools/registry.ts';

interface LabelledQuery {
  id: string;
  query: string;
  has_reference: boolean;
  first_try?: boolean;
  expect: PlannerOutput;
}
interface Sample {
  features: UncertaintyFeatures;
  right: boolean;
}

const ROUNDS = 12;
/** Shares of removed lines (word families) and of single words in them; with these, about as many plans fail as for new queries. */
const REMOVED_LINE_SHARE = 0.025;
const REMOVED_WORD_SHARE = 0.05;
const GRADIENT_STEPS = 1_500;
const LEARNING_RATE = 1;
const WEIGHT_DECAY = 0.0002;
const CONFIDENCE_BANDS = [0, 0.5, 0.8, 0.9, 0.95, 1.01];

const root = projectRoot();
const paths = {
  lexicon: join(root, 'configs/lexicon.yaml'),
  words: join(root, 'configs/common-words.yaml'),
  weights: join(root, 'configs/planner-confidence.yaml'),
};
const { rows: tools } = loadRegistry(root);

function main(): void {
  const labelled = readLabelled('planner-queries.jsonl');
  const [lexicon, words, before] = [
    readLexiconFile(paths.lexicon),
    readCommonWordsFile(paths.words),
    loadConfidenceWeights(paths.weights),
  ];
  const random = createRandom(20_261_117);
  const thinned = Array.from({ length: ROUNDS }, () => {
    const vocabulary = {
      lexicon: buildLexicon(thinLexicon(lexicon, random), thinCommonWords(words, random), before),
      tools,
    };
    return labelled.map((item) => parseSample(item, vocabulary));
  }).flat();
  const fullVocabulary = { lexicon: buildLexicon(lexicon, words, before), tools };
  const firstTries = labelled.flatMap((item) =>
    item.first_try === undefined ? [] : [{ ...parseSample(item, fullVocabulary), right: item.first_try }],
  );
  const samples = [...thinned, ...Array.from({ length: ROUNDS }, () => firstTries).flat()];
  const weights = fitWeights(samples);
  const countWrong = (of: readonly Sample[]): number => of.filter(({ right }) => !right).length;
  const origin = `${labelled.length} labelled queries parsed ${ROUNDS} times with words removed (${thinned.length} samples, ${countWrong(thinned)} wrong) and ${firstTries.length} by their first try (${countWrong(firstTries)} wrong) by scripts/calibrate-planner.ts`;
  if (process.argv.includes('--write')) writeFileSync(paths.weights, toYaml(weights, origin));
  console.log(origin);
  const vocabulary = { lexicon: buildLexicon(lexicon, words, weights), tools };
  for (const name of [
    'planner-queries-held-out.jsonl',
    ...process.argv.slice(2).filter((argument) => argument.endsWith('.jsonl')),
  ])
    report(name, readLabelled(name), vocabulary);
}

function readLabelled(name: string): LabelledQuery[] {
  const path = name.includes('/') ? name : join(root, 'test/fixtures', name);
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as LabelledQuery);
}

/** Linear congruential generator: every run removes the same words. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Keeps grammar and the lists of words that are never an object. */
function thinLexicon(file: LexiconFile, random: () => number): LexiconFile {
  const thinList = (lines: readonly string[]): string[] =>
    lines
      .filter(() => random() >= REMOVED_LINE_SHARE)
      .map((line) =>
        line
          .split(' ')
          .map((part) => {
            const words = part.split('/').filter(() => random() >= REMOVED_WORD_SHARE);
            return words.length > 0 ? words.join('/') : part;
          })
          .join(' '),
      );
  const thinLists = <T extends Record<string, unknown>>(lists: T): T =>
    Object.fromEntries(
      Object.entries(lists).map(([key, lines]) => [key, Array.isArray(lines) ? thinList(lines as string[]) : lines]),
    ) as T;
  // Variants refer to phrases of the lists above, which may have been removed.
  const distortions = Object.fromEntries(
    Object.entries(file.distortions).map(([category, { variants, ...lists }]) => [category, thinLists(lists)]),
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

function thinCommonWords(file: CommonWordsFile, random: () => number): CommonWordsFile {
  const entries = Object.entries(file).map(([list, lines]) => [
    list,
    lines.map((line) =>
      line
        .split(' ')
        .filter((_word, index) => index === 0 || random() >= 3 * REMOVED_WORD_SHARE)
        .join(' '),
    ),
  ]);
  return Object.fromEntries(entries) as CommonWordsFile;
}

function parseSample({ query, has_reference: hasReference, expect }: LabelledQuery, vocabulary: Vocabulary): Sample {
  const { parsed, inputs } = analyzeQuery(query, vocabulary);
  return {
    features: computeUncertainty(inputs),
    right: isDeepStrictEqual(derivePlan(parsed, { hasReference }), expect),
  };
}

/** Logistic regression by gradient descent; weights are at most 0, since uncertainty can only lower the confidence. */
function fitWeights(samples: readonly Sample[]): ConfidenceWeights {
  const names = Object.keys(samples[0]?.features ?? {}) as (keyof UncertaintyFeatures)[];
  const counted = groupEqualSamples(samples, names);
  let intercept = 2;
  const weights = names.map(() => -0.5);
  for (let step = 0; step < GRADIENT_STEPS; step += 1) {
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
      weights[index] = Math.min(0, weight - LEARNING_RATE * ((slopes[index] ?? 0) + WEIGHT_DECAY * weight));
    });
  }
  const round = (value: number): number => Math.round(value * 1_000) / 1_000 || 0;
  const rounded = Object.fromEntries(names.map((name, index) => [name, round(weights[index] ?? 0)])) as Record<
    keyof UncertaintyFeatures,
    number
  >;
  return { intercept: round(intercept), weights: rounded };
}

function groupEqualSamples(samples: readonly Sample[], names: readonly (keyof UncertaintyFeatures)[]) {
  const groups = new Map<string, { values: number[]; count: number; rights: number }>();
  for (const { features, right } of samples) {
    const values = names.map((name) => Math.round(features[name] * 1_000) / 1_000);
    const group = groups.get(values.join()) ?? { values, count: 0, rights: 0 };
    groups.set(values.join(), { values, count: group.count + 1, rights: group.rights + (right ? 1 : 0) });
  }
  return [...groups.values()];
}

function toYaml({ intercept, weights }: ConfidenceWeights, origin: string): string {
  const lines = Object.entries(weights).map(([name, weight]) => `  ${name}: ${weight}`);
  return `# Confidence of the embedded planner: a logistic model over the features of src/reasoners/embedded/query/confidence.ts. Fitted by npm run calibrate:planner.\nfitted_on: ${JSON.stringify(origin)}\nintercept: ${intercept}\nweights:\n${lines.join('\n')}\n`;
}

function report(name: string, labelled: readonly LabelledQuery[], vocabulary: Vocabulary): void {
  const results = labelled.map(({ query, has_reference: hasReference, expect }) => {
    const parsed = parseQuery(query, vocabulary);
    return { confidence: parsed.confidence, right: isDeepStrictEqual(derivePlan(parsed, { hasReference }), expect) };
  });
  const rights = results.filter(({ right }) => right).length;
  console.log(
    `\n${name}: ${rights} of ${results.length} plans exactly right (${((100 * rights) / results.length).toFixed(1)} %)\n\n| confidence | queries | mean confidence | right |\n| --- | --- | --- | --- |`,
  );
  for (const [index, low] of CONFIDENCE_BANDS.slice(0, -1).entries()) {
    const band = results.filter(
      ({ confidence }) => confidence >= low && confidence < (CONFIDENCE_BANDS[index + 1] ?? 2),
    );
    if (band.length === 0) continue;
    const mean = band.reduce((sum, { confidence }) => sum + confidence, 0) / band.length;
    console.log(
      `| ${low} – ${Math.min(1, CONFIDENCE_BANDS[index + 1] ?? 1)} | ${band.length} | ${mean.toFixed(2)} | ${((100 * band.filter(({ right }) => right).length) / band.length).toFixed(0)} % |`,
    );
  }
}

main();
