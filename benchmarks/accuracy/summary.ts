// Computes the figures of one run from the answers of its folds.
import { SEVERITIES } from '../../schemas/vocabulary.ts';
import { measureAgreement, type Agreement } from '../statistics/agreement.ts';
import type { BootstrapOptions } from '../statistics/bootstrap.ts';
import { mean, rmse, srcc } from '../statistics/correlation.ts';
import type { Answered, Collected } from './collect.ts';
import { CATEGORY_BY_TYPE, CLEAR_CATEGORIES, rescaleRating, TID_TYPES } from './datasets.ts';
import { measureCoverage, type IntervalFigures } from './intervals.ts';
import { countRightPairs, type PairFigures } from './pairs.ts';
import type { Run } from './plan.ts';

export interface RunSummary {
  name: string;
  title: string;
  floor: number;
  goal: number;
  images: number;
  unscored: number;
  /** Mean over the folds. */
  srcc: number;
  folds: { name: string; count: number; srcc: number }[];
  /** All answers of all folds. */
  pooled: Agreement;
  types: { type: number; title: string; agreement: Agreement }[];
  intervals: IntervalFigures;
  /** On the scale 1 to 5: the spread that comparisons assume for scores without an interval, and the correlation of errors within one content. */
  errors: { rmse: number; bias: number; shared: number };
  categories: CategoryFigures | null;
  severity: { type: number; title: string; srcc: number }[];
  questions: { asked: number; share: number; by_category: { category: string; asked: number; share: number }[] } | null;
  pairs: PairFigures | null;
  compared: { pairs: number; right: number; wrong: number; too_close: number } | null;
}

export interface CategoryFigures {
  /** Mean over the categories. */
  balanced: number;
  columns: string[];
  rows: { category: string; count: number; share: number; counts: number[] }[];
}

/** Categories are checked from the level at which the distortion is clearly visible. */
const MIN_LEVEL = 3;

export function summarize(run: Run, folds: readonly Collected[], bootstrap: BootstrapOptions): RunSummary {
  const answers = folds.flatMap((fold) => fold.answers);
  const chosen = folds.flatMap((fold) => fold.chosen);
  const compared = folds.flatMap((fold) => fold.compared);
  const perFold = folds.map(({ answers: own }, index) => ({
    name: run.folds[index]?.name ?? '',
    count: own.length,
    srcc: srcc(
      own.map(({ score }) => score),
      own.map(({ image }) => image.mos),
    ),
  }));
  const isTid = answers.some(({ image }) => image.type !== null);
  return {
    name: run.name,
    title: run.title,
    floor: run.floor,
    goal: run.goal,
    images: answers.length,
    unscored: folds.flatMap((fold) => fold.unscored).length,
    srcc: mean(perFold.map((fold) => fold.srcc)),
    folds: perFold,
    pooled: computeAgreement(answers, bootstrap),
    types: isTid
      ? listTypes(answers).map((type) => ({
          type,
          title: TID_TYPES[type] ?? '',
          agreement: computeAgreement(filterType(answers, type), bootstrap),
        }))
      : [],
    intervals: measureCoverage(run, answers),
    errors: measureErrors(run, answers),
    categories: isTid ? buildConfusionTable(answers) : null,
    severity: isTid
      ? listTypes(answers)
          .filter((type) => CATEGORY_BY_TYPE.has(type))
          .map((type) => ({
            type,
            title: TID_TYPES[type] ?? '',
            srcc: severityAgainstLevel(filterType(answers, type)),
          }))
      : [],
    questions: chosen.length === 0 ? null : summarizeChoices(chosen),
    pairs: isTid ? sumPairs(folds.map((fold) => countRightPairs(fold.answers))) : null,
    compared:
      compared.length === 0
        ? null
        : {
            pairs: compared.length,
            right: compared.filter(({ better }) => better === 'right').length,
            wrong: compared.filter(({ better }) => better === 'wrong').length,
            too_close: compared.filter(({ better }) => better === 'too close').length,
          },
  };
}

const listTypes = (answers: readonly Answered[]): number[] =>
  [...new Set(answers.flatMap(({ image }) => image.type ?? []))].toSorted((a, b) => a - b);
const filterType = (answers: readonly Answered[], type: number): Answered[] =>
  answers.filter(({ image }) => image.type === type);

function computeAgreement(answers: readonly Answered[], bootstrap: BootstrapOptions): Agreement {
  return measureAgreement(
    answers.map(({ score, image }) => ({ score, mos: image.mos, group: image.group })),
    bootstrap,
  );
}

/** `shared`: the intraclass correlation of the errors, from the variance between and within groups of one content. */
function measureErrors({ dataset: { scale } }: Run, answers: readonly Answered[]): RunSummary['errors'] {
  const ratings = answers.map(({ image }) => rescaleRating(image.mos, scale));
  const errors = answers.map(({ score }, index) => score - (ratings[index] ?? NaN));
  const groups = new Map<string, number[]>();
  for (const [index, { image }] of answers.entries())
    groups.set(image.group, [...(groups.get(image.group) ?? []), errors[index] ?? NaN]);
  const bias = mean(errors);
  const members = [...groups.values()];
  const size = answers.length / members.length;
  const between =
    members.reduce((sum, group) => sum + group.length * (mean(group) - bias) ** 2, 0) / (members.length - 1);
  const within =
    members.reduce((sum, group) => sum + group.reduce((own, error) => own + (error - mean(group)) ** 2, 0), 0) /
    (answers.length - members.length);
  return {
    rmse: rmse(
      answers.map(({ score }) => score),
      ratings,
    ),
    bias,
    shared: (between - within) / (between + (size - 1) * within),
  };
}

function buildConfusionTable(answers: readonly Answered[]): CategoryFigures {
  const plain = answers.filter(
    ({ image: { level, type } }) => (level ?? 0) >= MIN_LEVEL && CATEGORY_BY_TYPE.has(type ?? 0),
  );
  const columns = [
    ...new Set([...CLEAR_CATEGORIES, ...plain.flatMap(({ findings }) => findings[0]?.category ?? [])]),
  ] as string[];
  const rows = CLEAR_CATEGORIES.map((category) => {
    const own = plain.filter(({ image }) => CATEGORY_BY_TYPE.get(image.type ?? 0) === category);
    const counts = columns.map((column) => own.filter(({ findings }) => findings[0]?.category === column).length);
    return {
      category,
      count: own.length,
      share: own.length === 0 ? NaN : (counts[columns.indexOf(category)] ?? 0) / own.length,
      counts,
    };
  });
  return { balanced: mean(rows.filter(({ count }) => count > 0).map(({ share }) => share)), columns, rows };
}

/** Uses the strength of the finding with the right category, else its severity; no finding counts as none. Constant severity gives 0. */
function severityAgainstLevel(answers: readonly Answered[]): number {
  const severities = answers.map(({ findings, image }) => {
    const found = findings.find(({ category }) => category === CATEGORY_BY_TYPE.get(image.type ?? 0));
    return found?.strength ?? SEVERITIES.indexOf(found?.severity ?? 'none');
  });
  const correlation = srcc(
    severities,
    answers.map(({ image }) => image.level ?? NaN),
  );
  return Number.isNaN(correlation) ? 0 : correlation;
}

function summarizeChoices(chosen: Collected['chosen']): NonNullable<RunSummary['questions']> {
  const share = (rows: Collected['chosen']) =>
    rows.filter(({ right, answered }) => right === answered).length / rows.length;
  const by = CLEAR_CATEGORIES.map((category) => ({
    category,
    rows: chosen.filter(({ image }) => CATEGORY_BY_TYPE.get(image.type ?? 0) === category),
  })).filter(({ rows }) => rows.length > 0);
  return {
    asked: chosen.length,
    share: share(chosen),
    by_category: by.map(({ category, rows }) => ({ category, asked: rows.length, share: share(rows) })),
  };
}

/** Only pairs within a fold: scores of different models are not comparable. */
function sumPairs(figures: readonly PairFigures[]): PairFigures {
  const pairs = figures.reduce((sum, fold) => sum + fold.pairs, 0);
  const right = figures.reduce((sum, fold) => sum + fold.right, 0);
  return { pairs, right, share: right / pairs };
}
