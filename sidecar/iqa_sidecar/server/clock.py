"""Elapsed time as the contract reports it."""

import time


def milliseconds_since(moment: float) -> float:
    """`moment` was read from time.perf_counter."""
    return round((time.perf_counter() - moment) * 1000, 3)
