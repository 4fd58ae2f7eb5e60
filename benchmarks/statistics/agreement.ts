// Computes all agreement figures between scores and ratings.
import { bootstrapInterval, type BootstrapOptions } from './bootstrap.ts';
import { krcc, plcc, rmse, srcc } from './correlation.ts';
import { applyLogistic, fitLogistic } from './logistic-fit.ts';

export interface Rated {
  score: number;
  /** The human rating, on its own scale. */
  mos: number;
  /** Rows of one group are versions of one image. */
  group: string;
}

export interface Agreement {
  count: number;
  srcc: number;
  krcc: number;
  /** Without the logistic fit. */
  plcc_raw: number;
  /** After the monotone logistic fit, as is customary; so is RMSE, in units of the ratings. */
  plcc: number;
  rmse: number;
  /** 95 % bootstrap intervals over groups. */
  intervals: { srcc: [number, number] | null; plcc: [number, number] | null };
}

/** The curve has four parameters, so fewer images would be fitted almost exactly. */
const MIN_FIT_ROWS = 8;

export function measureAgreement(rows: readonly Rated[], options: BootstrapOptions = {}): Agreement {
  const [scores, ratings] = [rows.map(({ score }) => score), rows.map(({ mos }) => mos)];
  const curve = rows.length >= MIN_FIT_ROWS ? fitLogistic(scores, ratings) : null;
  const fitted = rows.map((row) => ({ ...row, score: curve ? applyLogistic(curve, row.score) : row.score }));
  const mapped = fitted.map(({ score }) => score);
  const groups = groupRows(fitted);
  const interval = (figure: (scores: readonly number[], ratings: readonly number[]) => number) =>
    bootstrapInterval(
      groups,
      (drawn) =>
        figure(
          drawn.map(({ score }) => score),
          drawn.map(({ mos }) => mos),
        ),
      options,
    );
  return {
    count: rows.length,
    srcc: srcc(scores, ratings),
    krcc: krcc(scores, ratings),
    plcc_raw: plcc(scores, ratings),
    plcc: curve ? plcc(mapped, ratings) : NaN,
    rmse: curve ? rmse(mapped, ratings) : NaN,
    // The curve is monotone, so ranks are unchanged; it is not refitted in each round.
    intervals: { srcc: interval(srcc), plcc: interval(plcc) },
  };
}

function groupRows(rows: readonly Rated[]): Rated[][] {
  const groups = new Map<string, Rated[]>();
  for (const row of rows) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return [...groups.values()];
}
