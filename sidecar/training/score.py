"""Second step of a fit: adds tool values and measurements to every row of a manifest.

A scored table is a manifest too: scoring it again replaces the computed columns and keeps the others.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import cv2
import numpy as np

from iqa_sidecar.imaging.image import Image, Pair, UndecodableError
from iqa_sidecar.metrics import brisque
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError
from training.parallel import map_images
from training.tables import Table, write_rows

KINDS = ("tools", "measurements", "features")
MAX_PIXELS = 100_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("manifest", type=Path, help="CSV with at least the column file; reference is optional")
    parser.add_argument("folder", type=Path, help="where the manifest's files are")
    parser.add_argument("output", type=Path, help="CSV to write")
    parser.add_argument("--values", nargs="+", choices=KINDS, default=KINDS, help="what to compute (default all)")
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=list(TOOLS), help="which tools (default all)")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    table = Table.read([arguments.manifest])
    score = partial(score_row, folder=arguments.folder, kinds=tuple(arguments.values), tools=arguments.tools)
    scored = map_images(score, table.rows, arguments.processes)
    columns = list(dict.fromkeys([*table.columns, *(column for row in scored for column in row)]))
    write_rows(arguments.output, scored, columns)


def score_row(row: dict[str, str], folder: Path, kinds: tuple[str, ...], tools: list[str]) -> dict[str, object]:
    """Columns: `tool:NAME`, `measurement:name`, `feature:0` to `feature:35`. A missing value is an empty cell."""
    image = read_image(folder / row["file"])
    values: dict[str, object] = dict(row)
    if "tools" in kinds:
        reference = read_image(folder / row["reference"]) if row.get("reference") else None
        values |= {f"tool:{name}": value for name, value in run_tools(Pair(image, reference), tools).items()}
    if "measurements" in kinds:
        values |= {f"measurement:{name}": blank(value) for name, value in take_measurements(image).items()}
    if "features" in kinds:
        values |= {f"feature:{index}": blank(value) for index, value in enumerate(brisque.features(image))}
    return values


def read_image(path: Path) -> Image:
    """Converts other formats to PNG, as the service does."""
    data = path.read_bytes()
    if path.suffix.lower() == ".bmp":
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
        if pixels is None:
            raise UndecodableError(f"Expected a readable image but received {path}")
        return Image(pixels.astype(np.uint8))
    return Image.decode(data, MAX_PIXELS)


def run_tools(pair: Pair, names: list[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for name in names:
        tool = TOOLS[name]
        if tool.needs_reference and pair.reference is None:
            continue
        try:
            values[name] = run_tool(tool, pair, False).value
        except ToolError:
            values[name] = ""
    return values


def take_measurements(image: Image) -> dict[str, float | None]:
    # Imported here: tools can be fitted without the measurements.
    from iqa_sidecar.measurements import measure

    return dict(measure(image, None))


def blank(value: float | None) -> object:
    return "" if value is None or not np.isfinite(value) else float(value)


if __name__ == "__main__":
    main()
