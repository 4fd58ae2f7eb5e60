"""The networks there are: what each is made from, whether set-up makes it unasked, and where its file lies."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .building.weights import ALEXNET, DISTS_HEADS, EFFICIENTNET_LITE0, VGG16, WeightFile


@dataclass(frozen=True, slots=True)
class Network:
    name: str
    # Raised by every change of the graph; part of the file's name, so that an outdated file is never run.
    version: str
    weights: tuple[WeightFile, ...]
    # What has to be asked for is large and slow.
    by_default: bool = True

    @property
    def file(self) -> Path:
        """In the configured folder, or, when only the other folder has it, there."""
        name = f"{self.name}-{self.version}.onnx"
        return next(
            (folder / name for folder in model_folders() if (folder / name).exists()), model_folders()[0] / name
        )

    @property
    def command(self) -> str:
        """What makes the file, for people."""
        return "npm run setup" if self.by_default else f"npm run setup -- --{self.name}"


LPIPS = Network("lpips", "1", (ALEXNET,))
EFFICIENTNET = Network("efficientnet-lite0", "3", (EFFICIENTNET_LITE0,))
DISTS = Network("dists", "1", (VGG16, DISTS_HEADS), by_default=False)

NETWORKS = (LPIPS, EFFICIENTNET, DISTS)


def model_folders() -> list[Path]:
    """Where networks lie, the configured folder first: a benchmark's folder need not repeat what is made already.

    A configured folder that is not there is a mistake to be seen: nothing is taken from elsewhere then.
    """
    made = Path(__file__).parents[2] / ".models"
    configured = Path(os.environ.get("IQA_MODELS_DIR", "") or made)
    return list(dict.fromkeys([configured, made])) if configured.exists() else [configured]
