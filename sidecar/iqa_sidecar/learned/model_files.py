"""Where the fitted files lie: in the package, or in `IQA_MODELS_DIR`, so that a benchmark can bring its own."""

from __future__ import annotations

import os
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_PACKAGED = Path(__file__).parents[1] / "data"

Arrays = dict[str, NDArray[np.generic]]


def find_fitted(name: str) -> Path | None:
    """The file of this name, the configured folder's first; None where nobody has fitted it.

    A configured folder that is not there is a mistake to be seen: nothing is taken from elsewhere then.
    """
    configured = Path(os.environ.get("IQA_MODELS_DIR", "") or _PACKAGED)
    folders = [configured, _PACKAGED] if configured.exists() else []
    return next((folder / name for folder in folders if (folder / name).exists()), None)


@cache
def is_whole(path: Path) -> bool:
    """Whether its end is there, where it lists what it holds; looked at once, since files do not change under us."""
    return zipfile.is_zipfile(path)


@cache
def read_fitted(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
