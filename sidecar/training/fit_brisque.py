"""Fits the support-vector regression behind BRISQUE and writes the data file that the tool loads.

Targets are 25 (5 - grade): for synthetic images the grade is the mean of calibrated full-reference tools, for rated
photographs (a table with the column mos) it is the rating, `--label-worst` and `--label-best` mapped to 1 and 5.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.svm import SVR

from training.fit_calibration import grade_by_tools, read_curves
from training.folds import rank_correlation, split_groups
from training.ratings import on_scale
from training.tables import Numbers, Table, write_rows

# The distortions that the 36 luma features can show. Sharpening looks to them like clean detail: including it cost
# 0.03 of rank correlation on photographs.
FITTED = ("none", "gaussian_blur", "defocus_blur", "motion_blur", "white_noise", "impulse_noise", "jpeg", "jpeg2000")
# Originals are few among their versions, but most images that a service receives are clean.
ORIGINAL_WEIGHT = 4.0
EPSILON, COST, GAMMA = 10.0, 30.0, 0.1  # the best of nine on held-out images
# Percent of the rows outside -1..1, so that outliers do not set the scale of a feature.
TAIL = 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=Path, help="brisque_svr.npz")
    parser.add_argument(
        "--synthetic", type=Path, required=True, help="scored CSV of distort.py's images, with features"
    )
    parser.add_argument("--rated", type=Path, required=True, help="scored CSV of rated photographs, with features")
    parser.add_argument("--test", type=Path, help="scored CSV of a rated data set used for testing only")
    parser.add_argument("--test-without", default="", help="for --test leave out groups that begin so (shared content)")
    parser.add_argument("--test-core", nargs="+", default=[], help="distortions of --test also reported together")
    parser.add_argument(
        "--held-out", type=Path, help="CSV to write: both tables with tool:BRISQUE of the fold without them"
    )
    parser.add_argument("--curves", type=Path, required=True, help="JSON file of fit_calibration.py")
    parser.add_argument("--pseudo", nargs="+", default=["MS-SSIM", "GMSD"])
    parser.add_argument("--label-worst", type=float, default=15.0)
    parser.add_argument("--label-best", type=float, default=85.0)
    parser.add_argument("--max-support-vectors", type=int, default=1000)
    arguments = parser.parse_args()

    rows = read_rows(arguments)
    held_out = predict_folds(rows, arguments.max_support_vectors)
    report_folds(rows, held_out)
    if arguments.held_out:
        table = Table.read([arguments.synthetic, arguments.rated])
        values = [{**row, "tool:BRISQUE": value} for row, value in zip(table.rows, held_out.tolist(), strict=True)]
        write_rows(arguments.held_out, values, list(dict.fromkeys(column for row in values for column in row)))
    if arguments.test:
        held = np.char.startswith(rows.groups, arguments.test_without) if arguments.test_without else rows.groups == ""
        expansion = fit(rows.where(~held & rows.fitted), arguments.max_support_vectors)
        report_test(Table.read([arguments.test]), expansion, arguments.test_core)
    final = fit(rows.where(rows.fitted), arguments.max_support_vectors)
    np.savez_compressed(arguments.output, allow_pickle=False, **final.arrays())
    print(f"{len(final.coefficients)} support vectors, {arguments.output.stat().st_size} bytes")


@dataclass(frozen=True)
class Rows:
    features: Numbers
    targets: Numbers
    weights: Numbers
    groups: np.typing.NDArray[np.str_]
    distortions: np.typing.NDArray[np.str_]

    @property
    def fitted(self) -> np.typing.NDArray[np.bool_]:
        return np.isin(self.distortions, (*FITTED, "rated")) & np.isfinite(self.features).all(axis=1)

    def where(self, mask: np.typing.NDArray[np.bool_]) -> Rows:
        return Rows(
            self.features[mask], self.targets[mask], self.weights[mask], self.groups[mask], self.distortions[mask]
        )


def read_rows(arguments: argparse.Namespace) -> Rows:
    synthetic, rated = Table.read([arguments.synthetic]), Table.read([arguments.rated])
    rated_grades = np.clip(on_scale(rated.numbers("mos"), arguments.label_worst, arguments.label_best), 1, 5)
    grades = np.concatenate([grade_by_tools(synthetic, read_curves(arguments.curves), arguments.pseudo), rated_grades])
    distortions = np.concatenate([synthetic.texts("distortion"), np.full(len(rated), "rated")])
    return Rows(
        np.vstack([read_features(synthetic), read_features(rated)]),
        25 * (5 - grades),
        np.where(distortions == "none", ORIGINAL_WEIGHT, 1.0),
        np.concatenate([synthetic.texts("group"), rated.texts("group")]),
        distortions,
    )


def read_features(table: Table) -> Numbers:
    return np.column_stack([table.numbers(f"feature:{index}") for index in range(36)])


@dataclass(frozen=True)
class Expansion:
    """Σ coefficient · exp(-γ |centre - x|²) + intercept on features scaled to about -1..1, as the tool computes it."""

    centres: Numbers
    coefficients: Numbers
    intercept: float
    low: Numbers
    high: Numbers

    def predict(self, features: Numbers) -> Numbers:
        kernel = gaussian_kernel(scale(features, self.low, self.high), self.centres)
        return np.clip(kernel @ self.coefficients + self.intercept, 0, 100)

    def arrays(self) -> dict[str, np.typing.NDArray[np.floating]]:
        return {
            "support_vectors": self.centres.astype(np.float32),
            "dual_coefficients": self.coefficients,
            "intercept": np.array(self.intercept),
            "gamma": np.array(GAMMA),
            "feature_minimum": self.low,
            "feature_maximum": self.high,
        }


def fit(rows: Rows, max_support_vectors: int) -> Expansion:
    """An ε-SVR; if it needs more vectors than allowed, its closest expansion on a subset of them (Burges 1996)."""
    low, high = np.percentile(rows.features, [TAIL, 100 - TAIL], axis=0)
    points = scale(rows.features, low, high).astype(np.float32).astype(np.float64)
    regression = SVR(C=COST, gamma=GAMMA, epsilon=EPSILON).fit(points, rows.targets, sample_weight=rows.weights)
    support, dual, intercept = regression.support_, regression.dual_coef_[0], float(regression.intercept_[0])
    if len(support) <= max_support_vectors:
        return Expansion(points[support], dual, intercept, low, high)
    chosen = np.sort(np.random.default_rng(0).permutation(support)[:max_support_vectors])
    kernel = gaussian_kernel(points, points[chosen])
    wanted = regression.predict(points) - intercept
    # A small ridge keeps the coefficients of neighbours small.
    normal = kernel.T @ kernel + 1e-3 * np.eye(len(chosen))
    return Expansion(points[chosen], np.linalg.solve(normal, kernel.T @ wanted), intercept, low, high)


def scale(features: Numbers, low: Numbers, high: Numbers) -> Numbers:
    return np.asarray(2 * (features - low) / (high - low) - 1)


def gaussian_kernel(left: Numbers, right: Numbers) -> Numbers:
    distance = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    return np.asarray(np.exp(-GAMMA * np.maximum(distance, 0)))


def predict_folds(rows: Rows, max_support_vectors: int) -> Numbers:
    held_out = np.full(len(rows.targets), np.nan)
    for training, test in split_groups(rows.groups):
        expansion = fit(rows.where(training & rows.fitted), max_support_vectors)
        held_out[test] = expansion.predict(rows.features[test])
    return held_out


def report_folds(rows: Rows, held_out: Numbers) -> None:
    rated = rows.distortions == "rated"
    for name, mask in (
        ("synthetic, fitted distortions", rows.fitted & ~rated),
        ("synthetic, all", ~rated),
        ("rated", rated),
    ):
        known = mask & np.isfinite(held_out)
        print(f"held-out images, {name}: SRCC {rank_correlation(held_out[known], rows.targets[known]):.3f}")
    originals = held_out[rows.distortions == "none"]
    print(f"held-out originals, percentiles 10, 50, 90: {np.percentile(originals, [10, 50, 90]).round(1).tolist()}")


def report_test(table: Table, expansion: Expansion, core: list[str]) -> None:
    predicted, mos, kinds = expansion.predict(read_features(table)), table.numbers("mos"), table.texts("distortion")
    print(f"test set, all distortions: SRCC {-rank_correlation(predicted, mos):.3f}")
    for names in [core, *([name] for name in core)]:
        mask = np.isin(kinds, names)
        print(f"test set, {' '.join(names)}: SRCC {-rank_correlation(predicted[mask], mos[mask]):.3f}")


if __name__ == "__main__":
    main()
