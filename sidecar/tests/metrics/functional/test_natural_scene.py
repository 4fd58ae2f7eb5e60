"""The statistics under NIQE and BRISQUE: fits on samples of known distributions, and exact zeros on flat areas."""

import cv2
import numpy as np
import pytest

from iqa_sidecar.metrics.functional.natural_scene import (
    fit_asymmetric,
    halve_bicubic,
    neighbour_products,
    normalise,
    sum_sides,
)


def test_the_fit_finds_shape_and_deviation_of_a_gaussian() -> None:
    values = np.random.default_rng(1).normal(0, 2, (400, 500)).astype(np.float32)
    fit = fit_asymmetric(sum_sides(values, 500))
    assert fit.shape[0] == pytest.approx(2, abs=0.03)
    assert fit.left[0] == pytest.approx(2, rel=0.01)
    assert fit.mean[0] == pytest.approx(0, abs=0.02)


def test_the_fit_distinguishes_the_sides_of_a_laplacian() -> None:
    values = np.random.default_rng(2).laplace(0, 1, (400, 500)).astype(np.float32)
    # Stretching one side must also stretch its share of the samples to stay an asymmetric Laplacian.
    values = np.where(np.random.default_rng(3).uniform(size=values.shape) < 0.75, 3 * np.abs(values), -np.abs(values))
    fit = fit_asymmetric(sum_sides(values.astype(np.float32), 500))
    assert fit.shape[0] == pytest.approx(1, abs=0.03)
    assert fit.right[0] / fit.left[0] == pytest.approx(3, rel=0.02)
    assert fit.mean[0] > 0


def test_blocks_are_fitted_one_by_one() -> None:
    values = np.random.default_rng(4).normal(0, 1, (96, 288)).astype(np.float32)
    values[:, 96:192] = 0
    together = fit_asymmetric(sum_sides(values, 96))
    alone = fit_asymmetric(sum_sides(values[:, 192:].copy(), 96))
    assert together.left[2] == pytest.approx(alone.left[0], rel=1e-5)
    assert np.isnan(together.shape).tolist() == [False, True, False]


@pytest.mark.parametrize("level", [0, 1, 77, 128, 254, 255])
def test_a_flat_area_is_exactly_zero(level: int) -> None:
    assert not normalise(np.full((40, 50), level, np.float32), cv2.BORDER_REPLICATE).any()


def test_products_wrap_inside_their_block() -> None:
    mscn = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    left, above, above_left, above_right = (product.tolist() for product in neighbour_products(mscn, mscn[-1], 2))
    assert left == [[2, 2, 12, 12], [30, 30, 56, 56]]
    assert above == [[5, 12, 21, 32], [5, 12, 21, 32]]
    assert above_left == above_right == [[6, 10, 24, 28], [10, 6, 28, 24]]


def test_sums_of_bands_add_up_to_those_of_the_whole() -> None:
    values = np.random.default_rng(5).normal(0, 1, (600, 64)).astype(np.float32)
    values[:3] = 0
    bands = sum_sides(values[:200], 64) + sum_sides(values[200:], 64)
    assert bands == pytest.approx(sum_sides(values, 64), rel=1e-6)
    assert bands[0] - bands[1] - bands[2] == 3 * 64


def test_normalising_in_bands_leaves_no_seam() -> None:
    luma = np.random.default_rng(6).uniform(0, 255, (300, 1024)).astype(np.float32)
    whole = normalise(luma, cv2.BORDER_REPLICATE)
    # Rows far from the upper edge do not depend on where the image was cut.
    assert (normalise(luma[60:], cv2.BORDER_REPLICATE)[10:] == whole[70:]).all()


def test_halving_keeps_levels_and_slopes() -> None:
    ramp = np.tile(np.arange(64, dtype=np.float32), (30, 1))
    half = halve_bicubic(ramp)
    assert half.shape == (15, 32)
    assert np.allclose(half[:, 4:-4], np.arange(0.5, 64, 2)[4:-4], atol=1e-4)
    assert (halve_bicubic(np.full((31, 33), 200, np.float32)) == 200).all()
