"""What the fitted machines see: how good a picture is and which distortions it shows, alone or beside its reference."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..imaging.image import Pair, Picture
from ..measurements import Measurement
from ..networks.catalogue import EFFICIENTNET
from ..networks.features import SMALLEST_SIDE, Features, efficientnet_features
from ..networks.runtime import find_obstacle as find_network_obstacle
from .feature_pca import LAYERS, View
from .features import compared_row, measured_row
from .kernel_ridge import KernelMachine
from .model_files import find_fitted, is_whole, read_fitted

# The closed list of the service, in the order of the fitted files.
CATEGORIES = ("Blurs", "Color distortions", "Compression", "Noise", "Brightness change", "Sharpness", "Contrast")

VIEW_FILE = "feature_pca.npz"
ALONE_FILE = "nr_graded.npz"
PHOTOS_FILE = "nr_photographs.npz"
ALONE_FILES = (VIEW_FILE, ALONE_FILE, PHOTOS_FILE)
BESIDE_FILE = "fr_graded.npz"
RATED_FILE = "fr_tid2013.npz"

Row = NDArray[np.float32]

# The five strengths that taught lie 0.5 to 4.5 from nothing, the qualities 5 to 1.
_STRENGTH_PER_LEVEL = 1.125
# Of 0.5 to 0.8 all came out alike.
_TRUST_IN_LOSS = 0.7
_NEXT_TO_NOTHING = 0.3


def measurement_name(category: str) -> str:
    return f"seen_{category.lower().replace(' ', '_')}"


MEASUREMENTS = tuple(
    Measurement(
        measurement_name(category),
        "strength",
        0,
        5,
        f"how much of {category} a fitted machine sees, beside a reference by comparing: "
        "slight from 1, moderate from 2, severe from 3, extreme from 4",
    )
    for category in CATEGORIES
)


@dataclass(frozen=True, slots=True)
class Seen:
    # 1..5.
    quality: float
    # 0 none … 5 spoils the picture.
    strengths: dict[str, float]


def see_alone(picture: Picture) -> Seen:
    """Without a reference: two judges, one taught by photographs as people take them, one by graded distortions."""
    return picture.derive("seen-alone", _see_alone)


def _see_alone(picture: Picture) -> Seen:
    features, measured = efficientnet_features(picture), measured_row(picture)
    distorted, domain, *strengths = _ask_alone(ALONE_FILE, features, measured)
    (photographed,) = _ask_alone(PHOTOS_FILE, features, measured)
    return Seen(float(blend_judges(photographed, distorted, domain)), _named(strengths))


def blend_judges(photographed: ArrayLike, distorted: ArrayLike, domain: ArrayLike) -> NDArray[np.float64]:
    """Quality 1..5. Domain: how much it looks like the second judge's lessons; near 0 and 1 there is no doubt."""
    share = np.clip(np.asarray(domain, np.float64), 0, 1)
    share = share * share * (3 - 2 * share)
    blended = share * np.asarray(distorted, np.float64) + (1 - share) * np.asarray(photographed, np.float64)
    return np.clip(blended, 1, 5)


def _ask_alone(name: str, features: Features, measured: Row) -> list[float]:
    machine, standard = _load(_path_of(name))
    seen = _load_view(_path_of(VIEW_FILE)).project(features, *layout_of(machine))[0]
    row = np.concatenate([seen, standard.apply(measured)])
    answers: list[float] = machine.predict(row[None])[0].tolist()
    return answers


def layout_of(machine: KernelMachine) -> tuple[int, int]:
    """How many regions of the picture it looks at, by how many directions a layer; the last group are measurements."""
    starts = machine.kernel.starts
    return (len(starts) - 1) // len(LAYERS), int(starts[1])


def see_beside(pair: Pair) -> Seen:
    """With a reference; nothing here was taught by ratings of pairs."""
    return pair.share("seen-beside", lambda: _see_beside(pair))


def _see_beside(pair: Pair) -> Seen:
    if _is_identical(pair):
        return Seen(5.0, dict.fromkeys(CATEGORIES, 0.0))
    machine, standard = _load(_path_of(BESIDE_FILE))
    quality, *strengths = machine.predict(standard.apply(compared_row(pair))[None])[0].tolist()
    quality = _clip(quality)
    return Seen(quality, weigh_by_loss(_named(strengths), quality))


def weigh_by_loss(strengths: dict[str, float], quality: float) -> dict[str, float]:
    """Which flaw it is, the strengths say; how bad it is, the quality lost says better: all are moved towards it alike.

    Brightness and contrast are left alone: the metrics that quality rests on look at structure and hardly see them.
    """
    lead = max(strengths, key=lambda category: strengths[category])
    if lead in ("Brightness change", "Contrast"):
        return strengths
    lost = _STRENGTH_PER_LEVEL * (5 - quality)
    factor = 1 - _TRUST_IN_LOSS + _TRUST_IN_LOSS * lost / max(strengths[lead], _NEXT_TO_NOTHING)
    return {category: min(5.0, factor * value) for category, value in strengths.items()}


def rate_beside(pair: Pair) -> float:
    """With a reference, taught by people's ratings of pairs."""
    if _is_identical(pair):
        return 5.0
    machine, standard = _load(_path_of(RATED_FILE))
    return _clip(float(machine.predict(standard.apply(compared_row(pair))[None])[0, 0]))


def _is_identical(pair: Pair) -> bool:
    """Nothing was lost: no machine has to guess that."""
    return pair.reference is not None and np.array_equal(pair.image.bgr, pair.reference.bgr)


def find_obstacle(*names: str) -> str | None:
    """Why this cannot be seen here, or None; looks, but loads nothing."""
    for name in names:
        path = find_fitted(name)
        if path is None:
            return f"the fitted file {name} is not there"
        if not is_whole(path):
            return f"the fitted file {name} is damaged"
    return find_network_obstacle(EFFICIENTNET) if VIEW_FILE in names else None


def find_strengths(pair: Pair) -> dict[str, float | None]:
    """Of every category, as measurements; None where nothing was fitted or the picture is too small."""
    too_small = min(pair.image.width, pair.image.height) < SMALLEST_SIDE
    files = ALONE_FILES if pair.reference is None else (BESIDE_FILE,)
    found = None
    if not too_small and find_obstacle(*files) is None:
        found = (see_alone(pair.image) if pair.reference is None else see_beside(pair)).strengths
    return {measurement_name(category): None if found is None else found[category] for category in CATEGORIES}


@dataclass(frozen=True, slots=True)
class Standard:
    """Median, centre and scale of every input as the machine learned them."""

    median: Row
    center: Row
    scale: Row

    def apply(self, row: Row) -> Row:
        known = np.where(np.isfinite(row), row, self.median)
        # Beyond four deviations nothing was learned: such a value counts as the last that was.
        return np.asarray(np.clip((known - self.center) / self.scale, -4, 4), np.float32)


@cache
def _load(path: Path) -> tuple[KernelMachine, Standard]:
    arrays = read_fitted(path)
    standard = Standard(*(np.asarray(arrays[name], np.float32) for name in ("median", "center", "scale")))
    return KernelMachine.of(arrays), standard


@cache
def _load_view(path: Path) -> View:
    return View.of(read_fitted(path))


def _path_of(name: str) -> Path:
    path = find_fitted(name)
    if path is None:
        raise FileNotFoundError(f"Expected the fitted file {name} but it is not there")
    return path


def _clip(quality: float) -> float:
    return min(5.0, max(1.0, quality))


def _named(strengths: list[float]) -> dict[str, float]:
    return {category: min(5.0, max(0.0, value)) for category, value in zip(CATEGORIES, strengths, strict=True)}
