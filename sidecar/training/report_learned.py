"""Cross-validates the learned tools by source image and prints the figures of the registry."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.learned.feature_pca import FeaturePca
from iqa_sidecar.learned.kernel_ridge import KernelRidge
from iqa_sidecar.learned.model_files import Arrays
from iqa_sidecar.learned.predictors import CATEGORIES, Standardizer, blend_by_domain, get_projection_layout
from training.datasets import TrainingSet, by_rank, read_graded, read_rated_pairs, read_rated_photos, scaled_strength
from training.fit_calibration import ANCHORS
from training.fit_learned import fit_full_reference, fit_graded_model, fit_photograph_model, fit_rated
from training.folds import agree, rank_correlation, split_groups
from training.kernel_ridge_fit import Matrix, build_rows, fit_pca, standardize

Numbers = NDArray[np.float64]
# Full-reference metrics that are not part of PanelIQA's labels.
OTHER_METRICS = ("PSNR", "SSIM", "MS-SSIM", "GMSD", "FSIM", "HaarPSI", "VIFp")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the tables and features of steps 1 and 2")
    arguments = parser.parse_args()
    photos, pairs = read_rated_photos(arguments.data), read_rated_pairs(arguments.data)
    alone, graded = (read_graded(arguments.data, with_reference) for with_reference in (False, True))
    by_photos, by_graded = validate_no_reference(photos, alone)
    quality = blend(by_photos)
    print("LiteIQA on rated photographs:", agree(quality, photos.labels))
    both = np.concatenate([quality, blend(by_graded)]), np.concatenate([photos.labels, alone.labels])
    # Both sets have the same weight.
    weights = np.concatenate([np.full(len(dataset.labels), 1 / len(dataset.labels)) for dataset in (photos, alone)])
    print("  spread on photographs", spread(quality, photos.labels), "on both", spread(*both, weights))
    # Two folds: the smallest training set that is reported.
    rated = validate(pairs, fit_rated, folds=2)[:, 0]
    print(
        "PanelIQA-R on rated pairs:", agree(rated, pairs.labels), "spread", spread(rated, np.clip(pairs.labels, 1, 5))
    )
    with_reference = validate(graded, fit_full_reference)
    grades = scaled_strength(graded.table)
    print("PanelIQA on graded distortions:", agree(with_reference[:, 0], grades))
    print("  spread of the median metric", spread_of_metrics(with_reference[:, 0], graded))
    for name, strengths, dataset in (
        ("no reference", by_graded[:, 3:], alone),
        ("full reference", with_reference[:, 1:], graded),
    ):
        report_originals(name, strengths, dataset)
    report_strengths({"LiteIQA": blend(by_graded)}, alone)
    report_strengths({"PanelIQA": with_reference[:, 0], "PanelIQA-R": predict_all(fit_rated(pairs), graded)}, graded)


def validate_no_reference(photos: TrainingSet, graded: TrainingSet) -> tuple[Numbers, Numbers]:
    """All outputs for both sets, each image predicted by a model that was trained without it and its original."""
    answers = [np.zeros((len(dataset.labels), 3 + len(CATEGORIES))) for dataset in (photos, graded)]
    for (learn_a, test_a), (learn_b, test_b) in zip(
        split_groups(photos.groups), split_groups(graded.groups), strict=True
    ):
        training = photos.where(learn_a), graded.where(learn_b)
        pca = fit_pca(np.concatenate([training[0].features, training[1].features[::4]]))
        models = fit_photograph_model(pca, training[0]), fit_graded_model(pca, *training)
        for answer, dataset, test in zip(answers, (photos, graded), (test_a, test_b), strict=True):
            answer[test] = np.concatenate([predict_no_reference(one, pca, dataset.where(test)) for one in models], 1)
    return answers[0], answers[1]


def predict_no_reference(arrays: Arrays, pca: FeaturePca, dataset: TrainingSet) -> Matrix:
    model = KernelRidge.from_arrays(arrays)
    return model.predict(
        build_rows(pca, dataset.features, get_projection_layout(model), get_standardizer(arrays), dataset.measured)
    )


def blend(answers: Numbers) -> Numbers:
    return blend_by_domain(answers[:, 0], answers[:, 1], answers[:, 2])


def validate(dataset: TrainingSet, fit: Callable[[TrainingSet], Arrays], folds: int = 5) -> Numbers:
    answers: list[tuple[NDArray[np.bool_], Matrix]] = [
        (test, predict_all_outputs(fit(dataset.where(learn)), dataset.where(test)))
        for learn, test in split_groups(dataset.groups, folds)
    ]
    whole = np.zeros((len(dataset.labels), answers[0][1].shape[1]))
    for test, values in answers:
        whole[test] = values
    whole[:, 0] = np.clip(whole[:, 0], 1, 5)
    return whole


def predict_all_outputs(arrays: Arrays, dataset: TrainingSet) -> Matrix:
    return KernelRidge.from_arrays(arrays).predict(standardize(get_standardizer(arrays), dataset.compared))


def predict_all(arrays: Arrays, dataset: TrainingSet) -> Numbers:
    return np.clip(predict_all_outputs(arrays, dataset)[:, 0], 1, 5).astype(np.float64)


def get_standardizer(arrays: Arrays) -> Standardizer:
    return Standardizer(*(np.asarray(arrays[name], np.float32) for name in ("median", "center", "scale")))


def spread(predicted: Numbers, labels: Numbers, weights: Numbers | None = None) -> list[float]:
    """Deviation around predictions near 1, 2, 3, 4 and 5, so that eight of ten labels lie within 1.2816 of it."""
    each = np.ones_like(labels) if weights is None else weights
    near = [each * np.exp(-0.5 * ((predicted - level) / 0.5) ** 2) for level in (1, 2, 3, 4, 5)]
    sizes = [weighted_quantile(np.abs(predicted - labels), weight, 0.8) / 1.2816 for weight in near]
    return [round(size, 3) for size in sizes]


def spread_of_metrics(predicted: Numbers, graded: TrainingSet) -> list[float]:
    """Spread between the prediction and the median metric that is not part of its labels.

    PanelIQA has no ratings to compare with, and graded strengths are not ratings; other metrics are the next best.
    """
    originals = graded.table.texts("distortion") == "none"
    each = []
    for name in OTHER_METRICS:
        values = graded.table.numbers(f"tool:{name}") * ANCHORS[name].direction
        opinion = np.where(originals, 5.0, by_rank(values))
        each.append(spread(predicted, opinion))
    return [round(float(value), 3) for value in np.median(each, axis=0)]


def weighted_quantile(values: Numbers, weights: Numbers, share: float) -> float:
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), share * weights.sum())])


def report_originals(name: str, strengths: Numbers, graded: TrainingSet) -> None:
    clean = graded.table.texts("distortion") == "none"
    worst = strengths[clean].max(1)
    print(
        f"{name}: of {clean.sum()} originals {np.mean(worst < 2):.1%} show nothing worse than slight, "
        f"{np.mean(worst < 1):.1%} nothing"
    )


def report_strengths(learned: dict[str, Numbers], graded: TrainingSet) -> None:
    """Rank correlation with the graded strength over all images of a category, originals included."""
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
