"""Fits each tool's calibration curve to ratings and prints the rows for configs/tools.yaml.

Ratings come from a column of the table (`--label mos --label-worst 1.5 --label-best 6.1` maps those two to 1 and 5, the
rest linearly and clipped). Rows without a rating take theirs from curves fitted before (`--pseudo MS-SSIM GMSD`: the
mean of their grades; originals are 5).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from training.folds import agree, split_groups
from training.logistic import Anchors, Curve, fit_curve
from training.ratings import on_scale
from training.tables import Numbers, Table

Mask = NDArray[np.bool_]

# Chosen, not fitted: the ends of a tool's scale, and raw values that are at least excellent or at most bad.
ANCHORS = {
    "PSNR": Anchors(best=100, excellent=42, terrible=15, worst=0),
    "SSIM": Anchors(best=1, excellent=0.985, terrible=0.35, worst=-1),
    "MS-SSIM": Anchors(best=1, excellent=0.996, terrible=0.65, worst=-1),
    "GMSD": Anchors(best=0, excellent=0.008, terrible=0.24, worst=0.5),
    "LPIPS": Anchors(best=0, excellent=0.02, terrible=0.75, worst=1),
    "DISTS": Anchors(best=0, excellent=0.02, terrible=0.5, worst=1),
    "FSIM": Anchors(best=1, excellent=0.995, terrible=0.62, worst=0),
    "VSI": Anchors(best=1, excellent=0.998, terrible=0.85, worst=0),
    "MDSI": Anchors(best=0, excellent=0.13, terrible=0.53, worst=1),
    "HaarPSI": Anchors(best=1, excellent=0.98, terrible=0.25, worst=0),
    "VIFp": Anchors(best=1, excellent=0.93, terrible=0.05, worst=0),
    "VIF": Anchors(best=1, excellent=0.93, terrible=0.03, worst=0),
    "MS-GMSD": Anchors(best=0, excellent=0.008, terrible=0.27, worst=0.5),
    "CW-SSIM": Anchors(best=1, excellent=0.998, terrible=0.35, worst=0),
    "NLPD": Anchors(best=0, excellent=0.04, terrible=0.75, worst=2),
    "IW-SSIM": Anchors(best=1, excellent=0.995, terrible=0.4, worst=0),
    "MAD": Anchors(best=0, excellent=10, terrible=180, worst=500),
    "NIQE": Anchors(best=0, excellent=2.8, terrible=13, worst=100),
    "BRISQUE": Anchors(best=0, excellent=8, terrible=80, worst=100),
    "PIQE": Anchors(best=0, excellent=10, terrible=90, worst=100),
    "PanelIQA-R": Anchors(best=5, excellent=4.9, terrible=1.1, worst=1),
    "PanelIQA": Anchors(best=5, excellent=4.9, terrible=1.1, worst=1),
    "LiteIQA": Anchors(best=5, excellent=4.9, terrible=1.1, worst=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, nargs="+", help="scored CSV files")
    parser.add_argument("--tools", nargs="+", required=True, choices=ANCHORS)
    parser.add_argument("--label", default="mos", help="column with the ratings")
    parser.add_argument("--label-worst", type=float, default=1.0)
    parser.add_argument("--label-best", type=float, default=5.0)
    parser.add_argument(
        "--pseudo", nargs="+", default=[], help="tools of --curves whose mean grade stands in for a missing rating"
    )
    parser.add_argument("--exclude", nargs="+", default=[], help="distortions left out of the fit, not of the report")
    parser.add_argument("--curves", type=Path, required=True, help="JSON file of curves: read for --pseudo, updated")
    arguments = parser.parse_args()
    table = Table.read(arguments.table)
    curves = read_curves(arguments.curves)
    labels = np.clip(on_scale(table.numbers(arguments.label), arguments.label_worst, arguments.label_best), 1, 5)
    if arguments.pseudo:
        labels = np.where(np.isfinite(labels), labels, grade_by_tools(table, curves, arguments.pseudo))
    fitted = ~np.isin(table.texts("distortion"), arguments.exclude)
    for name in arguments.tools:
        curves[name] = report_tool(name, table, labels, fitted)
    arguments.curves.write_text(json.dumps({name: curve.beta for name, curve in curves.items()}, indent=1) + "\n")


def read_curves(path: Path) -> dict[str, Curve]:
    if not path.exists():
        return {}
    return {name: Curve(tuple(beta)) for name, beta in json.loads(path.read_text()).items()}


def grade_by_tools(table: Table, curves: dict[str, Curve], tools: list[str]) -> Numbers:
    grades = np.mean([curves[name](table.numbers(f"tool:{name}")) for name in tools], axis=0)
    return np.where(table.numbers("strength") == 0, 5.0, grades)


def report_tool(name: str, table: Table, labels: Numbers, fitted: Mask) -> Curve:
    values, groups, anchors = table.numbers(f"tool:{name}"), table.texts("group"), ANCHORS[name]
    known = np.isfinite(values) & np.isfinite(labels)
    held_out = predict_held_out(values, labels, known & fitted, split_groups(groups), anchors)
    curve = fit_curve(values[known & fitted], labels[known & fitted], anchors)
    print(f"# {name}, held-out images, fitted distortions: {agree(held_out[known & fitted], labels[known & fitted])}")
    print(f"# {name}, held-out images, all distortions:    {agree(held_out[known], labels[known])}")
    check_monotone(name, curve, anchors)
    b1, b2, b3, b4, b5 = curve.beta
    print(f"{name}: {{ b1: {b1}, b2: {b2}, b3: {b3}, b4: {b4}, b5: {b5} }}")
    return curve


def predict_held_out(
    values: Numbers, labels: Numbers, fitted: Mask, splits: Iterable[tuple[Mask, Mask]], anchors: Anchors
) -> Numbers:
    """Each row's grade by a curve fitted without it; NaN for rows that no split holds out."""
    held_out = np.full(len(values), np.nan)
    for training, test in splits:
        rows = training & fitted
        held_out[test] = fit_curve(values[rows], labels[rows], anchors)(values[test])
    return held_out


def check_monotone(name: str, curve: Curve, anchors: Anchors) -> None:
    if not is_monotone(curve, anchors):
        raise SystemExit(f"Expected a monotone curve for {name} but received {curve.beta}")
    shown = curve(np.array([anchors.best, anchors.excellent, anchors.terrible, anchors.worst]))
    print(f"# {name}, grade at best, excellent, terrible, worst: {', '.join(f'{grade:.2f}' for grade in shown)}")


def is_monotone(curve: Curve, anchors: Anchors) -> bool:
    points = np.linspace(anchors.worst, anchors.best, 20001)
    return not np.any(np.diff(curve.raw(points)) < -1e-9)


if __name__ == "__main__":
    main()
