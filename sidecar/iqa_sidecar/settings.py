"""Settings of the sidecar, read from the command line in `__main__`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    host: str
    port: int
    workers: int
    # Requests that may wait, besides the running ones.
    queue: int
    # Of one request body.
    max_bytes: int
    # Of one image.
    max_pixels: int
    # Seconds for a worker to import its tools.
    start_seconds: int
    # Seconds for running requests to end after SIGTERM.
    grace: int
    exit_with_stdin: bool
    log_level: str
    # Modules with more TOOLS.
    extra_tools: tuple[str, ...]
