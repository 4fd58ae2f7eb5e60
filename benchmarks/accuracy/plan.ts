// Plans the four runs and their folds; the models of a fold are fitted without its test images.
import { createRandom, shuffle } from '../statistics/random.ts';
import type { Dataset, RatedImage } from './datasets.ts';

export interface Fold {
  name: string;
  /** Groups excluded from fitting. */
  holdOut: readonly string[];
  images: readonly RatedImage[];
}

export interface Run {
  name: string;
  title: string;
  dataset: Dataset;
  withReference: boolean;
  /** `permissive` excludes tools fitted on TID2013's ratings. */
  licences: 'permissive' | 'research';
  folds: readonly Fold[];
  floor: number;
  goal: number;
  /** Whether categories, multiple choice and comparisons are checked too: only where nothing was fitted on the labels. */
  checksAnswers: boolean;
}

export interface PlanOptions {
  seed: number;
  /** A tenth of the images, stratified by type and level, and one fold of each run. */
  quick: boolean;
  /** The number of random splits of TID2013. */
  splits?: number;
  /** Maximum number of images per fold, for testing the benchmark itself. */
  limit: number;
}

const DEFAULT_SPLITS = 10;
const TEST_REFERENCES = 13;
const LIVE_FOLDS = 5;
const QUICK_SHARE = 0.1;

export function planRuns(tid: Dataset | null, live: Dataset | null, options: PlanOptions): Run[] {
  const runs: Run[] = [];
  if (tid) {
    const groups = listGroups(tid.images);
    const everything: Fold = { name: 'all', holdOut: groups, images: tid.images };
    runs.push(
      {
        name: 'tid2013-splits',
        title: 'TID2013 with reference, random 12/13 splits by reference image',
        dataset: tid,
        withReference: true,
        licences: 'research',
        folds: makeSplits(tid.images, groups, options),
        floor: 0.94,
        goal: 0.955,
        checksAnswers: false,
      },
      {
        name: 'tid2013-unseen',
        title: 'TID2013 with reference, no TID2013 label used anywhere',
        dataset: tid,
        withReference: true,
        licences: 'permissive',
        folds: [everything],
        floor: 0.895,
        goal: 0.91,
        checksAnswers: true,
      },
    );
  }
  if (live) {
    runs.push({
      name: 'live-challenge',
      title: 'LIVE Challenge, no reference, 5-fold',
      dataset: live,
      withReference: false,
      licences: 'permissive',
      folds: makeFolds(live.images, options.seed),
      floor: 0.82,
      goal: 0.85,
      checksAnswers: false,
    });
  }
  if (tid) {
    runs.push({
      name: 'tid2013-blind',
      title: 'TID2013, no reference, no TID2013 label used',
      dataset: tid,
      withReference: false,
      licences: 'permissive',
      folds: [{ name: 'all', holdOut: listGroups(tid.images), images: tid.images }],
      floor: 0.58,
      goal: 0.68,
      checksAnswers: true,
    });
  }
  return runs.map((run) => ({
    ...run,
    folds: run.folds
      .slice(0, options.quick ? 1 : undefined)
      .map((fold) => ({ ...fold, images: subsample(fold.images, options) })),
  }));
}

/** Each split tests on 13 of the 25 references and is fitted on the other 12. */
function makeSplits(
  images: readonly RatedImage[],
  groups: readonly string[],
  { seed, splits = DEFAULT_SPLITS }: PlanOptions,
): Fold[] {
  return Array.from({ length: splits }, (_, index) => {
    const holdOut = shuffle(groups, createRandom(seed + index))
      .slice(0, TEST_REFERENCES)
      .toSorted();
    return { name: `split-${index + 1}`, holdOut, images: images.filter(({ group }) => holdOut.includes(group)) };
  });
}

function makeFolds(images: readonly RatedImage[], seed: number): Fold[] {
  const order = shuffle(listGroups(images), createRandom(seed));
  return Array.from({ length: LIVE_FOLDS }, (_, index) => {
    const holdOut = order.filter((_group, place) => place % LIVE_FOLDS === index).toSorted();
    const held = new Set(holdOut);
    return { name: `fold-${index + 1}`, holdOut, images: images.filter(({ group }) => held.has(group)) };
  });
}

const listGroups = (images: readonly RatedImage[]): string[] =>
  [...new Set(images.map(({ group }) => group))].toSorted();

/** Stratified by type and level, or by rating for data sets without types. */
function subsample(images: readonly RatedImage[], { quick, limit, seed }: PlanOptions): RatedImage[] {
  const share = Math.min(quick ? QUICK_SHARE : 1, limit / images.length);
  if (share >= 1) return [...images];
  const shuffled = shuffle(images, createRandom(seed));
  const ordered = shuffled.toSorted(
    (a, b) => (a.type ?? 0) - (b.type ?? 0) || (a.level ?? 0) - (b.level ?? 0) || (a.type === null ? a.mos - b.mos : 0),
  );
  // Evenly spaced along the strata.
  const count = Math.max(1, Math.round(images.length * share));
  return Array.from({ length: count }, (_, index) => ordered[Math.floor(((index + 0.5) * ordered.length) / count)]!);
}
