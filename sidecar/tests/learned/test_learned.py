"""The learned tools: identity, monotonicity, detection, and missing or damaged model files."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.learned import model_files, predictors
from iqa_sidecar.learned.features import MEASUREMENT_FACTORS, measurement_features, transform_measurements
from iqa_sidecar.learned.kernel_ridge import Kernel, KernelRidge, squared_distances
from iqa_sidecar.learned.pair_features import PAIR_FEATURES, compare_images
from iqa_sidecar.measurements import CATALOGUE
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError

from .. import images
from ..conftest import StartSidecar

LEARNED_FR = ("PanelIQA", "PanelIQA-R")
LEARNED = (*LEARNED_FR, "LiteIQA")
SEEDS = range(1, 9)
DAMAGES: dict[str, Callable[[images.Pixels, float], images.Pixels]] = {
    "blur": images.blur,
    "noise": images.noise,
    "jpeg": lambda photo, quality: images.jpeg(photo, int(quality)),
}
LEVELS = {"blur": (0.8, 1.6, 3.2, 6), "noise": (6, 14, 30, 60), "jpeg": (60, 25, 10, 4)}


@pytest.fixture(autouse=True)
def _there() -> None:
    for name in LEARNED:
        reason = TOOLS[name].unavailable_reason()
        if reason is not None:
            pytest.skip(reason)


def score(name: str, pixels: images.Pixels, reference: images.Pixels | None = None) -> float:
    other = None if reference is None else Image(reference)
    return run_tool(TOOLS[name], Pair(Image(pixels), other), False).value


@pytest.mark.parametrize("name", LEARNED_FR)
def test_identity_is_best_and_every_damage_costs(name: str) -> None:
    photo = images.photo(3)
    assert score(name, photo, photo.copy()) == 5
    for damaged in (images.blur(photo, 2), images.noise(photo, 15), images.jpeg(photo, 10)):
        assert 1 <= score(name, damaged, photo) < 4.9


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize("kind", ["blur", "noise", "jpeg"])
def test_scores_fall_with_the_level_of_damage(name: str, kind: str) -> None:
    """In the mean over photos, because a fitted model may err on one."""
    photos = [images.photo(seed) for seed in SEEDS]
    means = [
        sum(score(name, DAMAGES[kind](photo, level), photo if name in LEARNED_FR else None) for photo in photos)
        / len(photos)
        for level in LEVELS[kind]
    ]
    assert means[-1] < means[0] - 0.5
    # Below 1.5 the order is not defined.
    assert all(after < max(before, 1.5) for before, after in pairwise(means))


@pytest.mark.parametrize("name", LEARNED)
def test_unusual_images_have_a_score_or_an_error(name: str) -> None:
    odd = {
        "black": images.flat(0),
        "white": images.flat(255),
        "ribbon": images.photo(1, 48, 3000),
        "tiny": images.photo(1)[:8, :8],
        "odd sides": images.photo(1, 257, 193),
        "half black": np.vstack([images.flat(0), images.photo(1)]),
    }
    for label, pixels in odd.items():
        found = score_or_code(name, pixels, np.ascontiguousarray(pixels[::-1]) if name in LEARNED_FR else None)
        assert found in {"REGION_TOO_SMALL", "NOT_FINITE"} or 1 <= float(found) <= 5, label


def score_or_code(name: str, pixels: images.Pixels, reference: images.Pixels | None) -> float | str:
    try:
        return score(name, pixels, reference)
    except ToolError as error:
        return error.code


def test_a_flat_image_has_no_score() -> None:
    with pytest.raises(ToolError, match="not defined"):
        score("LiteIQA", images.flat(128))


@pytest.mark.parametrize("name", LEARNED)
def test_the_same_pixels_give_the_same_bits(name: str) -> None:
    photo = images.photo(5)
    damaged = images.noise(photo, 20)
    reference = photo if name in LEARNED_FR else None
    assert score(name, damaged, reference) == score(name, damaged.copy(), reference)


@pytest.mark.parametrize("with_reference", [True, False])
def test_the_applied_distortion_is_the_strongest(with_reference: bool) -> None:
    for category, kind, level in (("Blurs", "blur", 3), ("Noise", "noise", 30)):
        right = 0
        for seed in SEEDS:
            photo = images.photo(seed)
            found = predictors.detect_distortions(
                Pair(Image(DAMAGES[kind](photo, level)), Image(photo) if with_reference else None)
            )
            right += max(found, key=lambda name: found[name] or 0) == predictors.measurement_name(category)
        assert right >= (8 if with_reference else 7), category


def test_strengths_are_null_without_a_model_or_for_a_tiny_image(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [predictors.measurement_name(category) for category in predictors.CATEGORIES]
    assert predictors.detect_distortions(Pair(Image(images.photo(1)[:16, :16]))) == dict.fromkeys(names)
    monkeypatch.setattr(predictors, "find_model_file", lambda _name: None)
    assert predictors.detect_distortions(Pair(Image(images.photo(1)))) == dict.fromkeys(names)
    assert "nr_graded.npz" in (predictors.unavailable_reason(predictors.NR_GRADED_FILE) or "")


def test_a_configured_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged = model_files.find_model_file(predictors.FR_GRADED_FILE)
    assert packaged is not None
    monkeypatch.setenv("IQA_MODELS_DIR", str(tmp_path))
    assert model_files.find_model_file(predictors.FR_GRADED_FILE) == packaged
    (tmp_path / predictors.FR_GRADED_FILE).write_bytes(packaged.read_bytes())
    assert model_files.find_model_file(predictors.FR_GRADED_FILE) == tmp_path / predictors.FR_GRADED_FILE
    assert model_files.find_model_file("nothing.npz") is None


def test_a_missing_configured_folder_has_no_fallback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have been trained on images that a benchmark holds out."""
    monkeypatch.setenv("IQA_MODELS_DIR", str(tmp_path / "mistyped"))
    assert model_files.find_model_file(predictors.FR_GRADED_FILE) is None
    assert predictors.unavailable_reason(predictors.FR_GRADED_FILE) == "the fitted file fr_graded.npz is not there"


def test_a_damaged_file_makes_only_its_tool_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start_sidecar: StartSidecar, image: bytes, reference: bytes
) -> None:
    packaged = model_files.find_model_file(predictors.FR_GRADED_FILE)
    assert packaged is not None
    monkeypatch.setenv("IQA_MODELS_DIR", str(tmp_path))
    (tmp_path / predictors.FR_GRADED_FILE).write_bytes(packaged.read_bytes()[:-1000])
    sidecar = start_sidecar("--workers", "1")
    tools = {tool["name"]: tool for tool in sidecar.client.get("/v1/tools").json()["tools"]}
    assert (tools["PanelIQA"]["available"], tools["PanelIQA-R"]["available"]) == (False, True)
    assert "fr_graded.npz is damaged" in tools["PanelIQA"]["reason"]
    _first, measured, _end = sidecar.measure(image, reference, measurements=["Global"])
    assert measured["error"] is None
    assert measured["values"]["edge_width_px"] is not None
    assert measured["values"]["detected_blurs"] is None


def test_model_files_are_small_and_contain_no_objects() -> None:
    for name in (*predictors.NR_FILES, predictors.FR_GRADED_FILE, predictors.FR_TID2013_FILE):
        path = model_files.find_model_file(name)
        assert path is not None
        assert path.stat().st_size <= 2_000_000
        assert all(array.dtype != object for array in model_files.read_model_file(path).values())


def test_measurement_features_exist_and_are_nan_where_undefined() -> None:
    assert set(MEASUREMENT_FACTORS) <= {row.name for row in CATALOGUE}
    row = measurement_features(Image(images.photo(2)))
    assert row.shape == (len(MEASUREMENT_FACTORS),)
    assert np.isnan(transform_measurements(dict.fromkeys(MEASUREMENT_FACTORS))).all()


def test_pair_features_are_zero_for_equal_images_and_finite_for_unusual_ones() -> None:
    photo = images.photo(4)
    same = dict(zip(PAIR_FEATURES, compare_images(Pair(Image(photo), Image(photo.copy()))), strict=True))
    assert same["luma_shift"] == same["error_fine"] == same["lost_0"] == same["added_0"] == 0
    unusual = compare_images(Pair(Image(images.flat(0)), Image(images.flat(255))))
    assert np.isfinite(unusual).all()


def test_kernel_ridge_reproduces_the_labels_of_its_landmarks() -> None:
    landmarks = np.array([[0, 0, 0], [4, 0, 1], [0, 4, 2]], np.float32)
    kernel = Kernel(np.array([0, 2]), np.array([2, 2], np.float32), 2)
    labels = np.array([[1], [2], [4]], np.float32)
    weights = np.linalg.solve(kernel.evaluate(landmarks, landmarks), labels - 3)
    model = KernelRidge(kernel, landmarks, weights.astype(np.float32), np.array([3], np.float32))
    np.testing.assert_allclose(model.predict(landmarks), labels, atol=1e-5)
    # Far from all landmarks it predicts the offset.
    np.testing.assert_allclose(model.predict(np.full((1, 3), 99, np.float32)), [[3]], atol=1e-5)
    assert squared_distances(landmarks, landmarks).tolist()[0] == [0, 17, 20]


def test_kernel_is_a_mean_over_groups() -> None:
    rows, landmarks = np.array([[0, 0, 0]], np.float32), np.array([[3, 4, 2]], np.float32)
    kernel = Kernel(np.array([0, 2]), np.array([0.1, 0.5], np.float32), 3, exponent=1.5)
    expected = ((np.exp(-0.1 * 5**1.5) + np.exp(-0.5 * 2**1.5)) / 2) ** 3
    assert kernel.evaluate(rows, landmarks).item() == pytest.approx(expected, rel=1e-5)


def test_blend_follows_the_domain() -> None:
    assert predictors.blend_by_domain(2.0, 4.0, -0.2) == 2
    assert predictors.blend_by_domain(2.0, 4.0, 1.3) == 4
    assert predictors.blend_by_domain(2.0, 4.0, 0.5) == 3
    # Smoothstep: a small domain value changes little.
    assert 2 < predictors.blend_by_domain(2.0, 4.0, 0.1) < 2.1
    assert predictors.blend_by_domain([0.0, 7.0], [0.0, 7.0], 0.5).tolist() == [1, 5]


def test_strengths_move_towards_the_quality_loss() -> None:
    strengths = {**dict.fromkeys(predictors.CATEGORIES, 0.0), "Compression": 2.0, "Blurs": 1.0}
    worse, milder = (predictors.rescale_by_quality_loss(strengths, quality) for quality in (1.5, 4.9))
    assert worse["Compression"] > 2 > milder["Compression"] > 0
    for moved in (worse, milder):
        assert moved["Blurs"] == pytest.approx(moved["Compression"] / 2)
    assert max(predictors.rescale_by_quality_loss(dict.fromkeys(predictors.CATEGORIES, 0.01), 1).values()) < 0.2


@pytest.mark.parametrize("lead", ["Brightness change", "Contrast"])
def test_brightness_and_contrast_are_not_rescaled(lead: str) -> None:
    strengths = {**dict.fromkeys(predictors.CATEGORIES, 0.5), lead: 3.0}
    assert predictors.rescale_by_quality_loss(strengths, 5.0) == strengths
