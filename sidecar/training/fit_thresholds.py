"""Fits the severity thresholds of configs/severity.yaml and tests which category they name.

Cuts follow the synthetic strengths: slight begins at strength 0.75, moderate at 2, severe at 3.25 and extreme at 4.5 of the
medians; but never inside what clean photos show, so that at most `--false-alarms` of them are more than slight.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from training.folds import split_groups
from training.severity import CATEGORIES, Indicator, Unless, grade_categories
from training.tables import Numbers, Table

STRENGTHS_AT_CUTS = (0.75, 2.0, 3.25, 4.5)
INDICATORS = (
    Indicator("Blurs", "edge_width_px", "above", ("gaussian_blur", "defocus_blur")),
    Indicator("Blurs", "edge_width_sharp_px", "above", ("gaussian_blur", "defocus_blur")),
    Indicator("Blurs", "blur_anisotropy", "above", ("motion_blur",), Unless("edge_width_px", below=2.5)),
    Indicator("Noise", "noise_sigma", "above", ("white_noise",)),
    Indicator("Noise", "chroma_noise_sigma", "above", ("chroma_noise",)),
    Indicator("Noise", "impulse_fraction", "above", ("impulse_noise",)),
    Indicator("Compression", "blockiness", "above", ("jpeg",)),
    Indicator("Brightness change", "mean_luminance", "below", ("darker",)),
    Indicator("Brightness change", "mean_luminance", "above", ("brighter",)),
    Indicator("Contrast", "rms_contrast", "below", ("contrast_loss",)),
    Indicator("Contrast", "rms_contrast", "above", ("contrast_gain",)),
    Indicator("Color distortions", "saturation", "below", ("saturation_loss",)),
    Indicator("Color distortions", "saturation", "above", ("saturation_gain",)),
    Indicator("Color distortions", "color_cast", "above", ("colour_cast",)),
    Indicator("Sharpness", "halo", "above", ("over_sharpening",)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("synthetic", type=Path, help="scored CSV of distort.py's pictures")
    parser.add_argument("--false-alarms", type=float, default=0.04, help="share of clean photos more than slight")
    parser.add_argument("--test", type=Path, help="scored CSV of a data set with categories, for testing only")
    parser.add_argument("--test-references", type=Path, help="scored CSV of its references")
    parser.add_argument("--clean", type=Path, nargs="+", default=[], help="scored CSV files of clean photos, tests only")
    arguments = parser.parse_args()
    table = Table.read([arguments.synthetic])
    report_folds(table, arguments.false_alarms)
    indicators = fit(table, arguments.false_alarms)
    for path in arguments.clean:
        report_clean(Table.read([path]), indicators, path.stem)
    if arguments.test:
        report_test(arguments, indicators)
    print_yaml(indicators)


def fit(table: Table, false_alarms: float) -> tuple[Indicator, ...]:
    """Raises the percentile of clean photos below the moderate cuts until all indicators together obey the limit."""
    originals = table.where(table.numbers("strength") == 0)
    for percentile in (98.0, 98.5, 99.0, 99.3, 99.6, 99.8, 100.0):
        indicators = tuple(fit_indicator(indicator, table, originals, percentile) for indicator in INDICATORS)
        if np.mean(grade_categories(indicators, originals).max(axis=1) >= 2) <= false_alarms:
            break
    return indicators


def fit_indicator(indicator: Indicator, table: Table, originals: Table, percentile: float) -> Indicator:
    clean = indicator.values(originals)
    kinds, strengths, values = table.texts("distortion"), table.numbers("strength"), indicator.values(table)
    medians = [np.nanmedian(clean)]
    for strength in range(1, 6):
        medians.append(np.nanmedian(values[np.isin(kinds, indicator.made_by) & (strengths == strength)]))
    rising = np.maximum.accumulate(indicator.sign * np.array(medians))
    wanted = np.interp(STRENGTHS_AT_CUTS, range(6), rising)
    counted = clean[np.isfinite(clean) & ~indicator.is_explained(originals)]
    floors = np.percentile(indicator.sign * counted, [95, percentile]) if len(counted) else wanted[:2]
    cuts = np.maximum(wanted, [floors[0], floors[1], -np.inf, -np.inf])
    # Where clean photos push the lower cuts up, the upper ones keep their distance.
    reach = max(cuts[3] - cuts[1], 0.3 * (wanted[3] - wanted[0]))
    cuts[2:] = np.maximum(cuts[2:], cuts[1] + reach * np.array([0.5, 1.0]))
    low, high = np.nanpercentile(clean, [10, 90])
    edge = min(high if indicator.sign > 0 else -low, cuts[0] - 0.05 * reach)
    cuts[0] = min(cuts[0], (edge + cuts[1]) / 2) if cuts[0] >= cuts[1] else cuts[0]
    bounds = (low, edge) if indicator.sign > 0 else (-edge, high)
    rounded = tuple(float(f"{indicator.sign * cut:.3g}") for cut in cuts)
    return replace(indicator, cuts=rounded, clean=(float(f"{bounds[0]:.3g}"), float(f"{bounds[1]:.3g}")))


def report_folds(table: Table, false_alarms: float) -> None:
    grades = np.zeros((len(table), len(CATEGORIES)))
    for training, test in split_groups(table.texts("group")):
        grades[test] = grade_categories(fit(table.where(training), false_alarms), table.where(test))
    print("held-out synthetic pictures, without reference:")
    report_accuracy(table, grades, "distortion")
    originals = table.numbers("strength") == 0
    report_alarms(grades[originals], "held-out originals")


def report_clean(table: Table, indicators: tuple[Indicator, ...], name: str) -> None:
    groups = table.texts("group")
    report_alarms(grade_categories(indicators, table), f"{name} ({len(groups)} photos)")


def report_alarms(grades: Numbers, name: str) -> None:
    loudest = np.bincount(grades.argmax(axis=1)[grades.max(axis=1) >= 2], minlength=len(CATEGORIES))
    blame = ", ".join(f"{category} {count}" for category, count in zip(CATEGORIES, loudest, strict=True) if count)
    share = [np.mean(grades.max(axis=1) >= level) for level in (1, 2, 3)]
    print(f"{name}: at least slight {share[0]:.1%}, moderate {share[1]:.1%} ({blame}), severe {share[2]:.1%}")


def report_test(arguments: argparse.Namespace, indicators: tuple[Indicator, ...]) -> None:
    table = Table.read([arguments.test])
    table = table.where((table.texts("category") != "") & (table.numbers("strength") >= 3))
    print("test set, strengths 3 to 5, without reference:")
    report_accuracy(table, grade_categories(indicators, table), "distortion")
    if arguments.test_references:
        by_group = {row["group"]: row for row in Table.read([arguments.test_references]).rows}
        references = Table([by_group[group] for group in table.texts("group").tolist()])
        print("test set, strengths 3 to 5, with reference:")
        report_accuracy(table, grade_categories(indicators, table, references), "distortion")


def report_accuracy(table: Table, grades: Numbers, by: str) -> None:
    """Top category right, by distortion and by category; the balanced figure is the mean over categories."""
    categories, kinds, strengths = table.texts("category"), table.texts(by), table.numbers("strength")
    named = np.array(CATEGORIES)[grades.argmax(axis=1)]
    right = (named == categories) & (grades.max(axis=1) > 0)
    own = np.array([grades[row, CATEGORIES.index(name)] if name else 0 for row, name in enumerate(categories)])
    for kind in sorted(set(kinds[categories != ""].tolist())):
        rows = kinds == kind
        levels = sorted(set(strengths[rows].tolist()))
        by_level = " ".join(f"{np.mean(right[rows & (strengths == level)]):4.0%}" for level in levels)
        severities = " ".join(f"{np.median(own[rows & (strengths == level)]):.1f}" for level in levels)
        wrong = named[rows & ~right & (strengths >= 3)]
        mistaken = max(set(wrong.tolist()), key=wrong.tolist().count) if len(wrong) else "-"
        print(f"  {kind:16} right by strength {by_level}; own severity {severities}; mistaken for {mistaken}")
    for lowest in sorted({1.0, 3.0} & set(strengths.tolist())):
        per_category = [
            np.mean(right[(categories == name) & (strengths >= lowest)])
            for name in CATEGORIES
            if np.any((categories == name) & (strengths >= lowest))
        ]
        overall = np.mean(right[(categories != "") & (strengths >= lowest)])
        print(f"  strengths {lowest:.0f} to 5: right {overall:.1%}, balanced over categories {np.mean(per_category):.1%}")


def print_yaml(indicators: tuple[Indicator, ...]) -> None:
    print("categories:")
    for category in CATEGORIES:
        print(f"  {category}:")
        for indicator in indicators:
            if indicator.category == category:
                print(f"    - {{ {indicator.as_yaml()} }}")


if __name__ == "__main__":
    main()
