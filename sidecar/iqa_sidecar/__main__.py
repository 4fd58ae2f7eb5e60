"""`python -m iqa_sidecar`: reads the command line, starts the fork server first because it is slowest, then serves."""

from __future__ import annotations

import argparse
import asyncio
import logging
import multiprocessing
import os
import sys
from collections.abc import Callable, Sequence

from .server.log import configure_log, write
from .settings import Settings
from .workers.process import start_fork_server


def main() -> int:
    settings = read_settings(sys.argv[1:])
    configure_log(settings.log_level)
    start_fork_server(settings.extra_tools)
    # Imported here, while the fork server imports numpy and OpenCV on another core.
    from .server.uvicorn_server import serve

    try:
        asyncio.run(serve(settings))
    except Exception:
        write(logging.CRITICAL, "cannot serve")
        return 1
    finally:
        # Workers ignore SIGTERM, which multiprocessing would send to one that is still starting, and wait.
        for worker in multiprocessing.active_children():
            worker.kill()
    return 0


def read_settings(arguments: Sequence[str]) -> Settings:
    parser = argparse.ArgumentParser(prog="python -m iqa_sidecar", description="Runs image-quality tools over HTTP.")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add("--port", type=_at_least(0), default=0, help="0 lets the kernel choose (default: %(default)s)")
    add(
        "--workers",
        type=_at_least(1),
        default=_count_cores(),
        help="worker processes (default: the cores, %(default)s)",
    )
    add(
        "--queue",
        type=_at_least(0),
        default=16,
        help="requests that may wait beyond the running ones (default: %(default)s)",
    )
    add("--max-bytes", type=_at_least(1), default=64 * 2**20, help="of one request (default: %(default)s)")
    add("--max-pixels", type=_at_least(1), default=50_000_000, help="of one image (default: %(default)s)")
    add(
        "--start-seconds",
        type=_at_least(1),
        default=30,
        help="for a worker to load what its tools need (default: %(default)s)",
    )
    add("--grace", type=_at_least(0), default=10, help="seconds to drain after SIGTERM (default: %(default)s)")
    add("--log-level", choices=["debug", "info", "warning", "error"], default="info")
    add("--exit-with-stdin", action="store_true", help="end when standard input closes")
    # Comma-separated modules, each with a TOOLS dictionary like the registry's.
    extra_tools = tuple(name for name in os.environ.get("IQA_SIDECAR_EXTRA_TOOLS", "").split(",") if name)
    return Settings(**vars(parser.parse_args(arguments)), extra_tools=extra_tools)


def _at_least(minimum: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"expected at least {minimum} but received {value}")
        return value

    return read


def _count_cores() -> int:
    """The cores this process may use, which in a container are fewer than the machine's."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
