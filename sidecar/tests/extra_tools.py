"""Tools that misbehave on purpose; the tests load them into real workers through IQA_SIDECAR_EXTRA_TOOLS."""

import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics.tool import Result, Tool

# A file that ends with these bytes kills the process that decodes it.
DEADLY_TAIL = b"kills the decoder"
MARKS = "IQA_TEST_MARKS"


def sleep_long(_pair: Pair, _wants_map: bool) -> Result:
    _leave_mark("slow")
    time.sleep(60)
    return Result(1.0)


def wait_for_gate(_pair: Pair, _wants_map: bool) -> Result:
    """Ends when the test opens the gate, so that tests need no timing."""
    _leave_mark("gate")
    for _ in range(6000):
        if (Path(os.environ[MARKS]) / "gate-opened").exists():
            break
        time.sleep(0.005)
    return Result(float(os.getpid()))


def sleep_briefly(_pair: Pair, _wants_map: bool) -> Result:
    time.sleep(0.3)
    return Result(1.0)


def die(_pair: Pair, _wants_map: bool) -> Result:
    _leave_mark("die")
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def die_once(_pair: Pair, _wants_map: bool) -> Result:
    if _leave_mark("die-once") == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return Result(0.5)


def fail(_pair: Pair, _wants_map: bool) -> Result:
    raise ValueError("on purpose")


def be_infinite(_pair: Pair, _wants_map: bool) -> Result:
    return Result(float("inf"))


def print_words(_pair: Pair, _wants_map: bool) -> Result:
    print("words on standard output", flush=True)
    print("words on standard error", file=sys.stderr, flush=True)
    return Result(1.0)


def draw_ramp(_pair: Pair, _wants_map: bool) -> Result:
    """From below 0 on the left to above 1 on the right."""
    return Result(0.5, np.tile(np.linspace(-0.5, 1.5, 1024, dtype=np.float32), (512, 1)))


def report_process(_pair: Pair, _wants_map: bool) -> Result:
    return Result(float(os.getpid()))


def _leave_mark(name: str) -> int:
    """Counts the calls in a file, which remains when the process is killed."""
    with (Path(os.environ[MARKS]) / name).open("a+") as file:
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        return len(file.readlines())


def _decode_or_die(data: bytes | bytearray, max_pixels: int) -> Image:
    if data.endswith(DEADLY_TAIL):
        os.kill(os.getpid(), signal.SIGKILL)
    return _decode(data, max_pixels)


_decode = Image.decode
Image.decode = _decode_or_die  # type: ignore[method-assign]

TOOLS = {
    name: Tool(name, "1", needs_reference=False, min_side=1, has_map=name == "RAMP", score=score)
    for name, score in {
        "SLOW": sleep_long,
        "BRIEF": sleep_briefly,
        "GATE": wait_for_gate,
        "DIE": die,
        "DIE-ONCE": die_once,
        "FAIL": fail,
        "INFINITE": be_infinite,
        "PRINT": print_words,
        "RAMP": draw_ramp,
        "PROCESS": report_process,
    }.items()
}
