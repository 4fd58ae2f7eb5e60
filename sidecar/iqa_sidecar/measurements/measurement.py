"""What a measurement is: one documented number about the pixels of one image."""

from dataclasses import dataclass

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Measurement:
    name: str
    unit: str
    minimum: float
    # None: no upper end of its own.
    maximum: float | None
    description: str
