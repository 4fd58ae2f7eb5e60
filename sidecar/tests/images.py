"""Generates images and distortions for tests, the same on every machine."""

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]


@lru_cache(maxsize=32)
def photo(seed: int, height: int = 256, width: int = 320, grain: float = 1.5) -> Pixels:
    """Like a photo: textured discs of all sizes in front of a sky, slightly blurred, with grain. Read-only."""
    random = np.random.default_rng(seed)
    texture = _texture(random, height, width)
    canvas = _sky(random, height, width) + 6 * texture[..., None]
    count = height * width // 400
    # Radii with density r⁻³, the scale invariance of natural scenes (the dead-leaves model).
    radii = np.sort(4 / np.sqrt(random.uniform((8 / min(height, width)) ** 2, 1, count)))[::-1]
    for radius in radii:
        x, y = random.uniform(0, width), random.uniform(height / 4, height * 1.2)
        colour = random.uniform(30, 220) + random.normal(0, 25, 3)
        surface = np.roll(texture, random.integers(0, 200, 2), (0, 1)) * random.uniform(5, 25)
        _paint_disc(canvas, surface, (x, y, float(radius)), colour)
    canvas = np.asarray(cv2.GaussianBlur(canvas, (0, 0), 0.5), np.float64)
    pixels = _to_bytes(canvas + grain * random.standard_normal((height, width))[..., None])
    pixels.flags.writeable = False
    return pixels


def flat(value: int, height: int = 256, width: int = 320) -> Pixels:
    return np.full((height, width, 3), value, np.uint8)


def blur(pixels: Pixels, sigma: float) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), sigma, borderType=cv2.BORDER_REFLECT), np.uint8)


def motion_blur(pixels: Pixels, length: int, degrees: float) -> Pixels:
    """A line of `length` pixels, counted anticlockwise from the horizontal."""
    kernel = np.zeros((length, length), np.float32)
    centre = (length - 1) / 2
    for step in np.linspace(-centre, centre, 8 * length):
        x = centre + step * np.cos(np.radians(degrees))
        y = centre - step * np.sin(np.radians(degrees))
        left, top = int(np.floor(x)), int(np.floor(y))
        for row, column, weight in (
            (top, left, (1 - y + top) * (1 - x + left)),
            (top, left + 1, (1 - y + top) * (x - left)),
            (top + 1, left, (y - top) * (1 - x + left)),
            (top + 1, left + 1, (y - top) * (x - left)),
        ):
            if row < length and column < length:
                kernel[row, column] += weight
    return np.asarray(cv2.filter2D(pixels, -1, kernel / kernel.sum(), borderType=cv2.BORDER_REFLECT), np.uint8)


def sharpen(pixels: Pixels, amount: float, sigma: float = 1.5) -> Pixels:
    """Unsharp mask."""
    values = pixels.astype(np.float32)
    return _to_bytes(values + amount * (values - cv2.GaussianBlur(values, (0, 0), sigma)))


def noise(pixels: Pixels, sigma: float, seed: int = 7) -> Pixels:
    """White noise, independent in the three channels."""
    return _to_bytes(pixels + sigma * np.random.default_rng(seed).standard_normal(pixels.shape))


def gray_noise(pixels: Pixels, sigma: float, seed: int = 7) -> Pixels:
    """White noise, the same in the three channels."""
    return _to_bytes(pixels + sigma * np.random.default_rng(seed).standard_normal(pixels.shape[:2])[..., None])


def impulses(pixels: Pixels, fraction: float, seed: int = 7) -> Pixels:
    """Salt and pepper."""
    chance = np.random.default_rng(seed).uniform(size=pixels.shape[:2])
    result: Pixels = pixels.copy()
    result[chance < fraction / 2] = 0
    result[chance > 1 - fraction / 2] = 255
    return result


def jpeg(pixels: Pixels, quality: int) -> Pixels:
    return np.asarray(cv2.imdecode(np.frombuffer(jpeg_file(pixels, quality), np.uint8), cv2.IMREAD_COLOR), np.uint8)


def jpeg_file(pixels: Pixels, quality: int) -> bytes:
    _done, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return data.tobytes()


def contrast(pixels: Pixels, factor: float) -> Pixels:
    """Towards mid-gray below 1, away from it above."""
    return _to_bytes((pixels.astype(np.float32) - 128) * factor + 128)


def _sky(random: np.random.Generator, height: int, width: int) -> NDArray[np.float64]:
    top, bottom = random.uniform(90, 240, (2, 3))
    ramp = np.linspace(0, 1, height)[:, None, None]
    return np.tile(top * (1 - ramp) + bottom * ramp, (1, width, 1))


def _texture(random: np.random.Generator, height: int, width: int) -> NDArray[np.float64]:
    """Noise of amplitude 1/f with standard deviation 1."""
    frequency = np.hypot(np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width))
    frequency[0, 0] = np.inf
    field = np.fft.irfft2(np.fft.rfft2(random.standard_normal((height, width))) / frequency, (height, width))
    return np.asarray(field / field.std())


def _paint_disc(
    canvas: NDArray[np.float64],
    texture: NDArray[np.float64],
    disc: tuple[float, float, float],
    colour: NDArray[np.float64],
) -> None:
    x, y, radius = disc
    top, left = max(0, int(y - radius - 1)), max(0, int(x - radius - 1))
    box = (slice(top, int(y + radius + 2)), slice(left, int(x + radius + 2)))
    rows, columns = np.ogrid[box[0], box[1]]
    height, width = canvas[box].shape[:2]
    distance = np.hypot(rows[:height] - y, columns[:, :width] - x)
    cover = np.clip(radius - distance + 0.5, 0, 1)[..., None]
    canvas[box] += cover * (colour + texture[box][..., None] - canvas[box])


def _to_bytes(values: NDArray[np.floating]) -> Pixels:
    return np.clip(np.round(values), 0, 255).astype(np.uint8)
