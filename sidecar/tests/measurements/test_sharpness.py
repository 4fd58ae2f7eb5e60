"""Sharpness falls with blur."""

import pytest

from .. import images
from ..seeds import SEEDS
from .levels import assert_rises, photo


@pytest.mark.parametrize("seed", SEEDS)
def test_falls_with_blur(seed: int) -> None:
    sharp = photo(seed)
    assert_rises("sharpness", [*(images.blur(sharp, sigma) for sigma in (6, 4.5, 3.2, 2.2, 1.5, 1, 0.6)), sharp])
