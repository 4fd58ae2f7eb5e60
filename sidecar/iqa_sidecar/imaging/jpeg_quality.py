"""Estimates the IJG quality setting (1..100) from a JPEG's luma quantisation table."""

import numpy as np
from numpy.typing import NDArray

# ITU-T T.81, table K.1, in zigzag order as in files.
_BASE = np.array(
    [16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40, 26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51,
     61, 60, 57, 51, 56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87, 95, 98, 103, 104, 103, 62, 77,
     113, 121, 112, 100, 120, 92, 101, 103, 99]
)  # fmt: skip


def estimate_jpeg_quality(luma_table: NDArray[np.int64]) -> int:
    """The IJG quality with the nearest table: exact for IJG encoders, the closest equivalent for others."""
    distances = np.abs(TABLES - luma_table).sum(axis=1)
    # Of equal distances the highest quality: the tables of 99 and 100 may be equal.
    return 100 - int(np.argmin(distances[::-1]))


def _build_tables() -> NDArray[np.int64]:
    """Row q - 1 holds clip((base · s + 50) / 100), s = 5000/q below 50 and 200 - 2q above."""
    quality = np.arange(1, 101)
    scale = np.where(quality < 50, 5000 // quality, 200 - 2 * quality)
    return np.asarray(np.clip((_BASE * scale[:, None] + 50) // 100, 1, 255), np.int64)


TABLES = _build_tables()
