"""MS-GMSD against piq."""

import pytest

from .. import images
from .levels import value

# piq 0.8.0 multi_scale_gmsd(data_range=255) on the rounded luma of the generated images: blurred, noisy.
PIQ = {1: (0.062497, 0.052644), 2: (0.060043, 0.052673)}


@pytest.mark.parametrize("seed", PIQ)
def test_agrees_with_piq(seed: int) -> None:
    photo = images.photo(seed)
    blurred, noisy = PIQ[seed]
    assert value("MS-GMSD", images.blur(photo, 1.5), photo) == pytest.approx(blurred, abs=2e-6)
    assert value("MS-GMSD", images.noise(photo, 12), photo) == pytest.approx(noisy, abs=2e-6)
