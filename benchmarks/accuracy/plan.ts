// What is measured: four runs, each with its folds. Whatever a fold is tested on, its models were fitted without.
import { createRandom, shuffle } from '../statistics/random.ts';
import type { Dataset, RatedPicture } from './datasets.ts';

export interface Fold {
  name: string;
  /** Groups that the fitting may not see. */
  holdOut: readonly string[];
  pictures: readonly RatedPicture[];
}

export interface Run {
  name: string;
  title: string;
  dataset: Dataset;
  withReference: boolean;
  /** Which tools may answer; permissive leaves out what was fitted on TID2013's ratings. */
  licences: 'permissive' | 'research';
  folds: readonly Fold[];
  floor: number;
  goal: number;
  /** Whether categories, answers to questions and comparisons are looked at: only where nothing was fitted on the labels. */
  looksAtAnswers: boolean;
}

export interface PlanOptions {
  seed: number;
  /** A tenth of the pictures, of every type and level alike, and one fold of each run. */
  quick: boolean;
  /** How many random splits of TID2013. */
  splits?: number;
  /** At most so many pictures a fold, for trying the benchmark itself. */
  limit: number;
}

const SPLITS = 10;
const TESTED_REFERENCES = 13;
const LIVE_FOLDS = 5;
const QUICK_SHARE = 0.1;

export function makePlan(tid: Dataset | null, live: Dataset | null, options: PlanOptions): Run[] {
  const runs: Run[] = [];
  if (tid) {
    const groups = groupsOf(tid.pictures);
    const everything: Fold = { name: 'all', holdOut: groups, pictures: tid.pictures };
    runs.push(
      {
        name: 'tid2013-splits',
        title: 'TID2013 with reference, random 12/13 splits by reference image',
        dataset: tid,
        withReference: true,
        licences: 'research',
        folds: splitsOf(tid.pictures, groups, options),
        floor: 0.94,
        goal: 0.955,
        looksAtAnswers: false,
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
        looksAtAnswers: true,
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
      folds: foldsOf(live.pictures, options.seed),
      floor: 0.82,
      goal: 0.85,
      looksAtAnswers: false,
    });
  }
  if (tid) {
    runs.push({
      name: 'tid2013-blind',
      title: 'TID2013, no reference, no TID2013 label used',
      dataset: tid,
      withReference: false,
      licences: 'permissive',
      folds: [{ name: 'all', holdOut: groupsOf(tid.pictures), pictures: tid.pictures }],
      floor: 0.58,
      goal: 0.68,
      looksAtAnswers: true,
    });
  }
  return runs.map((run) => ({
    ...run,
    folds: run.folds
      .slice(0, options.quick ? 1 : undefined)
      .map((fold) => ({ ...fold, pictures: thin(fold.pictures, options) })),
  }));
}

/** Each tests on 13 of the 25 references and may be fitted on the other 12. */
function splitsOf(
  pictures: readonly RatedPicture[],
  groups: readonly string[],
  { seed, splits = SPLITS }: PlanOptions,
): Fold[] {
  return Array.from({ length: splits }, (_, index) => {
    const holdOut = shuffle(groups, createRandom(seed + index))
      .slice(0, TESTED_REFERENCES)
      .toSorted();
    return { name: `split-${index + 1}`, holdOut, pictures: pictures.filter(({ group }) => holdOut.includes(group)) };
  });
}

function foldsOf(pictures: readonly RatedPicture[], seed: number): Fold[] {
  const order = shuffle(groupsOf(pictures), createRandom(seed));
  return Array.from({ length: LIVE_FOLDS }, (_, index) => {
    const holdOut = order.filter((_group, place) => place % LIVE_FOLDS === index).toSorted();
    const held = new Set(holdOut);
    return { name: `fold-${index + 1}`, holdOut, pictures: pictures.filter(({ group }) => held.has(group)) };
  });
}

const groupsOf = (pictures: readonly RatedPicture[]): string[] =>
  [...new Set(pictures.map(({ group }) => group))].toSorted();

/** Every type and level keeps the same share; ratings stand in where there are no types. */
function thin(pictures: readonly RatedPicture[], { quick, limit, seed }: PlanOptions): RatedPicture[] {
  const share = Math.min(quick ? QUICK_SHARE : 1, limit / pictures.length);
  if (share >= 1) return [...pictures];
  const shuffled = shuffle(pictures, createRandom(seed));
  const ordered = shuffled.toSorted(
    (a, b) => (a.type ?? 0) - (b.type ?? 0) || (a.level ?? 0) - (b.level ?? 0) || (a.type === null ? a.mos - b.mos : 0),
  );
  // Evenly spaced along the strata.
  const count = Math.max(1, Math.round(pictures.length * share));
  return Array.from({ length: count }, (_, index) => ordered[Math.floor(((index + 0.5) * ordered.length) / count)]!);
}
