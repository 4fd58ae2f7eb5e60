"""VIF against a direct float64 version of the authors' steps."""

from collections.abc import Callable

import numpy as np
import pytest

from iqa_sidecar.metrics.functional import steerable_pyramid
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from . import oracles
from .direct import Array
from .levels import value


@pytest.mark.parametrize(("seed", "height", "width"), [(1, 256, 320), (2, 213, 185)])
def test_agrees_with_the_direct_version(seed: int, height: int, width: int) -> None:
    photo = images.photo(seed, height, width)
    for distorted in (images.blur(photo, 1.5), images.noise(photo, 12), 255 - photo):
        expected = vif(oracles.luma(distorted), oracles.luma(photo))
        assert value("VIF", distorted, photo) == pytest.approx(expected, abs=1e-4)


def test_a_flat_reference_has_no_information_to_keep() -> None:
    flat = images.flat(90)
    assert value("VIF", flat, flat) == 1
    with pytest.raises(ToolError, match="not defined for these pixels"):
        value("VIF", images.noise(flat, 5), flat)


def test_bands_are_blind_to_the_mean_and_turned_copies_of_each_other() -> None:
    photo = oracles.luma(images.photo(1, 128, 128)).astype(np.float32)
    for (vertical, horizontal), (other_vertical, other_horizontal) in zip(
        steerable_pyramid.build_bands(photo, 3),
        steerable_pyramid.build_bands(np.ascontiguousarray(photo.T) + 20, 3),
        strict=True,
    ):
        np.testing.assert_allclose(vertical, other_horizontal.T, atol=1e-3)
        np.testing.assert_allclose(horizontal, other_vertical.T, atol=1e-3)


def vif(image: Array, reference: Array) -> float:
    kept = available = 0.0
    pyramids = zip(_pyramid(image), _pyramid(reference), strict=True)
    for level, (bands, others) in enumerate(pyramids):
        side = 2 ** (4 - level) + 1
        for band, other in zip(bands, others, strict=True):
            height, width = (length // 3 * 3 for length in band.shape)
            numerator, denominator = _information(band[:height, :width], other[:height, :width], side)
            kept += numerator
            available += denominator
    return kept / available


def _pyramid(plane: Array) -> list[tuple[Array, Array]]:
    first, low, band = (getattr(steerable_pyramid, name).astype(np.float64) for name in ("_FIRST_LOW", "_LOW", "_BAND"))
    plane = _correlate(plane, first)
    levels = []
    for level in range(4):
        if level:
            plane = _correlate(plane, low)[::2, ::2]
        levels.append((_correlate(plane, band), _correlate(plane, band.T)))
    return levels


def _information(image: Array, reference: Array, side: int) -> tuple[float, float]:
    average: Callable[[Array], Array] = lambda plane: _correlate(plane, window)[1::3, 1::3]  # noqa: E731
    window = np.full((side, side), 1 / side**2)
    mean, other = average(image), average(reference)
    variance = np.maximum(average(image**2) - mean**2, 0)
    other_variance = np.maximum(average(reference**2) - other**2, 0)
    covariance = average(image * reference) - mean * other
    gain = covariance / (other_variance + 1e-15)
    noise = variance - gain * covariance
    noise[gain < 0] = variance[gain < 0]
    gain[gain < 0] = 0
    noise = np.maximum(noise, 1e-15)
    vectors = np.lib.stride_tricks.sliding_window_view(reference, (3, 3)).reshape(-1, 9)
    covariances = np.cov(vectors, rowvar=False, bias=True)
    blocks = reference.reshape(len(reference) // 3, 3, -1, 3).transpose(0, 2, 1, 3).reshape(*mean.shape, 9)
    field = np.einsum("ijk,kl,ijl->ij", blocks, np.linalg.inv(covariances), blocks) / 9
    edge = int(np.ceil((side - 1) / 2 / 3))
    gain, noise, field = (plane[edge:-edge, edge:-edge] for plane in (gain, noise, field))
    eigenvalues = np.linalg.eigvalsh(covariances)
    kept = sum(np.sum(np.log2(1 + gain**2 * field * value / (noise + 0.4))) for value in eigenvalues)
    return float(kept), float(sum(np.sum(np.log2(1 + field * value / 0.4)) for value in eigenvalues))


def _correlate(plane: Array, kernel: Array) -> Array:
    """Mirrored around the edge pixels."""
    padded = np.pad(plane, len(kernel) // 2, "reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel.shape)
    return np.asarray(np.einsum("ijkl,kl->ij", windows, kernel))
