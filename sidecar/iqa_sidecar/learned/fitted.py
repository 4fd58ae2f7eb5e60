"""Where the fitted files lie: in the package, or in `IQA_MODELS_DIR`, so that a benchmark can bring its own."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PACKAGED = Path(__file__).parents[1] / "data"

Arrays = dict[str, NDArray[np.generic]]


def find_fitted(name: str) -> Path | None:
    """The file of this name, the configured folder's first; None where nobody has fitted it."""
    configured = os.environ.get("IQA_MODELS_DIR", "")
    folders = ([Path(configured)] if configured else []) + [_PACKAGED]
    return next((folder / name for folder in folders if (folder / name).exists()), None)


@cache
def read_fitted(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
