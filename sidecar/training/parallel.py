"""Maps a function over many images in several single-threaded processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from multiprocessing import Pool
from typing import TypeVar

import cv2

Item = TypeVar("Item")
Done = TypeVar("Done")


def map_images(work: Callable[[Item], Done], items: Iterable[Item], processes: int) -> list[Done]:
    """Results in the order of the items."""
    with Pool(processes, initializer=cv2.setNumThreads, initargs=(1,)) as pool:
        return pool.map(work, items, chunksize=8)
