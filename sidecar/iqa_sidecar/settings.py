"""What can be set when the sidecar starts; read from the command line in __main__ and handed down."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    host: str
    port: int
    workers: int
    # Requests that may wait beyond the running ones.
    queue: int
    # Of one request: header and both files.
    max_bytes: int
    # Of one picture.
    max_pixels: int
    # Seconds that a worker gets to load what its tools need before it answers.
    start_seconds: int
    # Seconds that running requests get to end after SIGTERM.
    grace: int
    exit_with_stdin: bool
    log_level: str
    # Modules whose TOOLS are offered beside the registry's.
    extra_tools: tuple[str, ...]
