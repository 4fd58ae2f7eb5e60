"""IW-SSIM against piq."""

import pytest

from .. import images
from .levels import value

# piq 0.8.0 information_weighted_ssim(data_range=255) on the rounded luma of the generated images: blurred, noisy.
PIQ = {(1, 256, 320): (0.952705, 0.965546), (2, 213, 185): (0.951954, 0.967839)}


@pytest.mark.parametrize("image", PIQ)
def test_agrees_with_piq(image: tuple[int, int, int]) -> None:
    photo = images.photo(*image)
    blurred, noisy = PIQ[image]
    assert value("IW-SSIM", images.blur(photo, 1.5), photo) == pytest.approx(blurred, abs=1e-5)
    assert value("IW-SSIM", images.noise(photo, 12), photo) == pytest.approx(noisy, abs=1e-5)


def test_what_happens_in_detail_counts_more_than_in_a_flat_area() -> None:
    photo = images.photo(1, 256, 512).copy()
    photo[:, 256:] = 128
    noisy = images.noise(photo, 8)
    in_detail, in_flat = photo.copy(), photo.copy()
    in_detail[:, :256], in_flat[:, 256:] = noisy[:, :256], noisy[:, 256:]
    loss = 1 - value("IW-SSIM", in_detail, photo), 1 - value("IW-SSIM", in_flat, photo)
    plain = 1 - value("MS-SSIM", in_detail, photo), 1 - value("MS-SSIM", in_flat, photo)
    assert loss[0] / loss[1] > plain[0] / plain[1]
