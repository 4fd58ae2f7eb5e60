"""The networks: what each is built from, whether set-up builds it by default, and where its file is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .building.weights import ALEXNET, DISTS_HEADS, EFFICIENTNET_LITE0, VGG16, WeightFile


@dataclass(frozen=True, slots=True)
class Network:
    name: str
    # Incremented by every change of the graph; part of the file's name, so that an outdated file is never used.
    version: str
    weights: tuple[WeightFile, ...]
    # Large and slow networks are built on request only.
    by_default: bool = True

    @property
    def file(self) -> Path:
        """In the configured folder, or in the default folder if only that has it."""
        name = f"{self.name}-{self.version}.onnx"
        return next(
            (folder / name for folder in model_folders() if (folder / name).exists()), model_folders()[0] / name
        )

    @property
    def command(self) -> str:
        """The command that builds the file."""
        return "npm run setup" if self.by_default else f"npm run setup -- --{self.name}"


LPIPS = Network("lpips", "1", (ALEXNET,))
EFFICIENTNET = Network("efficientnet-lite0", "3", (EFFICIENTNET_LITE0,))
DISTS = Network("dists", "1", (VGG16, DISTS_HEADS), by_default=False)

NETWORKS = (LPIPS, EFFICIENTNET, DISTS)


def model_folders() -> list[Path]:
    """Folders of the networks, the configured one first.

    Without fallback if the configured folder does not exist, because that is a mistake.
    """
    made = Path(__file__).parents[2] / ".models"
    configured = Path(os.environ.get("IQA_MODELS_DIR", "") or made)
    return list(dict.fromkeys([configured, made])) if configured.exists() else [configured]
