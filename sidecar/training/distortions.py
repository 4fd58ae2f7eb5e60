"""The distortions of the synthetic set: each a function of pixels and one parameter, with its five strengths."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

Pixels = NDArray[np.uint8]
Distort = Callable[[Pixels, float, np.random.Generator], Pixels]


def to_bytes(values: ArrayLike) -> Pixels:
    return np.asarray(np.clip(np.rint(values), 0, 255), np.uint8)


def decode(encoded: NDArray[np.uint8]) -> Pixels:
    image = cv2.imdecode(encoded, cv2.IMREAD_COLOR)
    if image is None:
        raise SystemExit("Expected OpenCV to read what it has written but it could not")
    return np.asarray(image, np.uint8)


def gaussian_blur(image: Pixels, sigma: float, _: np.random.Generator) -> Pixels:
    return np.asarray(cv2.GaussianBlur(image, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.uint8)


def defocus_blur(image: Pixels, radius: float, _: np.random.Generator) -> Pixels:
    half = int(np.ceil(radius)) + 1
    y, x = np.mgrid[-half : half + 1, -half : half + 1]
    disc = np.clip(radius + 0.5 - np.hypot(x, y), 0, 1)  # a soft edge keeps fractional radii distinct
    return np.asarray(cv2.filter2D(image, -1, disc / disc.sum(), borderType=cv2.BORDER_REFLECT), np.uint8)


def motion_blur(image: Pixels, length: float, generator: np.random.Generator) -> Pixels:
    size = int(length) | 1
    line = np.zeros((size, size), np.float32)
    line[size // 2, :] = 1
    turn = cv2.getRotationMatrix2D((size // 2, size // 2), float(generator.uniform(0, 180)), 1.0)
    kernel = cv2.warpAffine(line, turn, (size, size))
    return np.asarray(cv2.filter2D(image, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT), np.uint8)


def white_noise(image: Pixels, sigma: float, generator: np.random.Generator) -> Pixels:
    return to_bytes(image + generator.normal(0, sigma, image.shape))


def chroma_noise(image: Pixels, sigma: float, generator: np.random.Generator) -> Pixels:
    ycc = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2YCrCb)
    ycc[..., 1:] += generator.normal(0, sigma / 255, ycc[..., 1:].shape).astype(np.float32)
    return to_bytes(255 * cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR))


def impulse_noise(image: Pixels, fraction: float, generator: np.random.Generator) -> Pixels:
    draw = generator.random(image.shape[:2])
    noisy: Pixels = image.copy()
    noisy[draw < fraction / 2] = 0
    noisy[draw > 1 - fraction / 2] = 255
    return noisy


def jpeg(image: Pixels, quality: float, _: np.random.Generator) -> Pixels:
    return decode(np.asarray(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(quality)])[1], np.uint8))


def jpeg2000(image: Pixels, rate: float, _: np.random.Generator) -> Pixels:
    return decode(
        np.asarray(cv2.imencode(".jp2", image, [cv2.IMWRITE_JPEG2000_COMPRESSION_X1000, int(rate)])[1], np.uint8)
    )


def exposure(image: Pixels, stops: float, _: np.random.Generator) -> Pixels:
    """Wrong exposure: in linear light, with clipped highlights."""
    value = image / 255.0
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4) * 2.0**stops
    encoded = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * np.maximum(linear, 1e-9) ** (1 / 2.4) - 0.055)
    return to_bytes(255 * encoded)


def mean_shift(image: Pixels, offset: float, generator: np.random.Generator) -> Pixels:
    return to_bytes(image + offset * generator.choice([-1.0, 1.0]))


def contrast(image: Pixels, factor: float, _: np.random.Generator) -> Pixels:
    mean = image.mean()
    return to_bytes(mean + factor * (image - mean))


def saturation(image: Pixels, factor: float, _: np.random.Generator) -> Pixels:
    ycc = cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2YCrCb)
    ycc[..., 1:] = 0.5 + factor * (ycc[..., 1:] - 0.5)
    return to_bytes(255 * cv2.cvtColor(ycc, cv2.COLOR_YCrCb2BGR))


def colour_cast(image: Pixels, amount: float, generator: np.random.Generator) -> Pixels:
    """A wrong white balance: opposite gains along warm-cool or green-magenta, luma kept about the same."""
    blue_green_red = [(-1.0, 0.0, 1.0), (1.0, 0.0, -1.0), (-0.5, 0.5, -0.5), (0.6, -0.5, 0.6)][generator.integers(4)]
    return to_bytes(image * np.exp(amount * np.array(blue_green_red)))


def over_sharpening(image: Pixels, amount: float, _: np.random.Generator) -> Pixels:
    smooth = cv2.GaussianBlur(image, (0, 0), 1.2, borderType=cv2.BORDER_REFLECT).astype(np.float64)
    return to_bytes(image + amount * (image - smooth))


def correlated_noise(image: Pixels, sigma: float, generator: np.random.Generator) -> Pixels:
    """Noise after a camera's smoothing: coarse grains."""
    grains = cv2.GaussianBlur(generator.normal(0, 1, image.shape).astype(np.float32), (0, 0), 1.2)
    return to_bytes(image + sigma * grains / grains.std())


def fine_noise(image: Pixels, sigma: float, generator: np.random.Generator) -> Pixels:
    noise = generator.normal(0, 1, image.shape).astype(np.float32)
    noise -= cv2.GaussianBlur(noise, (0, 0), 1.0)
    return to_bytes(image + sigma * noise / noise.std())


def multiplicative_noise(image: Pixels, share: float, generator: np.random.Generator) -> Pixels:
    return to_bytes(image * (1 + generator.normal(0, share, image.shape)))


def mixed_noise(image: Pixels, sigma: float, generator: np.random.Generator) -> Pixels:
    """Chroma far noisier than luma, with different grain in each channel."""
    noise = generator.normal(0, 1, image.shape)
    return to_bytes(image + sigma * (noise - 0.7 * noise.mean(axis=2, keepdims=True)))


def webp(image: Pixels, quality: float, _: np.random.Generator) -> Pixels:
    return decode(np.asarray(cv2.imencode(".webp", image, [cv2.IMWRITE_WEBP_QUALITY, int(quality)])[1], np.uint8))


def noisy_jpeg(image: Pixels, quality: float, generator: np.random.Generator) -> Pixels:
    return jpeg(white_noise(image, 12, generator), quality, generator)


def denoised(image: Pixels, strength: float, generator: np.random.Generator) -> Pixels:
    """Strong noise reduction: flat patches, some grain, lost texture."""
    noisy = white_noise(image, 0.5 * strength, generator)
    return np.asarray(cv2.bilateralFilter(noisy, 9, 2.2 * strength, 4), np.uint8)


def low_resolution(image: Pixels, factor: float, _: np.random.Generator) -> Pixels:
    height, width = image.shape[:2]
    small = cv2.resize(
        image, (max(1, round(width / factor)), max(1, round(height / factor))), interpolation=cv2.INTER_AREA
    )
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC), np.uint8)


def quantised(image: Pixels, levels: float, _: np.random.Generator) -> Pixels:
    step = 255 / (levels - 1)
    return to_bytes(np.rint(image / step) * step)


def dithered(image: Pixels, levels: float, generator: np.random.Generator) -> Pixels:
    step = 255 / (levels - 1)
    return to_bytes(np.rint(image / step + generator.uniform(-0.5, 0.5, image.shape)) * step)


def colour_fringes(image: Pixels, shift: float, _: np.random.Generator) -> Pixels:
    """Chromatic aberration: red and blue moved apart, a little blurred."""
    planes = [np.asarray(plane) for plane in cv2.split(image)]
    for index, direction in ((0, 1.0), (2, -1.0)):
        move = np.array([[1, 0, direction * shift], [0, 1, 0.5 * direction * shift]], np.float32)
        moved = cv2.warpAffine(planes[index], move, image.shape[1::-1], borderMode=cv2.BORDER_REFLECT)
        planes[index] = cv2.GaussianBlur(moved, (0, 0), 0.3 + 0.2 * shift)
    return np.asarray(cv2.merge(planes), np.uint8)


def lost_blocks(image: Pixels, share: float, generator: np.random.Generator) -> Pixels:
    """Transmission errors: runs of blocks repeat earlier ones, or only their colour."""
    damaged: Pixels = image.copy()
    height, width = image.shape[:2]
    left = share * height * width / 256
    while left > 0:
        row, column = int(generator.integers(height // 16)) * 16, int(generator.integers(width // 16)) * 16
        run = min(int(generator.integers(1, 12)), (width - column) // 16)
        strip = damaged[row : row + 16, column : column + 16 * run]
        source = np.roll(strip, int(generator.integers(1, 16)), axis=1) if generator.random() < 0.5 else strip[:, :1]
        strip[:] = to_bytes(source + generator.normal(0, 12, 3))
        left -= max(1, run)
    return damaged


def moved_patches(image: Pixels, count: float, generator: np.random.Generator) -> Pixels:
    damaged: Pixels = image.copy()
    height, width = image.shape[:2]
    for _ in range(int(count)):
        y, x = (int(value) for value in generator.integers(16, (height - 32, width - 32)))
        dy, dx = (int(value) for value in generator.integers(-14, 15, 2))
        damaged[y : y + 16, x : x + 16] = image[y + dy : y + dy + 16, x + dx : x + dx + 16]
    return damaged


def painted_blocks(image: Pixels, count: float, generator: np.random.Generator) -> Pixels:
    damaged: Pixels = image.copy()
    height, width = image.shape[:2]
    for _ in range(int(count)):
        y, x = (int(value) for value in generator.integers(0, (height - 32, width - 32)))
        damaged[y : y + 32, x : x + 32] = generator.integers(0, 256, 3)
    return damaged


def two_at_once(image: Pixels, strength: float, generator: np.random.Generator) -> Pixels:
    """Two of the other distortions, one after the other."""
    names = sorted(set(DISTORTIONS) - {"two_at_once"})
    for name in generator.choice(names, 2, replace=False).tolist():
        _category, distort, levels = DISTORTIONS[name]
        image = distort(image, levels[int(strength) - 1], generator)
    return image


# name: (category, function, the parameter at strengths 1 to 5: from hardly visible to very strong)
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
    "correlated_noise": ("Noise", correlated_noise, (5, 9, 15, 24, 38)),
    "fine_noise": ("Noise", fine_noise, (7, 13, 22, 36, 60)),
    "multiplicative_noise": ("Noise", multiplicative_noise, (0.05, 0.1, 0.17, 0.28, 0.45)),
    "mixed_noise": ("Noise", mixed_noise, (7, 13, 22, 36, 60)),
    "webp": ("Compression", webp, (45, 25, 12, 5, 1)),
    # Without a single category: used to fit quality, not the detectors.
    "noisy_jpeg": ("", noisy_jpeg, (60, 35, 20, 11, 5)),
    "denoised": ("", denoised, (8, 15, 26, 42, 65)),
    "low_resolution": ("", low_resolution, (1.5, 2.0, 3.0, 4.5, 7.0)),
    "quantised": ("", quantised, (32, 20, 12, 8, 5)),
    "dithered": ("", dithered, (24, 14, 9, 6, 4)),
    "colour_fringes": ("", colour_fringes, (1, 2, 3.5, 6, 10)),
    "lost_blocks": ("", lost_blocks, (0.003, 0.01, 0.03, 0.08, 0.2)),
    "moved_patches": ("", moved_patches, (15, 40, 90, 200, 400)),
    "painted_blocks": ("", painted_blocks, (1, 3, 6, 11, 18)),
    "two_at_once": ("", two_at_once, (1, 2, 3, 4, 5)),
}
