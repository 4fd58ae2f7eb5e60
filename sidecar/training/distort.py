"""First step of a fit: graded distortions of pristine photos, the same pixels on every run, and their manifest."""

from __future__ import annotations

import argparse
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from training.tables import write_rows

Image = NDArray[np.uint8]
Distort = Callable[[Image, float, np.random.Generator], Image]

MANIFEST_COLUMNS = ("file", "reference", "distortion", "category", "strength", "group")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, help="folder for the PNG files and manifest.csv")
    parser.add_argument("pristine", type=Path, nargs="+", help="folders of pristine PNG photos")
    parser.add_argument(
        "--limit", type=int, default=60, help="photos of each folder, evenly picked by name (default 60)"
    )
    parser.add_argument(
        "--skip", type=re.compile, default=re.compile("(?!)"), help="expression of names that are not photos"
    )
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, object]] = []
    for folder in arguments.pristine:
        for path in pick_evenly(sorted(folder.glob("*.png")), arguments.limit):
            if not arguments.skip.match(path.stem):
                rows += distort_photo(path, f"{folder.name}-{path.stem}", arguments.output)
    write_rows(arguments.output / "manifest.csv", rows, MANIFEST_COLUMNS)
    print(f"{len(rows)} pictures of {len({row['group'] for row in rows})} photos in {arguments.output}")


def pick_evenly(paths: list[Path], limit: int) -> list[Path]:
    if len(paths) <= limit:
        return paths
    return [paths[index * len(paths) // limit] for index in range(limit)]


def distort_photo(path: Path, group: str, output: Path) -> list[dict[str, object]]:
    """Strength 0 is the photo itself, so that every fit sees clean pictures too."""
    photo = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if photo is None:
        raise SystemExit(f"Expected a readable PNG but received {path}")
    reference = f"{group}.png"
    save(output / reference, photo.astype(np.uint8))
    rows: list[dict[str, object]] = [manifest_row(reference, reference, "none", "", 0, group)]
    for name, (category, distort, levels) in DISTORTIONS.items():
        for strength, level in enumerate(levels, start=1):
            # One seed per photo and distortion: directions and noise patterns stay the same from strength to strength.
            generator = np.random.default_rng(zlib.crc32(f"{group}/{name}".encode()))
            file = f"{group}_{name}_{strength}.png"
            save(output / file, distort(photo.astype(np.uint8), level, generator))
            rows.append(manifest_row(file, reference, name, category, strength, group))
    return rows


def manifest_row(*values: object) -> dict[str, object]:
    return dict(zip(MANIFEST_COLUMNS, values, strict=True))


def save(path: Path, image: Image) -> None:
    cv2.imwrite(str(path), image, [cv2.IMWRITE_PNG_COMPRESSION, 1])


def to_bytes(values: ArrayLike) -> Image:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def decode(encoded: NDArray[np.uint8]) -> Image:
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    if image is None:
        raise SystemExit("Expected OpenCV to read what it has written but it could not")
    return np.asarray(image, np.uint8)


def gaussian_blur(image: Image, sigma: float, _: np.random.Generator) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.uint8)


def defocus_blur(image: Image, radius: float, _: np.random.Generator) -> Image:
    half = int(np.ceil(radius)) + 1
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    disc = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)  # a soft edge keeps fractional radii distinct
    return np.asarray(cv2.filter2D(image, -1, disc / disc.sum(), borderType=cv2.BORDER_REFLECT), np.uint8)


def motion_blur(image: Image, length: float, generator: np.random.Generator) -> Image:
    size = int(length) | 1
    line = np.zeros((size, size), np.float32)
    line[size // 2, :] = 1
    turn = cv2.getRotationMatrix2D((size // 2, size // 2), float(generator.uniform(0, 180)), 1.0)
    kernel = cv2.warpAffine(line, turn, (size, size))
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT), np.uint8)


def white_noise(image: Image, sigma: float, generator: np.random.Generator) -> Image:
    return to_bytes(image + generator.normal(0, sigma, image.shape))


def chroma_noise(image: Image, sigma: float, generator: np.random.Generator) -> Image:
    ycc = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2YCrCb)
    ycc[..., 1:] += generator.normal(0, sigma / 255, ycc[..., 1:].shape).astype(np.float32)
    return to_bytes(255 * cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR))


def impulse_noise(image: Image, fraction: float, generator: np.random.Generator) -> Image:
    draw = generator.random(image.shape[:2])
    noisy: Image = image.copy()
    noisy[draw < fraction / 2] = 0
    noisy[draw > 1 - fraction / 2] = 255
    return noisy


def jpeg(image: Image, quality: float, _: np.random.Generator) -> Image:
    return decode(np.asarray(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])[1], np.uint8))


def jpeg2000(image: Image, rate: float, _: np.random.Generator) -> Image:
    return decode(
        np.asarray(cv2.imencode(".jp2", image, [cv2.IMWRITE_JPEG2000_COMPRESSION_X1000, int(rate)])[1], np.uint8)
    )


def exposure(image: Image, stops: float, _: np.random.Generator) -> Image:
    """A camera's error: in linear light, with highlights clipped."""
    value = image / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4) * 2.0**stops
    encoded = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
    return to_bytes(255 * encoded)


def mean_shift(image: Image, offset: float, generator: np.random.Generator) -> Image:
    return to_bytes(image + offset * generator.choice([-1.0, 1.0]))


def contrast(image: Image, factor: float, _: np.random.Generator) -> Image:
    mean = image.mean()
    return to_bytes(mean + factor * (image - mean))


def saturation(image: Image, factor: float, _: np.random.Generator) -> Image:
    ycc = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2YCrCb)
    ycc[..., 1:] = 0.5 + factor * (ycc[..., 1:] - 0.5)
    return to_bytes(255 * cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR))


def colour_cast(image: Image, amount: float, generator: np.random.Generator) -> Image:
    """A wrong white balance: opposite gains along warm-cool or green-magenta, luma kept about the same."""
    blue_green_red = [(-1.0, 0.0, 1.0), (1.0, 0.0, -1.0), (-0.5, 0.5, -0.5), (0.6, -0.5, 0.6)][generator.integers(4)]
    return to_bytes(image * np.exp(amount * np.array(blue_green_red)))


def over_sharpening(image: Image, amount: float, _: np.random.Generator) -> Image:
    smooth = cv2.GaussianBlur(image, (0, 0), 1.2, borderType=cv2.BORDER_REFLECT).astype(np.float64)
    return to_bytes(image + amount * (image - smooth))


# name: (category, function, the parameter at strengths 1 to 5: from "seen when looked for" to "spoils the picture")
DISTORTIONS: dict[str, tuple[str, Distort, tuple[float, float, float, float, float]]] = {
    "gaussian_blur": ("Blurs", gaussian_blur, (0.8, 1.3, 2.0, 3.2, 5.0)),
    "defocus_blur": ("Blurs", defocus_blur, (1.2, 2.0, 3.5, 5.5, 9.0)),
    "motion_blur": ("Blurs", motion_blur, (5, 9, 15, 23, 35)),
    "white_noise": ("Noise", white_noise, (6, 11, 19, 32, 55)),
    "chroma_noise": ("Noise", chroma_noise, (8, 14, 24, 38, 60)),
    "impulse_noise": ("Noise", impulse_noise, (0.003, 0.01, 0.03, 0.07, 0.15)),
    "jpeg": ("Compression", jpeg, (45, 28, 17, 10, 5)),
    "jpeg2000": ("Compression", jpeg2000, (33, 18, 10, 6, 4)),
    "darker": ("Brightness change", exposure, (-0.7, -1.3, -2.0, -2.8, -3.8)),
    "brighter": ("Brightness change", exposure, (0.5, 0.9, 1.3, 1.8, 2.4)),
    "mean_shift": ("Brightness change", mean_shift, (15, 27, 42, 60, 85)),
    "contrast_loss": ("Contrast", contrast, (0.8, 0.64, 0.49, 0.34, 0.2)),
    "contrast_gain": ("Contrast", contrast, (1.2, 1.45, 1.8, 2.3, 3.0)),
    "saturation_loss": ("Color distortions", saturation, (0.7, 0.5, 0.32, 0.16, 0.0)),
    "saturation_gain": ("Color distortions", saturation, (1.4, 1.8, 2.4, 3.2, 4.5)),
    "colour_cast": ("Color distortions", colour_cast, (0.08, 0.15, 0.25, 0.38, 0.55)),
    "over_sharpening": ("Sharpness", over_sharpening, (1.0, 2.0, 3.5, 5.5, 8.0)),
}


if __name__ == "__main__":
    main()
