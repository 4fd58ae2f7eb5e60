"""Messages between the server and a worker: length-prefixed msgpack over a socket pair, one reply per command.

A worker acts only on commands, so a request is cancelled by not sending the next one.
"""

from __future__ import annotations

import struct
from typing import Literal

import msgspec

from ..server.contract import Box, MeasurementsEvent, MeasurementsInfo, RequestErrorCode, ToolEvent, ToolInfo

PREFIX = struct.Struct(">I")


class Message(msgspec.Struct, frozen=True, tag=True):
    """Base of all commands and replies."""


class Load(Message, frozen=True):
    """Decode and keep the files that follow this message as raw bytes, image first. Replies Loaded or Rejected."""

    image_bytes: int
    reference_bytes: int
    regions: dict[str, Box]
    jpeg_quality: int | None
    max_pixels: int
    # Tools that will run: those with a network start to load it at once.
    tools: list[str]


class Measure(Message, frozen=True):
    """Replies with the line for the client. `last`: the last command about this region."""

    region: str
    last: bool


class Run(Message, frozen=True):
    """Replies with the line for the client. `last`: the last command about this region."""

    tool: str
    region: str
    map: bool
    grid: bool
    last: bool


class Describe(Message, frozen=True):
    """Replies Capabilities."""


class Drop(Message, frozen=True):
    """Free the images. The only command without a reply."""


class Loaded(Message, frozen=True):
    width: int
    height: int
    channels: Literal[1, 3]
    decode_ms: float


class Rejected(Message, frozen=True):
    code: RequestErrorCode
    message: str


class Capabilities(Message, frozen=True):
    tools: list[ToolInfo]
    measurements: MeasurementsInfo


class Failed(Message, frozen=True):
    """A fault of the worker; `message` is the traceback."""

    message: str


class Measured(Message, frozen=True):
    event: MeasurementsEvent


class Ran(Message, frozen=True):
    event: ToolEvent


Command = Load | Measure | Run | Describe | Drop
Reply = Loaded | Rejected | Measured | Ran | Capabilities | Failed

_encoder = msgspec.msgpack.Encoder()
_command_decoder: msgspec.msgpack.Decoder[Command] = msgspec.msgpack.Decoder(Command)
_reply_decoder: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def encode(message: Command | Reply) -> bytes:
    body = _encoder.encode(message)
    return PREFIX.pack(len(body)) + body


def decode_command(body: bytes) -> Command:
    return _command_decoder.decode(body)


def decode_reply(body: bytes) -> Reply:
    return _reply_decoder.decode(body)
