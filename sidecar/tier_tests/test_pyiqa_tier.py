"""The pyiqa tier: a sidecar in its own environment, tested with pyiqa metrics that need no weights.

`npm run test:pyiqa` creates the environment and runs this; not part of `npm test`, because torch takes 6 GB.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest

from iqa_pyiqa.catalogue import PAPER_METRICS
from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from tests import images
from tests.sidecar_process import Sidecar, call

REFERENCE = images.photo(1, 256, 320)
DISTORTED = images.jpeg(REFERENCE, 20)


@pytest.fixture(scope="module")
def tier(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    folder = tmp_path_factory.mktemp("tier")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IQA_PYIQA_METRICS", "psnr,ssim,gmsd,vif")
        # No weights are mounted, even if this machine has some.
        patch.setenv("TORCH_HOME", str(folder / "torch"))
        patch.setenv("HF_HOME", str(folder / "huggingface"))
        python = os.environ["IQA_PYIQA_PYTHON"]
        options = ("--workers", "1", "--start-seconds", "600")
        running = Sidecar(folder, *options, extra_tools="iqa_pyiqa.tools", python=python)
    yield running
    running.stop()


def encode(pixels: images.Pixels) -> bytes:
    return cv2.imencode(".png", pixels)[1].tobytes()


def test_tools_without_weights_are_listed_with_the_reason(tier: Sidecar) -> None:
    listed = {tool["name"]: tool for tool in tier.client.get("/v1/tools").json()["tools"]}
    for metric in PAPER_METRICS:
        tool = listed[metric.name]
        assert tool["available"] is False
        assert "weights are not mounted" in tool["reason"]
        assert (tool["needs_reference"], tool["min_side"]) == (metric.needs_reference, metric.min_side)
    assert all(listed[f"pyiqa:{name}"]["available"] for name in ("psnr", "ssim", "gmsd", "vif"))


def test_nothing_is_downloaded(tier: Sidecar) -> None:
    assert not list(Path(tier.marks).rglob("*.pth*"))


def test_values_are_those_of_the_library(tier: Sidecar) -> None:
    lines = measure(tier, "pyiqa:psnr", "pyiqa:ssim", "pyiqa:gmsd", "pyiqa:vif")
    assert all(line["error"] is None for line in lines)
    psnr, ssim, gmsd, vif = (line["value"] for line in lines)
    pair = Pair(Image(DISTORTED), Image(REFERENCE))
    assert psnr == pytest.approx(run_tool(TOOLS["PSNR"], pair, wants_map=False).value, rel=1e-4)
    assert gmsd == pytest.approx(run_tool(TOOLS["GMSD"], pair, wants_map=False).value, rel=0.02)
    assert 0 < ssim < 1
    assert 0 < vif < 1


def test_repeated_runs_agree(tier: Sidecar) -> None:
    first, second = (measure(tier, "pyiqa:ssim", "pyiqa:vif") for _ in range(2))
    assert [line["value"] for line in first] == [line["value"] for line in second]


def test_a_tool_without_weights_fails_alone(tier: Sidecar) -> None:
    missing, fine = measure(tier, "MUSIQ", "pyiqa:psnr")
    assert missing["error"]["code"] == "TOOL_UNAVAILABLE"
    assert fine["error"] is None


def measure(tier: Sidecar, *tools: str) -> list[dict[str, Any]]:
    lines = tier.measure(encode(DISTORTED), encode(REFERENCE), tools=[call(tool) for tool in tools])
    return [line for line in lines if line["event"] == "tool"]
