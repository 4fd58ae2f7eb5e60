"""Builds requests with mutated bytes from a seed, and classifies the answers."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import cv2
import httpx

from iqa_sidecar.server.contract import MEDIA_TYPE
from tests import images
from tests.sidecar_process import build_frame, call

# Seconds; a slower answer counts as a hang.
TIMEOUT_S = 30.0
# Values at which length fields and loops often fail.
INTERESTING = (0, 1, 2, 7, 8, 15, 16, 63, 64, 127, 128, 200, 254, 255)

Mutate = Callable[[random.Random, bytearray], bytearray]


def make_request(seed: int) -> bytes:
    """A valid frame with one to a few dozen mutations; the same bytes for the same seed."""
    generator = random.Random(seed)
    image, reference = generator.choice(FILES), generator.choice([b"", *FILES])
    if generator.random() < 0.75:
        # The frame stays valid, so that the decoders get the mutated files.
        image = mutate(generator, image)
        reference = mutate(generator, reference) if generator.random() < 0.5 else reference
        return build_frame(image or b"\0", reference, measurements=["Global"], tools=TOOL_CALLS)
    return mutate(generator, build_frame(image, reference, measurements=["Global"], tools=TOOL_CALLS))


def mutate(generator: random.Random, data: bytes) -> bytes:
    result = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 4, 16, 40))):
        if result:
            result = generator.choice(MUTATIONS)(generator, result)
    return bytes(result)


def _flip(generator: random.Random, data: bytearray) -> bytearray:
    data[_choose_position(generator, data)] ^= 1 << generator.randrange(8)
    return data


def _overwrite(generator: random.Random, data: bytearray) -> bytearray:
    data[_choose_position(generator, data)] = generator.choice(INTERESTING)
    return data


def _overwrite_number(generator: random.Random, data: bytearray) -> bytearray:
    start = _choose_position(generator, data)
    number = struct.pack(generator.choice((">I", "<I", ">H", "<H")), generator.choice((0, 1, 0x7FFF, 0xFFFF)))
    data[start : start + len(number)] = number
    return data


def _cut_off(generator: random.Random, data: bytearray) -> bytearray:
    return data[: generator.randrange(len(data))]


def _remove(generator: random.Random, data: bytearray) -> bytearray:
    start = _choose_position(generator, data)
    del data[start : start + generator.choice((1, 2, 8, 100))]
    return data


def _repeat(generator: random.Random, data: bytearray) -> bytearray:
    start = _choose_position(generator, data)
    part = data[start : start + generator.choice((1, 2, 8, 100))]
    data[start:start] = part * generator.choice((1, 2, 50))
    return data


def _splice(generator: random.Random, data: bytearray) -> bytearray:
    other = generator.choice(FILES)
    start = _choose_position(generator, data)
    data[start:] = other[generator.randrange(len(other)) :]
    return data


def _choose_position(generator: random.Random, data: bytearray) -> int:
    """Half of the positions are in the first hundred bytes, where headers are."""
    return generator.randrange(min(100, len(data)) if generator.random() < 0.5 else len(data))


def _files() -> list[bytes]:
    photo = images.photo(1, 48, 64)
    encodings: tuple[tuple[str, list[int]], ...]
    encodings = ((".jpg", []), (".jpg", [cv2.IMWRITE_JPEG_PROGRESSIVE, 1]), (".png", []), (".webp", []))
    colour = [cv2.imencode(suffix, photo, options)[1].tobytes() for suffix, options in encodings]
    return [*colour, cv2.imencode(".jpg", photo[..., 1])[1].tobytes(), cv2.imencode(".png", photo[..., 1])[1].tobytes()]


MUTATIONS: tuple[Mutate, ...] = (_flip, _overwrite, _overwrite_number, _cut_off, _remove, _repeat, _splice)
FILES = _files()
TOOL_CALLS = [call("PSNR"), call("SSIM", wants_map=True), call("BRISQUE"), call("PIQE")]


@dataclass
class MutationReport:
    """Counts of answers by kind, and the failures with their seeds."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def send(self, seed: int, client: httpx.Client) -> None:
        try:
            response = client.post("/v1/measure", content=make_request(seed), headers={"content-type": MEDIA_TYPE})
            kind = describe(response)
        except httpx.HTTPError as error:
            kind = f"broken: {type(error).__name__}"
        self.answers[kind] += 1
        if kind.startswith("broken"):
            self.failures.append((seed, kind))


def describe(response: httpx.Response) -> str:
    """'measured', or status and code of a contract error; anything else is broken."""
    if response.status_code == 200:
        lines = [json.loads(line) for line in response.text.splitlines()]
        codes = {line["error"]["code"] for line in lines[1:-1] if line["error"]}
        if lines[-1]["event"] != "end" or codes & {"TOOL_CRASHED", "TOOL_TIMEOUT", "TOOL_FAILED"}:
            return f"broken: {lines[-1]['event']} {sorted(codes)}"
        return "measured"
    code = response.json()["error"]["code"]
    return f"{response.status_code} {code}" if 400 <= response.status_code < 500 else f"broken: {code}"
