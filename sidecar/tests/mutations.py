"""Requests with broken bytes: a seeded mutator of frames and of the files in them, and the judge of the answers."""

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

# Seconds; an answer that takes longer counts as a hang.
PATIENCE = 30.0
# Values on which length fields and loops go wrong.
INTERESTING = (0, 1, 2, 7, 8, 15, 16, 63, 64, 127, 128, 200, 254, 255)

Mutate = Callable[[random.Random, bytearray], bytearray]


def make_request(seed: int) -> bytes:
    """The same bytes for the same seed: a valid frame with between one and a few dozen faults."""
    lot = random.Random(seed)
    image, reference = lot.choice(FILES), lot.choice([b"", *FILES])
    if lot.random() < 0.75:
        # The frame stays whole, so that the decoders see what is broken.
        image = mutate(lot, image)
        reference = mutate(lot, reference) if lot.random() < 0.5 else reference
        return build_frame(image or b"\0", reference, measurements=["Global"], tools=TOOL_CALLS)
    return mutate(lot, build_frame(image, reference, measurements=["Global"], tools=TOOL_CALLS))


def mutate(lot: random.Random, data: bytes) -> bytes:
    result = bytearray(data)
    for _ in range(lot.choice((1, 1, 2, 4, 16, 40))):
        if result:
            result = lot.choice(MUTATIONS)(lot, result)
    return bytes(result)


def _flip(lot: random.Random, data: bytearray) -> bytearray:
    data[_place(lot, data)] ^= 1 << lot.randrange(8)
    return data


def _overwrite(lot: random.Random, data: bytearray) -> bytearray:
    data[_place(lot, data)] = lot.choice(INTERESTING)
    return data


def _overwrite_number(lot: random.Random, data: bytearray) -> bytearray:
    start = _place(lot, data)
    number = struct.pack(lot.choice((">I", "<I", ">H", "<H")), lot.choice((0, 1, 0x7FFF, 0xFFFF)))
    data[start : start + len(number)] = number
    return data


def _cut_off(lot: random.Random, data: bytearray) -> bytearray:
    return data[: lot.randrange(len(data))]


def _remove(lot: random.Random, data: bytearray) -> bytearray:
    start = _place(lot, data)
    del data[start : start + lot.choice((1, 2, 8, 100))]
    return data


def _repeat(lot: random.Random, data: bytearray) -> bytearray:
    start = _place(lot, data)
    part = data[start : start + lot.choice((1, 2, 8, 100))]
    data[start:start] = part * lot.choice((1, 2, 50))
    return data


def _splice(lot: random.Random, data: bytearray) -> bytearray:
    other = lot.choice(FILES)
    start = _place(lot, data)
    data[start:] = other[lot.randrange(len(other)) :]
    return data


def _place(lot: random.Random, data: bytearray) -> int:
    """Half of them in the first hundred bytes, where headers are."""
    return lot.randrange(min(100, len(data)) if lot.random() < 0.5 else len(data))


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
class Verdict:
    """What came of the requests: answers by kind, and every one that is not allowed, with its seed."""

    answers: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)

    def judge(self, seed: int, client: httpx.Client) -> None:
        try:
            response = client.post("/v1/measure", content=make_request(seed), headers={"content-type": MEDIA_TYPE})
            kind = describe(response)
        except httpx.HTTPError as error:
            kind = f"broken: {type(error).__name__}"
        self.answers[kind] += 1
        if kind.startswith("broken"):
            self.failures.append((seed, kind))


def describe(response: httpx.Response) -> str:
    """A measured image or a refusal with a code of the contract; anything else is broken."""
    if response.status_code == 200:
        lines = [json.loads(line) for line in response.text.splitlines()]
        codes = {line["error"]["code"] for line in lines[1:-1] if line["error"]}
        if lines[-1]["event"] != "end" or codes & {"TOOL_CRASHED", "TOOL_TIMEOUT", "TOOL_FAILED"}:
            return f"broken: {lines[-1]['event']} {sorted(codes)}"
        return "measured"
    code = response.json()["error"]["code"]
    return f"{response.status_code} {code}" if 400 <= response.status_code < 500 else f"broken: {code}"
