"""Network features: shape, reaction to distortions, scale, and that they are computed once per request."""

from itertools import accumulate

import numpy as np
import pytest
from numpy.typing import NDArray

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import run_tool
from iqa_sidecar.metrics.tool import Result, Tool
from iqa_sidecar.networks import features
from iqa_sidecar.networks.building.efficientnet import CHANNELS
from iqa_sidecar.networks.catalogue import EFFICIENTNET, Network
from iqa_sidecar.networks.features import FEATURE_COUNT, LARGEST_PIXELS, REGION_FEATURES, efficientnet_features
from iqa_sidecar.networks.runtime import run_network, unavailable_reason

from .. import images


@pytest.fixture(autouse=True)
def _weights() -> None:
    reason = unavailable_reason(EFFICIENTNET)
    if reason is not None:
        pytest.skip(reason)


# Of the whole image: each layer's means, then its deviations.
LAYERS = [slice(end - 2 * count, end) for count, end in zip(CHANNELS, accumulate(2 * c for c in CHANNELS), strict=True)]
# From efficientnet_lite_pytorch 0.1.0 under torch with the same weights: some features of five layers (the last depends
# on all others), and the norm of all.
COMPARED = [2, 4, 10, 15, 16]
PLACES = [0, 30, 60, 100, 200, 400, 700, 1500, 2500, 3500]
GOLDEN = {
    1: ([-0.27553, 7.47641, 0.2605, 7.20176, 4.24616, 1.38785, 1.57189, 0.28068, 0, 0], 106.2232),
    2: ([2.88139, 7.13597, 2.12883, 7.23854, 2.52061, 1.24478, 1.08014, 0.01578, 0, 0.05155], 102.53809),
}


@pytest.mark.parametrize("seed", GOLDEN)
def test_agrees_with_the_network_under_torch(seed: int) -> None:
    every = efficientnet_features(Image(images.photo(seed, 224, 224)))
    found = np.concatenate([every[LAYERS[layer]] for layer in COMPARED])
    values, length = GOLDEN[seed]
    np.testing.assert_allclose(found[PLACES], values, atol=2e-4)
    assert float(np.linalg.norm(found)) == pytest.approx(length, rel=1e-5)


def test_every_image_gives_the_same_number_of_features() -> None:
    for height, width in ((32, 32), (100, 333), (384, 512)):
        found = efficientnet_features(Image(images.photo(1, height, width)))
        assert found.shape == (FEATURE_COUNT,)
        assert np.isfinite(found).all()


def test_repeated_runs_agree_to_the_last_bit_and_distortions_do_not() -> None:
    photo = images.photo(2)
    first = efficientnet_features(Image(photo))
    np.testing.assert_array_equal(efficientnet_features(Image(photo.copy())), first)
    distances = [
        float(np.linalg.norm(efficientnet_features(Image(images.blur(photo, sigma))) - first)) for sigma in (0.5, 1, 2)
    ]
    assert 0 < distances[0] < distances[1] < distances[2]


def test_colours_are_distinguished() -> None:
    photo = images.photo(3)
    swapped = np.ascontiguousarray(photo[..., ::-1])
    assert not np.allclose(efficientnet_features(Image(photo)), efficientnet_features(Image(swapped)))


def test_deviations_of_a_flat_image_vanish_where_borders_are_far() -> None:
    deviations = slice(LAYERS[2].start + CHANNELS[2], LAYERS[2].stop)
    found = efficientnet_features(Image(images.flat(128, 256, 256)))[deviations]
    assert float(found.max()) < float(efficientnet_features(Image(images.photo(1)))[deviations].min())


def test_deviations_of_every_layer_shrink_with_contrast() -> None:
    photo = images.photo(1, 224, 224)
    faint = np.asarray(photo // 8 + 112, np.uint8)
    assert LAYERS[-1].stop == REGION_FEATURES
    strong, weak = (efficientnet_features(Image(image)) for image in (photo, faint))
    for count, layer in zip(CHANNELS, LAYERS, strict=True):
        deviations = slice(layer.start + count, layer.stop)
        assert float(weak[deviations].min()) >= 0
        assert float(weak[deviations].mean()) < float(strong[deviations].mean())


def test_the_second_half_describes_the_centre_alone() -> None:
    photo = images.photo(1, 320, 320)
    rim = images.noise(photo, 60)
    rim[32:-32, 32:-32] = photo[32:-32, 32:-32]
    before, after = (efficientnet_features(Image(image)) for image in (photo, rim))
    # The first blocks have a small receptive field, so that noise at the border does not reach the inner three fifths.
    early = LAYERS[2].stop
    moved = np.abs(before[:early] - after[:early]).max()
    unmoved = np.abs(before[REGION_FEATURES:][:early] - after[REGION_FEATURES:][:early]).max()
    assert unmoved == 0 < moved
    # A flat image is constant except for its border.
    flat = efficientnet_features(Image(images.flat(128, 320, 320)))
    assert float(flat[REGION_FEATURES + CHANNELS[0] : REGION_FEATURES + 2 * CHANNELS[0]].max()) < 1e-3


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shape of every batch that the network is run on."""
    shapes: list[tuple[int, ...]] = []

    def run(network: Network, pixels: NDArray[np.uint8]) -> dict[str, NDArray[np.float32]]:
        shapes.append(pixels.shape)
        return run_network(network, pixels)

    monkeypatch.setattr(features, "run_network", run)
    return shapes


def test_two_tools_of_one_request_share_them(batches: list[tuple[int, ...]]) -> None:
    pair = Pair(Image(images.photo(1)))
    for _ in range(2):
        head = Tool("Head", "1", False, 32, False, lambda its, _: Result(float(efficientnet_features(its.image)[0])))
        run_tool(head, pair, wants_map=False)
    assert len(batches) == 1


def test_a_large_image_is_reduced(batches: list[tuple[int, ...]]) -> None:
    efficientnet_features(Image(images.flat(90, 1500, 2000)))
    _count, height, width, _channels = batches[0]
    assert height * width <= LARGEST_PIXELS * 1.01
    assert width / height == pytest.approx(4 / 3, rel=0.01)
