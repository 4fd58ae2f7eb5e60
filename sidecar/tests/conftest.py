"""Fixtures: small images and running sidecars."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.sidecar_process import Sidecar

StartSidecar = Callable[..., Sidecar]


def encode_image(width: int, height: int, suffix: str = ".png", seed: int = 1) -> bytes:
    random = np.random.default_rng(seed)
    smooth = cv2.resize(
        random.integers(0, 256, (8, 8, 3), dtype=np.uint8), (width, height), interpolation=cv2.INTER_CUBIC
    )
    written, data = cv2.imencode(suffix, smooth)
    assert written
    return data.tobytes()


@pytest.fixture(scope="session")
def image() -> bytes:
    return encode_image(240, 200)


@pytest.fixture(scope="session")
def reference() -> bytes:
    return encode_image(240, 200, seed=2)


@pytest.fixture(scope="session")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sidecar]:
    """Shared by all tests of a pytest process, none of which may leave it changed."""
    running = Sidecar(tmp_path_factory.mktemp("sidecar"), "--workers", "2")
    yield running
    running.stop()


@pytest.fixture
def start_sidecar(tmp_path: Path) -> Iterator[StartSidecar]:
    running: list[Sidecar] = []

    def start(*options: str, **keywords: str) -> Sidecar:
        running.append(Sidecar(tmp_path, *options, **keywords))
        return running[-1]

    yield start
    for one in running:
        one.stop()
