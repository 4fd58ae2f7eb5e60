"""Cross-validates the learned tools by source picture: the figures, spreads and strengths that the registry has."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.learned.feature_pca import View
from iqa_sidecar.learned.kernel_ridge import KernelMachine
from iqa_sidecar.learned.model_files import Arrays
from iqa_sidecar.learned.predictors import CATEGORIES, Standard, blend_judges, layout_of
from training.datasets import Lesson, by_rank, read_graded, read_rated_pairs, read_rated_photos, scaled_strength
from training.fit_calibration import ANCHORS
from training.fit_learned import fit_beside, fit_graded_machine, fit_photo_machine, fit_rated
from training.folds import agree, rank_correlation, split_groups
from training.kernel_ridge_fit import Matrix, apply_standard, fit_view, look

Numbers = NDArray[np.float64]
# The metrics with reference that PanelIQA's labels are not made of.
NOT_TEACHING = ("PSNR", "SSIM", "MS-SSIM", "GMSD", "FSIM", "HaarPSI", "VIFp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the tables and features of steps 1 and 2")
    arguments = parser.parse_args()
    photos, pairs = read_rated_photos(arguments.data), read_rated_pairs(arguments.data)
    alone, graded = (read_graded(arguments.data, beside) for beside in (False, True))
    by_photos, by_graded = validate_alone(photos, alone)
    quality = blend(by_photos)
    print("LiteIQA on rated photographs:", agree(quality, photos.labels))
    both = np.concatenate([quality, blend(by_graded)]), np.concatenate([photos.labels, alone.labels])
    # Each set counts the same: users bring photographs and damaged pictures alike.
    weights = np.concatenate([np.full(len(lesson.labels), 1 / len(lesson.labels)) for lesson in (photos, alone)])
    print("  spread on photographs", spread(quality, photos.labels), "on both", spread(*both, weights))
    # Half of the references teach, half test: as sure as the machine is after the smallest lesson that we report on.
    rated = validate(pairs, fit_rated, folds=2)[:, 0]
    print(
        "PanelIQA-R on rated pairs:", agree(rated, pairs.labels), "spread", spread(rated, np.clip(pairs.labels, 1, 5))
    )
    beside = validate(graded, fit_beside)
    grades = scaled_strength(graded.table)
    print("PanelIQA on graded distortions:", agree(beside[:, 0], grades))
    print("  spread of the median metric", spread_of_metrics(beside[:, 0], graded))
    for name, strengths, lesson in (("alone", by_graded[:, 3:], alone), ("beside", beside[:, 1:], graded)):
        report_originals(name, strengths, lesson)
    report_strengths({"LiteIQA": blend(by_graded)}, alone)
    report_strengths({"PanelIQA": beside[:, 0], "PanelIQA-R": predict_all(fit_rated(pairs), graded)}, graded)


def validate_alone(photos: Lesson, graded: Lesson) -> tuple[Numbers, Numbers]:
    """All outputs for both sets, every picture by a machine that has seen neither it nor its original."""
    answers = [np.zeros((len(lesson.labels), 3 + len(CATEGORIES))) for lesson in (photos, graded)]
    for (learn_a, test_a), (learn_b, test_b) in zip(
        split_groups(photos.groups), split_groups(graded.groups), strict=True
    ):
        taught = photos.where(learn_a), graded.where(learn_b)
        view = fit_view(np.concatenate([taught[0].features, taught[1].features[::4]]))
        machines = fit_photo_machine(view, taught[0]), fit_graded_machine(view, *taught)
        for answer, lesson, test in zip(answers, (photos, graded), (test_a, test_b), strict=True):
            answer[test] = np.concatenate([predict_alone(one, view, lesson.where(test)) for one in machines], 1)
    return answers[0], answers[1]


def predict_alone(arrays: Arrays, view: View, lesson: Lesson) -> Matrix:
    machine = KernelMachine.of(arrays)
    return machine.predict(look(view, lesson.features, layout_of(machine), standard_of(arrays), lesson.measured))


def blend(answers: Numbers) -> Numbers:
    return blend_judges(answers[:, 0], answers[:, 1], answers[:, 2])


def validate(lesson: Lesson, fit: Callable[[Lesson], Arrays], folds: int = 5) -> Numbers:
    answers: list[tuple[NDArray[np.bool_], Matrix]] = [
        (test, predict_all_outputs(fit(lesson.where(learn)), lesson.where(test)))
        for learn, test in split_groups(lesson.groups, folds)
    ]
    whole = np.zeros((len(lesson.labels), answers[0][1].shape[1]))
    for test, values in answers:
        whole[test] = values
    whole[:, 0] = np.clip(whole[:, 0], 1, 5)
    return whole


def predict_all_outputs(arrays: Arrays, lesson: Lesson) -> Matrix:
    return KernelMachine.of(arrays).predict(apply_standard(standard_of(arrays), lesson.compared))


def predict_all(arrays: Arrays, lesson: Lesson) -> Numbers:
    return np.clip(predict_all_outputs(arrays, lesson)[:, 0], 1, 5).astype(np.float64)


def standard_of(arrays: Arrays) -> Standard:
    return Standard(*(np.asarray(arrays[name], np.float32) for name in ("median", "center", "scale")))


def spread(predicted: Numbers, labels: Numbers, weights: Numbers | None = None) -> list[float]:
    """Deviation around predictions near 1, 2, 3, 4 and 5, so that eight of ten labels lie within 1.2816 of it."""
    each = np.ones_like(labels) if weights is None else weights
    near = [each * np.exp(-0.5 * ((predicted - level) / 0.5) ** 2) for level in (1, 2, 3, 4, 5)]
    sizes = [weighted_quantile(np.abs(predicted - labels), weight, 0.8) / 1.2816 for weight in near]
    return [round(size, 3) for size in sizes]


def spread_of_metrics(predicted: Numbers, graded: Lesson) -> list[float]:
    """How far the usual metric that did not teach is from what was predicted.

    No rating is behind PanelIQA, so none can say how far it is off; graded strengths are no ratings either, as equal
    steps of different distortions are not equally visible. What independent metrics make of the same pair is the
    best stand-in for another opinion.
    """
    originals = graded.table.texts("distortion") == "none"
    each = []
    for name in NOT_TEACHING:
        values = graded.table.numbers(f"tool:{name}") * ANCHORS[name].direction
        opinion = np.where(originals, 5.0, by_rank(values))
        each.append(spread(predicted, opinion))
    return [round(float(value), 3) for value in np.median(each, axis=0)]


def weighted_quantile(values: Numbers, weights: Numbers, share: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share * weights.sum())])


def report_originals(name: str, strengths: Numbers, graded: Lesson) -> None:
    clean = graded.table.texts("distortion") == "none"
    worst = strengths[clean].max(1)
    print(
        f"{name}: of {clean.sum()} originals {np.mean(worst < 2):.1%} show nothing worse than slight, "
        f"{np.mean(worst < 1):.1%} nothing"
    )


def report_strengths(learned: dict[str, Numbers], graded: Lesson) -> None:
    """Rank correlation with the graded strength over all pictures of a category, originals included."""
    strength, category = graded.table.numbers("strength"), graded.table.texts("category")
    clean = graded.table.texts("distortion") == "none"
    tools = {column[5:]: graded.table.numbers(column) for column in graded.table.columns if column.startswith("tool:")}
    for name, values in {**tools, **learned}.items():
        known = np.isfinite(values)
        row = {
            wanted: round(abs(rank_correlation(values[mask], strength[mask])), 2)
            for wanted in CATEGORIES
            for mask in [known & ((category == wanted) | clean)]
        }
        print(f"  {name}: {row}")


if __name__ == "__main__":
    main()
