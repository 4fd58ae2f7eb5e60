"""Starts a real sidecar process and sends it HTTP requests."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from iqa_sidecar.server.contract import MEDIA_TYPE

ROOT = Path(__file__).parent.parent


class Sidecar:
    def __init__(
        self, folder: Path, *options: str, extra_tools: str = "tests.extra_tools", python: str = sys.executable
    ) -> None:
        self.marks = folder
        self._log = folder / "log"
        environment = {**os.environ, "IQA_SIDECAR_EXTRA_TOOLS": extra_tools, "IQA_TEST_MARKS": str(folder)}
        command = [python, "-m", "iqa_sidecar", "--port", "0", "--log-level", "debug", *options]
        with self._log.open("wb") as log:
            # Its own process group, so that a test can check that no process is left.
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()
        assert self.first_line, self._log.read_text()
        self.listening: dict[str, Any] = json.loads(self.first_line)
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{self.listening['port']}", timeout=30)

    def post(self, body: bytes, media_type: str = MEDIA_TYPE) -> httpx.Response:
        return self.client.post("/v1/measure", content=body, headers={"content-type": media_type})

    def measure(self, image: bytes, reference: bytes = b"", **header: object) -> list[dict[str, Any]]:
        response = self.post(build_frame(image, reference, **header))
        assert response.status_code == 200, response.text
        return [json.loads(line) for line in response.text.splitlines()]

    def health(self) -> dict[str, Any]:
        body: dict[str, Any] = self.client.get("/v1/health").json()
        return body

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def processes(self) -> list[int]:
        """All running processes of its group: server, fork server, resource tracker, workers."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    state, _, group = (entry / "stat").read_text().rpartition(") ")[2].split()[:3]
                except OSError:
                    continue
                if int(group) == self.process.pid and state != "Z":
                    found.append(int(entry.name))
        return found

    def marked(self, name: str) -> list[int]:
        """The processes in which a misbehaving tool was called."""
        path = self.marks / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def open_gate(self) -> None:
        """Lets every GATE end, now and later."""
        (self.marks / "gate-opened").touch()

    def stop(self) -> None:
        self.client.close()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def build_frame(image: bytes, reference: bytes = b"", **header: object) -> bytes:
    fields: dict[str, object] = {
        "contract": 1,
        "request_id": "test",
        "image_bytes": len(image),
        "reference_bytes": len(reference),
        "regions": {},
        "measurements": [],
        "tools": [],
        "jpeg_quality": None,
        "tool_timeout_ms": 60_000,
        **header,
    }
    data = json.dumps(fields).encode()
    return struct.pack(">I", len(data)) + data + image + reference


def call(name: str, region: str = "Global", wants_map: bool = False, wants_grid: bool = False) -> dict[str, object]:
    return {"name": name, "region": region, "map": wants_map, "grid": wants_grid}


# Longer than a busy machine needs, far less than the slow tool sleeps or its time limit.
TIMEOUT_S = 10


def wait_until(condition: Callable[[], object]) -> None:
    """Fails if the condition does not become true in time."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < TIMEOUT_S, f"not within {TIMEOUT_S} s"
        time.sleep(0.01)
