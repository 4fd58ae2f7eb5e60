"""Finds and reads the fitted model files, in the package or in `IQA_MODELS_DIR` (for benchmarks)."""

from __future__ import annotations

import os
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PACKAGED = Path(__file__).parents[1] / "data"

Arrays = dict[str, NDArray[np.generic]]


def find_model_file(name: str) -> Path | None:
    """The file of this name, from the configured folder first; None if there is none.

    Without fallback if the configured folder does not exist, because that is a mistake.
    """
    configured = Path(os.environ.get("IQA_MODELS_DIR", "") or _PACKAGED)
    folders = [configured, _PACKAGED] if configured.exists() else []
    return next((folder / name for folder in folders if (folder / name).exists()), None)


@cache
def is_complete(path: Path) -> bool:
    """Whether the zip directory at its end is there. Cached: files do not change while the process runs."""
    return zipfile.is_zipfile(path)


@cache
def read_model_file(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
