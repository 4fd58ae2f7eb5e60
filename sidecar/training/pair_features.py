"""Second step of fitting learned tools: writes the pair features of every image in a manifest."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from iqa_sidecar.imaging.image import Pair
from iqa_sidecar.learned.pair_features import compare_images
from training.parallel import map_images
from training.score import read_image
from training.tables import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path, help="CSV with the columns file and reference")
    parser.add_argument("folder", type=Path, help="where the manifest's files are")
    parser.add_argument("output", type=Path, help="npz to write: names, and a row of numbers for each")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    rows = Table.read([arguments.manifest]).rows
    values = map_images(partial(compare_row, folder=arguments.folder), rows, arguments.processes)
    np.savez(arguments.output, names=np.array([row["file"] for row in rows]), values=np.stack(values))
    print(f"{len(rows)} pairs in {arguments.output}")


def compare_row(row: dict[str, str], folder: Path) -> NDArray[np.float32]:
    return compare_images(Pair(read_image(folder / row["file"]), read_image(folder / row["reference"])))


def read_pair_features(path: Path) -> dict[str, NDArray[np.float32]]:
    """By file name."""
    with np.load(path, allow_pickle=False) as arrays:
        return dict(zip(arrays["names"].tolist(), arrays["values"].astype(np.float32), strict=True))


if __name__ == "__main__":
    main()
