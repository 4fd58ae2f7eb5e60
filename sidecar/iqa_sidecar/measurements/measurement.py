"""The type of a measurement: one documented number about the pixels of one image."""

from dataclasses import dataclass

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Measurement:
    name: str
    unit: str
    minimum: float
    # None: unbounded.
    maximum: float | None
    description: str
