"""VIFp against the direct float64 version and piq."""

import numpy as np
import pytest

from iqa_sidecar.metrics.tool import ToolError

from .. import images
from . import oracles
from .direct import Array
from .levels import value

# piq 0.8.0 vif_p(data_range=255) on the rounded luma of the generated images.
PIQ = {1: (0.426767, 0.475381), 2: (0.43585, 0.456531)}


@pytest.mark.parametrize("seed", PIQ)
def test_agrees_with_piq(seed: int) -> None:
    photo = images.photo(seed)
    blurred, noisy = PIQ[seed]
    assert value("VIFp", images.blur(photo, 1.5), photo) == pytest.approx(blurred, abs=1e-4)
    assert value("VIFp", images.noise(photo, 12), photo) == pytest.approx(noisy, abs=1e-4)


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), 255 - photo):
        expected = vifp(oracles.luma(distorted), oracles.luma(photo))
        assert value("VIFp", distorted, photo) == pytest.approx(expected, abs=1e-4)


def test_more_contrast_than_the_reference_is_more_than_all_its_information() -> None:
    photo = images.contrast(images.photo(1), 0.5)
    assert value("VIFp", images.contrast(photo, 1.3), photo) > 1


def test_a_flat_reference_has_no_information_to_keep() -> None:
    flat = images.flat(90)
    assert value("VIFp", flat, flat) == 1
    with pytest.raises(ToolError, match="not defined for these pixels"):
        value("VIFp", images.noise(flat, 5), flat)


def vifp(image: Array, reference: Array) -> float:
    kept = available = 0.0
    for scale, side in enumerate((17, 9, 5, 3)):
        offsets = np.arange(side) - side // 2
        window = np.exp(-(offsets[:, None] ** 2 + offsets**2) / (2 * (side / 5) ** 2))
        window /= window.sum()
        if scale:
            image, reference = (_valid(plane, window)[::2, ::2] for plane in (image, reference))
        mean, other = _valid(image, window), _valid(reference, window)
        variance = np.maximum(_valid(image**2, window) - mean**2, 0)
        other_variance = np.maximum(_valid(reference**2, window) - other**2, 0)
        covariance = _valid(image * reference, window) - mean * other
        gain = covariance / (other_variance + 1e-10)
        residual = variance - gain * covariance
        gain[other_variance < 1e-10] = 0
        residual[other_variance < 1e-10] = variance[other_variance < 1e-10]
        gain[variance < 1e-10] = 0
        residual[variance < 1e-10] = 0
        residual[gain < 0] = variance[gain < 0]
        gain[gain < 0] = 0
        residual[residual <= 1e-10] = 1e-10
        kept += np.sum(np.log10(1 + gain**2 * other_variance / (residual + 2)))
        available += np.sum(np.log10(1 + other_variance / 2))
    return float(kept / available)


def _valid(plane: Array, window: Array) -> Array:
    windows = np.lib.stride_tricks.sliding_window_view(plane, window.shape)
    return np.asarray(np.einsum("ijkl,kl->ij", windows, window))
