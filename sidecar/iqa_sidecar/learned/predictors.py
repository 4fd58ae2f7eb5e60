"""Predicts an image's quality and the strength of each distortion with the fitted kernel ridge models."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..imaging.image import Image, Pair
from ..measurements import Measurement
from ..networks.catalogue import EFFICIENTNET
from ..networks.features import SMALLEST_SIDE, Features, efficientnet_features
from ..networks.runtime import unavailable_reason as network_unavailable_reason
from .feature_pca import LAYERS, FeaturePca
from .features import measurement_features, pair_features
from .kernel_ridge import KernelRidge
from .model_files import find_model_file, is_complete, read_model_file

# In the order of the models' outputs; the service has the same list.
CATEGORIES = ("Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast")

PCA_FILE = "feature_pca.npz"
NR_GRADED_FILE = "nr_graded.npz"
NR_PHOTOGRAPHS_FILE = "nr_photographs.npz"
NR_FILES = (PCA_FILE, NR_GRADED_FILE, NR_PHOTOGRAPHS_FILE)
FR_GRADED_FILE = "fr_graded.npz"
FR_TID2013_FILE = "fr_tid2013.npz"

Row = NDArray[np.float32]

# The training strengths span 0.5 to 4.5 while the qualities span 5 to 1.
_STRENGTH_PER_QUALITY = 1.125
# Values from 0.5 to 0.8 gave the same accuracy.
_QUALITY_LOSS_WEIGHT = 0.7
# Keeps the factor finite when no distortion is detected.
_MIN_LEAD_STRENGTH = 0.3
# Structure-based metrics, and so the predicted quality, hardly react to these.
_UNSCALED_LEADS = ("Brightness change", "Contrast")


def measurement_name(category: str) -> str:
    return f"detected_{category.lower().replace(' ', '_')}"


MEASUREMENTS = tuple(
    Measurement(
        measurement_name(category),
        "strength",
        0,
        5,
        f"strength of {category} by a fitted detector, which compares with the reference if there is one: "
        "slight from 1, moderate from 2, severe from 3, extreme from 4",
    )
    for category in CATEGORIES
)


@dataclass(frozen=True, slots=True)
class Prediction:
    # 1..5, 5 is best.
    quality: float
    # By category, 0 (none) to 5.
    strengths: dict[str, float]


def predict_no_reference(image: Image) -> Prediction:
    return image.derive(_predict_no_reference)


def _predict_no_reference(image: Image) -> Prediction:
    features, measured = efficientnet_features(image), measurement_features(image)
    distorted, domain, *strengths = _predict_from_file(NR_GRADED_FILE, features, measured)
    (photographed,) = _predict_from_file(NR_PHOTOGRAPHS_FILE, features, measured)
    return Prediction(float(blend_by_domain(photographed, distorted, domain)), _by_category(strengths))


def blend_by_domain(photographed: ArrayLike, distorted: ArrayLike, domain: ArrayLike) -> NDArray[np.float64]:
    """Quality 1..5: the photograph model where `domain` is 0, the graded-distortion model where 1 (smoothstep)."""
    share = np.clip(np.asarray(domain, np.float64), 0, 1)
    share = share * share * (3 - 2 * share)
    blended = share * np.asarray(distorted, np.float64) + (1 - share) * np.asarray(photographed, np.float64)
    return np.clip(blended, 1, 5)


def _predict_from_file(name: str, features: Features, measured: Row) -> list[float]:
    model, standardizer = _load_model(_require_path(name))
    projected = _load_pca(_require_path(PCA_FILE)).project(features, *get_projection_layout(model))[0]
    row = np.concatenate([projected, standardizer.apply(measured)])
    outputs: list[float] = model.predict(row[None])[0].tolist()
    return outputs


def get_projection_layout(model: KernelRidge) -> tuple[int, int]:
    """The model's number of image regions and of components per layer; its last group is the measurements."""
    starts = model.kernel.starts
    return (len(starts) - 1) // len(LAYERS), int(starts[1])


def predict_full_reference(pair: Pair) -> Prediction:
    """By the model that was trained on graded distortions, without any human ratings."""
    return pair.share(_predict_full_reference)


def _predict_full_reference(pair: Pair) -> Prediction:
    if _is_identical(pair):
        return Prediction(5.0, dict.fromkeys(CATEGORIES, 0.0))
    model, standardizer = _load_model(_require_path(FR_GRADED_FILE))
    quality, *strengths = model.predict(standardizer.apply(pair_features(pair))[None])[0].tolist()
    quality = _clip_quality(quality)
    return Prediction(quality, rescale_by_quality_loss(_by_category(strengths), quality))


def rescale_by_quality_loss(strengths: dict[str, float], quality: float) -> dict[str, float]:
    """Scales all strengths by one factor, so that the strongest moves towards the lost quality.

    The detectors tell distortions apart better than they grade them; the quality grades better.
    """
    lead = max(strengths, key=lambda category: strengths[category])
    if lead in _UNSCALED_LEADS:
        return strengths
    expected = _STRENGTH_PER_QUALITY * (5 - quality)
    strength = max(strengths[lead], _MIN_LEAD_STRENGTH)
    factor = 1 - _QUALITY_LOSS_WEIGHT + _QUALITY_LOSS_WEIGHT * expected / strength
    return {category: min(5.0, factor * value) for category, value in strengths.items()}


def predict_rated(pair: Pair) -> float:
    """Quality 1..5 by the model that was trained on the human ratings of TID2013."""
    if _is_identical(pair):
        return 5.0
    model, standardizer = _load_model(_require_path(FR_TID2013_FILE))
    return _clip_quality(float(model.predict(standardizer.apply(pair_features(pair))[None])[0, 0]))


def _is_identical(pair: Pair) -> bool:
    return pair.reference is not None and np.array_equal(pair.image.bgr, pair.reference.bgr)


def unavailable_reason(*names: str) -> str | None:
    """Why these model files cannot be used, or None. Loads nothing."""
    for name in names:
        path = find_model_file(name)
        if path is None:
            return f"the fitted file {name} is not there"
        if not is_complete(path):
            return f"the fitted file {name} is damaged"
    return network_unavailable_reason(EFFICIENTNET) if PCA_FILE in names else None


def detect_distortions(pair: Pair) -> dict[str, float | None]:
    """Strengths as measurements; None without the model files, or if the image is too small."""
    too_small = min(pair.image.width, pair.image.height) < SMALLEST_SIDE
    files = NR_FILES if pair.reference is None else (FR_GRADED_FILE,)
    if too_small or unavailable_reason(*files) is not None:
        return {measurement_name(category): None for category in CATEGORIES}
    prediction = predict_no_reference(pair.image) if pair.reference is None else predict_full_reference(pair)
    return {measurement_name(category): prediction.strengths[category] for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Standardizer:
    """Median, centre and scale of every feature in the training set."""

    median: Row
    center: Row
    scale: Row

    def apply(self, row: Row) -> Row:
        known = np.where(np.isfinite(row), row, self.median)
        # Beyond four deviations there was no training data.
        return np.asarray(np.clip((known - self.center) / self.scale, -4, 4), np.float32)


@cache
def _load_model(path: Path) -> tuple[KernelRidge, Standardizer]:
    arrays = read_model_file(path)
    standardizer = Standardizer(*(np.asarray(arrays[name], np.float32) for name in ("median", "center", "scale")))
    return KernelRidge.from_arrays(arrays), standardizer


@cache
def _load_pca(path: Path) -> FeaturePca:
    return FeaturePca.from_arrays(read_model_file(path))


def _require_path(name: str) -> Path:
    path = find_model_file(name)
    if path is None:
        raise FileNotFoundError(f"Expected the fitted file {name} but it is not there")
    return path


def _clip_quality(quality: float) -> float:
    return min(5.0, max(1.0, quality))


def _by_category(strengths: list[float]) -> dict[str, float]:
    return {category: min(5.0, max(0.0, value)) for category, value in zip(CATEGORIES, strengths, strict=True)}
