"""Second step of fitting learned tools: writes the network's features of every image in a manifest."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.networks.features import FEATURE_COUNT, efficientnet_features
from training.parallel import map_images
from training.score import read_image
from training.tables import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path, help="CSV with the column file; reference is optional")
    parser.add_argument("folder", type=Path, help="where the manifest's files are")
    parser.add_argument("output", type=Path, help="npz to write: names, and a row of half-precision features for each")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    table = Table.read([arguments.manifest])
    names = sorted({row[column] for row in table.rows for column in ("file", "reference") if row.get(column)})
    rows = map_images(partial(compute_features, folder=arguments.folder), names, arguments.processes)
    np.savez(arguments.output, names=np.array(names), features=np.stack(rows).astype(np.float16))
    print(f"{len(names)} images, {FEATURE_COUNT} features each, in {arguments.output}")


def compute_features(name: str, folder: Path) -> NDArray[np.float32]:
    return np.asarray(efficientnet_features(read_image(folder / name)))


def read_features(path: Path) -> dict[str, NDArray[np.float32]]:
    """By file name."""
    with np.load(path, allow_pickle=False) as arrays:
        return dict(zip(arrays["names"].tolist(), arrays["features"].astype(np.float32), strict=True))


if __name__ == "__main__":
    main()
