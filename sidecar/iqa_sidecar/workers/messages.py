"""What the server and a worker say to each other: length-prefixed msgpack over a socket pair, one reply per command.

The server drives: a worker only ever acts on a command, so that not sending the next one is how a request is cancelled.
"""

from __future__ import annotations

import struct
from typing import Literal

import msgspec

from ..server.contract import Box, MeasurementsEvent, MeasurementsInfo, RefusalCode, ToolEvent, ToolInfo

PREFIX = struct.Struct(">I")


class Message(msgspec.Struct, frozen=True, tag=True):
    """Base of all commands and replies."""


class Load(Message, frozen=True):
    """Decode and keep the files that follow this message as raw bytes, image first. Replies Loaded or Refused."""

    image_bytes: int
    reference_bytes: int
    regions: dict[str, Box]
    jpeg_quality: int | None
    max_pixels: int
    # What will be asked for: a tool with something to load begins with it at once.
    tools: list[str]


class Measure(Message, frozen=True):
    """Replies with the line for the client. `last`: nothing further is asked of this region."""

    region: str
    last: bool


class Run(Message, frozen=True):
    """Replies with the line for the client. `last`: nothing further is asked of this region."""

    tool: str
    region: str
    map: bool
    last: bool


class Describe(Message, frozen=True):
    """Replies Described."""


class Drop(Message, frozen=True):
    """Forget the pictures and give the memory back. The only command without a reply: nobody waits for it."""


class Loaded(Message, frozen=True):
    width: int
    height: int
    channels: Literal[1, 3]
    decode_ms: float


class Refused(Message, frozen=True):
    code: RefusalCode
    message: str


class Described(Message, frozen=True):
    tools: list[ToolInfo]
    measurements: MeasurementsInfo


class Failed(Message, frozen=True):
    """The worker itself is at fault; `message` is the traceback."""

    message: str


class Measured(Message, frozen=True):
    event: MeasurementsEvent


class Ran(Message, frozen=True):
    event: ToolEvent


Command = Load | Measure | Run | Describe | Drop
Reply = Loaded | Refused | Measured | Ran | Described | Failed

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
