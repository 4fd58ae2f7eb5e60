"""Fits the severity thresholds of configs/severity.yaml and tests which category they name.

Cuts follow the medians of the synthetic strengths: slight begins at strength 0.75, moderate at 2, severe at 3.25 and
extreme at 4.5. Clean photos push them up, all except the oddest `--false-alarms` of them.
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
# Share of the distance between the 90th percentile and the maximum of clean photos; new photos exceed it a little.
MARGIN = 0.2
INDICATORS = (
    Indicator("Blurs", "edge_width_px", "above", ("gaussian_blur", "defocus_blur")),
    Indicator("Blurs", "edge_width_sharp_px", "above", ("gaussian_blur", "defocus_blur")),
    # A sharp image of parallel lines is anisotropic too.
    Indicator("Blurs", "blur_anisotropy", "above", ("motion_blur",), Unless("edge_width_px", below=2.2, always=True)),
    Indicator("Noise", "noise_sigma", "above", ("white_noise",)),
    Indicator("Noise", "chroma_noise_sigma", "above", ("chroma_noise",)),
    Indicator("Noise", "impulse_fraction", "above", ("impulse_noise",)),
    Indicator("Compression", "blockiness", "above", ("jpeg",)),
    # A night photo is dark but has lights.
    Indicator("Brightness change", "mean_luminance", "below", ("darker",), Unless("dynamic_range", above=150)),
    # Objects on white paper.
    Indicator("Brightness change", "mean_luminance", "above", ("brighter",), Unless("highlight_clipping", above=0.5)),
    Indicator("Brightness change", "highlight_clipping", "above", ("brighter",), Unless("mean_luminance", above=215)),
    Indicator("Contrast", "dynamic_range", "below", ("contrast_loss",), Unless("mean_luminance", below=60)),
    Indicator("Contrast", "shadow_clipping", "above", ("contrast_gain",), Unless("highlight_clipping", below=0.02)),
    # Black-and-white is intended.
    Indicator("Color distortions", "colorfulness", "below", ("saturation_loss",), Unless("saturation", below=0.01)),
    Indicator(
        "Color distortions", "colorfulness", "above", ("saturation_gain",), Unless("chroma_noise_sigma", above=5)
    ),
    Indicator("Color distortions", "color_cast", "above", ("colour_cast",)),
    # Halos around wide edges belong to the scene.
    Indicator("Sharpness", "halo", "above", ("over_sharpening",), Unless("edge_width_px", above=1.5, always=True)),
)

# Known, not measured (the images are PNG files): the JPEG levels of distort.py at the same strengths.
GIVEN = (Indicator("Compression", "jpeg_quality", "below", ("jpeg",), cuts=(57, 28, 15, 7.5), clean=(75, 100)),)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("synthetic", type=Path, help="scored CSV of distort.py's images")
    parser.add_argument("--false-alarms", type=float, default=0.03, help="share of clean photos given up")
    parser.add_argument("--test", type=Path, help="scored CSV of a data set with categories, for testing only")
    parser.add_argument("--test-references", type=Path, help="scored CSV of its references")
    parser.add_argument("--clean", type=Path, nargs="+", default=[], help="scored CSV files of more clean photos")
    parser.add_argument("--clean-test", type=Path, nargs="+", default=[], help="the same, for testing only")
    arguments = parser.parse_args()
    table = Table.read([arguments.synthetic, *arguments.clean])
    report_folds(table, arguments.false_alarms)
    indicators = fit(table, arguments.false_alarms)
    for path in arguments.clean_test:
        report_clean(Table.read([path]), indicators, path.stem)
    if arguments.test:
        report_test(arguments, indicators)
    print_yaml(indicators)


def fit(table: Table, false_alarms: float) -> tuple[Indicator, ...]:
    originals = table.where(table.numbers("strength") == 0)
    wanted = [follow_strengths(indicator, table, originals) for indicator in INDICATORS]
    usual = originals.where(~find_oddest(originals, wanted, int(false_alarms * len(originals))))
    fitted = (keep_clear(indicator, cuts, originals, usual) for indicator, cuts in zip(INDICATORS, wanted, strict=True))
    return (*fitted, *GIVEN)


def follow_strengths(indicator: Indicator, table: Table, originals: Table) -> Numbers:
    """The cuts from the synthetic distortions alone, times the indicator's sign so that they rise."""
    kinds, strengths, values = table.texts("distortion"), table.numbers("strength"), indicator.values(table)
    own = np.isin(kinds, indicator.made_by)
    made = [np.nanmedian(values[own & (strengths == strength)]) for strength in range(1, 6)]
    medians = [np.nanmedian(indicator.values(originals)), *made]
    rising = np.maximum.accumulate(indicator.sign * np.array(medians))
    return np.interp(STRENGTHS_AT_CUTS, range(6), rising)


def find_oddest(originals: Table, wanted: list[Numbers], count: int) -> np.typing.NDArray[np.bool_]:
    """The clean photos to ignore: greedily the one that raises the moderate cuts the most."""
    columns = []
    for indicator, cuts in zip(INDICATORS, wanted, strict=True):
        values = np.where(indicator.is_explained(originals), np.nan, indicator.sign * indicator.values(originals))
        columns.append((values - cuts[1]) / max(cuts[3] - cuts[0], 1e-9))
    excess = np.clip(np.nan_to_num(np.column_stack(columns), nan=0.0), 0, 3)
    odd = np.zeros(len(originals), bool)
    for _ in range(count):
        left = np.where(odd[:, None], 0.0, excess)
        gains = [left.max(axis=0).sum() - np.delete(left, row, axis=0).max(axis=0).sum() for row in range(len(left))]
        # If several are alike, removing one changes nothing: then the one with the largest sum.
        best = int(np.argmax(gains)) if max(gains) > 0 else int(np.argmax(left.sum(axis=1)))
        odd[best] = True
    return odd


def keep_clear(indicator: Indicator, wanted: Numbers, originals: Table, usual: Table) -> Indicator:
    """Moves the cuts away from clean photos: slight above 99 % of them, moderate above all but the oddest."""
    clean = indicator.values(originals)
    clean = indicator.sign * indicator.values(usual)[~indicator.is_explained(usual)]
    clean = clean[np.isfinite(clean)]
    tail = np.percentile(clean, [90, 99, 100]) if len(clean) else np.array([wanted[0], wanted[0], wanted[1]])
    floors = (tail[1], tail[2] + MARGIN * (tail[2] - tail[0]))
    moderate = max(wanted[1], floors[1])
    # Where clean photos raise the lower cuts, the upper ones keep at least half their distance.
    reach = max(wanted[3] - moderate, 0.5 * (wanted[3] - wanted[1]))
    if indicator.sign < 0:
        # No measurement is below 0; the cuts stay where values can be.
        reach = min(reach, 0.7 * abs(moderate))
    severe, extreme = min(max(wanted[2], moderate + 0.4 * reach), moderate + 0.7 * reach), moderate + reach
    low, high = np.nanpercentile(clean, [10, 90])
    middle = indicator.sign * float(np.nanmedian(clean))
    edge = max(min(high if indicator.sign > 0 else -low, moderate - 0.2 * reach), middle)
    slight = min(max(wanted[0], floors[0], edge + 0.1 * reach), moderate - 0.1 * reach)
    bounds = (low, edge) if indicator.sign > 0 else (-edge, high)
    rounded = tuple(round_off(indicator.sign * cut) for cut in (slight, moderate, severe, extreme))
    return replace(indicator, cuts=rounded, clean=(round_off(bounds[0]), round_off(bounds[1])))


def round_off(value: float) -> float:
    return float(f"{value:.3g}")


def report_folds(table: Table, false_alarms: float) -> None:
    grades = np.zeros((len(table), len(CATEGORIES)))
    for training, test in split_groups(table.texts("group")):
        grades[test] = grade_categories(fit(table.where(training), false_alarms), table.where(test))
    print("held-out synthetic images, without reference:")
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
        print(
            f"  strengths {lowest:.0f} to 5: right {overall:.1%}, balanced over categories {np.mean(per_category):.1%}"
        )


def print_yaml(indicators: tuple[Indicator, ...]) -> None:
    print("categories:")
    for category in CATEGORIES:
        print(f"  {category}:")
        for indicator in indicators:
            if indicator.category == category:
                print(f"    - {{ {indicator.as_yaml()} }}")


if __name__ == "__main__":
    main()
