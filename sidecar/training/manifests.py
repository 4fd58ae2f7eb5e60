"""Writes manifests of rated data sets and of clean photos, so that score.py reads them like the synthetic set."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import scipy.io

from training.tables import Table, write_rows

TID_COLUMNS = ("file", "reference", "distortion", "category", "strength", "group", "mos")
LIVE_COLUMNS = ("file", "group", "mos")
CLEAN_COLUMNS = ("file", "distortion", "strength", "group")

# TID2013's 24 types by number; only those with a clear category have one.
TID_CATEGORIES = {
    **dict.fromkeys(range(1, 8), "Noise"),
    8: "Blurs",
    10: "Compression",
    11: "Compression",
    16: "Brightness change",
    17: "Contrast",
    18: "Color distortions",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", choices=("tid2013", "live-challenge", "clean"))
    parser.add_argument(
        "folder", type=Path, help="the data set's own folder; file names in the manifest are relative to it"
    )
    parser.add_argument("manifest", type=Path, help="CSV file to write")
    parser.add_argument("--images", default="*", help="clean: pattern of the files below the folder")
    parser.add_argument("--used", type=Path, help="clean: a manifest of distort.py whose photos are left out")
    parser.add_argument("--skip", type=re.compile, default=re.compile("(?!)"), help="clean: names that are not photos")
    arguments = parser.parse_args()
    if arguments.dataset == "tid2013":
        write_rows(arguments.manifest, list_tid2013(arguments.folder), TID_COLUMNS)
    elif arguments.dataset == "clean":
        used = set(Table.read([arguments.used]).texts("group").tolist()) if arguments.used else set()
        write_rows(
            arguments.manifest, list_clean(arguments.folder, arguments.images, arguments.skip, used), CLEAN_COLUMNS
        )
    else:
        write_rows(arguments.manifest, list_live_challenge(arguments.folder), LIVE_COLUMNS)


def list_tid2013(folder: Path) -> list[dict[str, object]]:
    """File names come in mixed case, differently in the list and on disk. MOS runs 0 (bad) to 9."""
    distorted = {path.name.lower(): path for path in (folder / "distorted_images").iterdir()}
    references = {path.stem.lower(): path for path in (folder / "reference_images").iterdir()}
    rows: list[dict[str, object]] = []
    for line in (folder / "mos_with_names.txt").read_text().split("\n"):
        match = re.fullmatch(r"\s*([\d.]+)\s+((i\d\d)_(\d\d)_(\d)\.bmp)\s*", line.lower())
        if match is None:
            continue
        mos, name, reference, kind, level = match.groups()
        values = (
            distorted[name].relative_to(folder),
            references[reference].relative_to(folder),
            f"tid-{kind}",
            TID_CATEGORIES.get(int(kind), ""),
            level,
            reference,
            mos,
        )
        rows.append(dict(zip(TID_COLUMNS, values, strict=True)))
    return rows


def list_live_challenge(folder: Path) -> list[dict[str, object]]:
    """Every photo is its own group. MOS runs 0 (bad) to 100; the seven training images t1 to t7 are left out."""
    names = scipy.io.loadmat(str(folder / "Data" / "AllImages_release.mat"))["AllImages_release"].ravel()
    scores = scipy.io.loadmat(str(folder / "Data" / "AllMOS_release.mat"))["AllMOS_release"].ravel()
    rows: list[dict[str, object]] = []
    for cell, mos in zip(names, scores, strict=True):
        name = str(cell[0])
        if not re.fullmatch(r"t\d\.bmp", name):
            rows.append(dict(zip(LIVE_COLUMNS, (f"Images/{name}", name, float(mos)), strict=True)))
    return rows


def list_clean(folder: Path, pattern: str, skip: re.Pattern[str], used: set[str]) -> list[dict[str, object]]:
    """Groups are named as in distort.py, or by the file alone: TID2013 names a group after its reference."""
    rows: list[dict[str, object]] = []
    for path in sorted(folder.glob(pattern)):
        if f"{path.parent.name}-{path.stem}" not in used and not skip.match(path.stem):
            values = (path.relative_to(folder), "none", 0, path.stem.lower())
            rows.append(dict(zip(CLEAN_COLUMNS, values, strict=True)))
    return rows


if __name__ == "__main__":
    main()
