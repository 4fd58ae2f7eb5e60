"""All measurements: complete, within documented ranges, repeatable, and never NaN."""

import math

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import CATALOGUE, measure

from .. import images
from ..images import Pixels

PHOTO = images.photo(1)
IMAGES: dict[str, Pixels] = {
    "photo": PHOTO,
    "black": images.flat(0),
    "white": images.flat(255),
    "grey": images.flat(128),
    "noise": images.noise(images.flat(128), 60),
    "salt": images.impulses(PHOTO, 0.9),
    "checks": np.kron([[0, 255] * 40, [255, 0] * 40] * 32, np.ones((4, 4)))[..., None].repeat(3, 2).astype(np.uint8),
    "one pixel": PHOTO[:1, :1],
    "one row": PHOTO[:1],
    "one column": PHOTO[:, :1],
    "two by two": PHOTO[:2, :2],
    "three by three": PHOTO[:3, :3],
    "five by four": PHOTO[:5, :4],
    "tiny": PHOTO[:17, :19],
    "ribbon": images.photo(1, 16, 4000),
    "blur": images.blur(PHOTO, 20),
    "sharp": images.sharpen(PHOTO, 8),
}  # fmt: skip


@pytest.mark.parametrize("kind", IMAGES)
def test_every_value_is_in_its_range_or_null(kind: str) -> None:
    values = measure(Image(IMAGES[kind]), None)
    assert list(values) == [measurement.name for measurement in CATALOGUE]
    for measurement in CATALOGUE:
        value = values[measurement.name]
        if value is not None:
            assert math.isfinite(value)
            assert measurement.minimum <= value <= (math.inf if measurement.maximum is None else measurement.maximum)


def test_a_photo_has_every_value_but_those_that_do_not_apply() -> None:
    values = measure(Image(PHOTO), None)
    assert {name for name, value in values.items() if value is None} == {
        "jpeg_quality",
        "jpeg_quality_estimate",
        "blur_direction_deg",
        "motion_blur_px",
    }


def test_repeated_measurements_agree_to_the_last_bit() -> None:
    first = measure(Image(PHOTO), None)
    # Kept alive, so that each image has another address.
    copies = [Image(PHOTO.copy()) for _ in range(4)]
    assert all(measure(copy, None) == first for copy in copies)


def test_the_catalogue_explains_itself() -> None:
    names = [measurement.name for measurement in CATALOGUE]
    assert len(set(names)) == len(names)
    assert all(measurement.unit and measurement.description for measurement in CATALOGUE)
