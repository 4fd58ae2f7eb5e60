"""Work on many pictures by several processes, each on one thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing import Pool
from typing import TypeVar

import cv2

Item = TypeVar("Item")
Done = TypeVar("Done")


def map_pictures(work: Callable[[Item], Done], items: Iterable[Item], processes: int) -> list[Done]:
    """In the order of the items."""
    with Pool(processes, initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        return pool.map(work, items, chunksize=8)
