"""First step of a fit: writes graded distortions of pristine photos (deterministic) and their manifest."""

from __future__ import annotations

import argparse
import re
import zlib
from pathlib import Path

import cv2
import numpy as np

from training.distortions import DISTORTIONS, Pixels
from training.tables import write_rows

MANIFEST_COLUMNS = ("file", "reference", "distortion", "category", "strength", "group")
# In the names of black-and-white images.
GRAY_MARK = "-gray"
# Distortions that change little or nothing without colour.
OF_COLOUR = (
    *("saturation_loss", "saturation_gain", "colour_cast", "colour_fringes"),
    *("chroma_noise", "mixed_noise", "two_at_once"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder for the PNG files and manifest.csv")
    parser.add_argument("pristine", type=Path, nargs="+", help="folders of pristine PNG photos")
    parser.add_argument(
        "--limit",
        type=int,
        default=60,
        help="photos of each folder to distort, evenly picked by name (default 60); of others the original alone",
    )
    parser.add_argument(
        "--skip", type=re.compile, default=re.compile("(?!)"), help="expression of names that are not photos"
    )
    parser.add_argument(
        "--gray", type=int, default=0, help="every so many distorted photos also without colour (default 0: none)"
    )
    parser.add_argument("--strengths", type=int, default=5, help="of the five strengths, so many by chance (default 5)")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for folder in arguments.pristine:
        paths = sorted(folder.glob("*.png"))
        chosen = pick_evenly(paths, arguments.limit)
        also_gray = set(chosen[:: arguments.gray]) if arguments.gray else set()
        for path in paths:
            if not arguments.skip.match(path.stem):
                strengths = arguments.strengths if path in chosen else 0
                group = f"{folder.name}-{path.stem}"
                rows += distort_photo(path, group, arguments.output, strengths)
                rows += distort_photo(path, group, arguments.output, strengths, gray=True) if path in also_gray else []
    write_rows(arguments.output / "manifest.csv", rows, MANIFEST_COLUMNS)
    print(f"{len(rows)} images of {len({row['group'] for row in rows})} photos in {arguments.output}")


def pick_evenly(paths: list[Path], limit: int) -> list[Path]:
    if len(paths) <= limit:
        return paths
    return [paths[index * len(paths) // limit] for index in range(limit)]


def distort_photo(path: Path, group: str, output: Path, strengths: int, gray: bool = False) -> list[dict[str, object]]:
    """Strength 0 is the photo itself, so that every fit has clean images too."""
    photo = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if photo is None:
        raise SystemExit(f"Expected a readable PNG but received {path}")
    pixels = photo.astype(np.uint8)
    if gray:
        pixels = in_three_channels(np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8))
    stem = f"{group}{GRAY_MARK}" if gray else group
    reference = f"{stem}.png"
    save(output / reference, pixels)
    rows: list[dict[str, object]] = [manifest_row(reference, reference, "none", "", 0, group)]
    for name, (category, distort, levels) in DISTORTIONS.items():
        if gray and name in OF_COLOUR:
            continue
        seed = zlib.crc32(f"{group}/{name}".encode())
        chosen = sorted(np.random.default_rng(seed + 1).choice(5, strengths, replace=False).tolist())
        for strength, level in ((index + 1, levels[index]) for index in chosen):
            # One seed per photo and distortion: directions and noise patterns stay the same from strength to strength.
            generator = np.random.default_rng(seed)
            file = f"{stem}_{name}_{strength}.png"
            distorted = distort(pixels, level, generator)
            # One channel, because the mean of three would have weaker noise.
            save(output / file, in_three_channels(distorted[..., 1]) if gray else distorted)
            rows.append(manifest_row(file, reference, name, category, strength, group))
    return rows


def in_three_channels(plane: Pixels) -> Pixels:
    return np.asarray(cv2.cvtColor(plane, cv2.COLOR_GRAY2BGR), np.uint8)


def manifest_row(*values: object) -> dict[str, object]:
    return dict(zip(MANIFEST_COLUMNS, values, strict=True))


def save(path: Path, image: Pixels) -> None:
    cv2.imwrite(str(path), image, [cv2.IMWRITE_PNG_COMPRESSION, 1])


if __name__ == "__main__":
    main()
