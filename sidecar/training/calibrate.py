"""`npm run calibrate`: fits calibrations for configs/tools.yaml to your own rated images, with figures and plots.

The manifest is a CSV file with the columns file and mos; reference (for tools that compare) and group (versions of one
image) are optional, and a column tool:NAME replaces running the tool.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np

from iqa_sidecar.imaging.image import TooManyPixelsError, UndecodableError
from iqa_sidecar.metrics.registry import TOOLS
from training.calibration_files import Calibrated, write_files
from training.fit_calibration import ANCHORS, predict_held_out
from training.folds import agree
from training.logistic import fit_curve
from training.parallel import map_images
from training.ratings import Split, choose_scale, group_rows, read_numbers, read_rated, read_split
from training.report_learned import spread
from training.score import score_row
from training.tables import Numbers, Table, write_rows

MIN_IMAGES = 20  # for five parameters
MIN_SPREAD = 0.1  # smaller spreads can be chance


def main() -> None:
    arguments = read_arguments()
    table = read_rated(arguments.manifest)
    names, left_out = choose_tools(table, arguments.tools)
    split = read_split(table, arguments.split)
    scale = choose_scale(read_numbers(table, "mos")[split.final], arguments.best, arguments.worst)
    arguments.output.mkdir(parents=True, exist_ok=True)
    table = score_missing(table, names, arguments.folder or arguments.manifest.parent, arguments.processes)
    write_rows(arguments.output / "scored.csv", [dict(row) for row in table.rows], table.columns)
    labels = scale.grade(read_numbers(table, "mos"))
    fitted = []
    for name in names:
        origin = f"ratings in {arguments.manifest.name}", f"{scale.said}; {split.said}"
        result = calibrate_tool(name, table, labels, split, origin)
        if isinstance(result, str):
            left_out[name] = result
            print(f"{name}: left out, {result}", flush=True)
        else:
            fitted.append(result)
            print(f"{name}: held out {result.agreement}", flush=True)
    if not fitted:
        raise SystemExit(
            f"No tool could be calibrated: {'; '.join(f'{name}: {why}' for name, why in left_out.items())}"
        )
    write_files(arguments.output, fitted, left_out)
    print(f"{arguments.output / 'rows.yaml'} has the rows for configs/tools.yaml, report.md the figures")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="npm run calibrate --",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--manifest", type=Path, required=True, help="CSV file")
    parser.add_argument("--folder", type=Path, help="where the images are (default: the manifest's folder)")
    parser.add_argument("--output", type=Path, required=True, help="folder to write into")
    parser.add_argument("--tools", nargs="+", choices=ANCHORS, help="default: all that the manifest allows")
    parser.add_argument("--split", default="5", help="number of folds by group, or a column that says train or test")
    parser.add_argument("--best", type=float, help="the rating that counts as 5 (default: the 98th percentile)")
    parser.add_argument("--worst", type=float, help="the rating that counts as 1 (default: the 2nd percentile)")
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


def choose_tools(table: Table, wanted: list[str] | None) -> tuple[list[str], dict[str, str]]:
    """The tools that have values or can be run, and why the others are left out."""
    has_references = any(row.get("reference") for row in table.rows)
    chosen, left_out = [], {}
    for name in wanted or ANCHORS:
        reason = TOOLS[name].unavailable_reason()
        if f"tool:{name}" in table.columns:
            chosen.append(name)
        elif TOOLS[name].needs_reference and not has_references:
            left_out[name] = "it compares with a reference and the manifest names none"
        elif reason is not None:
            left_out[name] = f"it cannot be run: {reason}"
        else:
            chosen.append(name)
    for name, reason in left_out.items():
        if wanted:
            raise SystemExit(f"Expected tools that can be run for --tools but received {name}: {reason}")
    return chosen, left_out


def score_missing(table: Table, names: list[str], folder: Path, processes: int) -> Table:
    missing = [name for name in names if f"tool:{name}" not in table.columns]
    if not missing:
        return table
    for row in table.rows:
        for column in ("file", "reference"):
            if row.get(column) and not (folder / row[column]).is_file():
                raise SystemExit(f"Expected the manifest's images in {folder} but {row[column]} is not there")
    print(f"Running {', '.join(missing)} on {len(table)} images", flush=True)
    try:
        scored = map_images(partial(score_or_explain, folder=folder, tools=missing), table.rows, processes)
    except ValueError as error:
        raise SystemExit(str(error)) from error
    rows = [{column: str(value) for column, value in row.items()} for row in scored]
    columns = [*table.columns, *(f"tool:{name}" for name in missing)]
    return Table([{column: row.get(column, "") for column in columns} for row in rows])


def score_or_explain(row: dict[str, str], folder: Path, tools: list[str]) -> dict[str, object]:
    try:
        return score_row(row, folder, ("tools",), tools)
    except (UndecodableError, TooManyPixelsError) as error:
        raise ValueError(
            f"Expected PNG, JPEG or BMP images but {row['file']} or its reference is not: {error}"
        ) from error


def calibrate_tool(name: str, table: Table, labels: Numbers, split: Split, origin: tuple[str, str]) -> Calibrated | str:
    """The fit, or the reason why there is none. The counts go between the parts of `origin`."""
    values, anchors, groups = read_numbers(table, f"tool:{name}"), ANCHORS[name], group_rows(table)
    known = np.isfinite(values) & np.isfinite(labels)
    for training, _test in split.parts:
        rows = training & known
        if rows.sum() < MIN_IMAGES or np.ptp(values[rows]) == 0:
            return f"the fit needs {MIN_IMAGES} images with different values but has {rows.sum()}"
    held_out = predict_held_out(values, labels, known, split.parts, anchors)
    tested, final = known & np.isfinite(held_out), known & split.final
    if tested.sum() < 2:
        return "no images with values are held out"
    sizes = [max(MIN_SPREAD, size) for size in spread(held_out[tested], labels[tested])]
    counts = f"{final.sum()} images in {len(set(groups[final].tolist()))} groups"
    return Calibrated(
        name,
        fit_curve(values[final], labels[final], anchors),
        anchors,
        sizes,
        agree(held_out[tested], labels[tested]),
        f"{origin[0]}: {counts}, {origin[1]}",
        values[known],
        labels[known],
    )


if __name__ == "__main__":
    main()
