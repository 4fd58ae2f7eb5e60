"""Draws one tool's values against ratings, with the calibration curve, as SVG."""

from __future__ import annotations

from html import escape

import numpy as np

from training.logistic import Curve
from training.tables import Numbers

WIDTH, HEIGHT = 520, 420
LEFT, RIGHT, TOP, BOTTOM = 48, 16, 34, 46
FONT = 'font-family="sans-serif" font-size="12"'
MAX_DOTS = 3000  # limits the file size


def draw_scatter(title: str, name: str, values: Numbers, labels: Numbers, curve: Curve) -> str:
    low, high = widen(float(values.min()), float(values.max()))

    def x(value: float) -> float:
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(grade: float) -> float:
        return HEIGHT - BOTTOM - (grade - 1) / 4 * (HEIGHT - TOP - BOTTOM)

    every = -(-len(values) // MAX_DOTS)
    pairs = zip(values[::every].tolist(), labels[::every].tolist(), strict=True)
    dots = "".join(f'<circle cx="{x(value):.1f}" cy="{y(label):.1f}" r="2"/>' for value, label in pairs)
    steps = np.linspace(low, high, 121)
    line = " ".join(f"{x(step):.1f},{y(grade):.1f}" for step, grade in zip(steps, curve(steps), strict=True))
    grades = "".join(
        f'<text x="{LEFT - 8}" y="{y(grade) + 4:.1f}" text-anchor="end">{grade}</text>' for grade in range(1, 6)
    )
    ticks = "".join(
        f'<text x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:.3g}</text>'
        for tick in np.linspace(low, high, 6)[1:-1].tolist()
    )
    frame = f'x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="13">{escape(title)}</text>',
        f'<rect {frame} fill="none" stroke="#888"/>',
        grades,
        ticks,
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{escape(name)}</text>',
        f'<text transform="translate(14 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">rating, as a grade</text>',
        f'<g fill="#1f77b4" fill-opacity="0.45">{dots}</g>',
        f'<polyline points="{line}" fill="none" stroke="#d62728" stroke-width="2"/>',
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def widen(low: float, high: float) -> tuple[float, float]:
    """The range with a margin; not empty for a single value."""
    margin = 0.03 * (high - low) or 0.5
    return low - margin, high + margin
