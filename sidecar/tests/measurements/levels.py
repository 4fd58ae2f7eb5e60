"""One measurement over rising strengths of a distortion."""

from collections.abc import Iterable
from itertools import pairwise

from iqa_sidecar.imaging.image import Image
from iqa_sidecar.measurements import measure

from .. import images
from ..images import Pixels


def photo(seed: int) -> Pixels:
    return images.photo(seed, 384, 512)


def value(name: str, pixels: Pixels) -> float:
    measured = measure(Image(pixels), None)[name]
    assert measured is not None
    return measured


def assert_rises(name: str, graded: Iterable[Pixels]) -> list[float]:
    values = [value(name, pixels) for pixels in graded]
    assert all(left < right for left, right in pairwise(values)), values
    return values
