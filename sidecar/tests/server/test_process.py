"""The process: start, output, draining, and that no process is left when it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import StartSidecar
from tests.sidecar_process import ROOT, TIMEOUT_S, Sidecar, call, wait_until


def close_stdin(sidecar: Sidecar) -> None:
    assert sidecar.process.stdin is not None
    sidecar.process.stdin.close()


def test_prints_its_address_and_nothing_else(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    assert sidecar.listening == {
        "event": "listening",
        "host": "127.0.0.1",
        "port": sidecar.listening["port"],
        "pid": sidecar.process.pid,
    }
    sidecar.measure(image, tools=[call("PRINT")])
    sidecar.process.send_signal(signal.SIGTERM)
    assert sidecar.process.stdout is not None
    assert sidecar.process.stdout.read() == b""


def test_server_process_imports_neither_numpy_nor_opencv(start_sidecar: StartSidecar) -> None:
    sidecar = start_sidecar("--workers", "1")
    mapped = Path(f"/proc/{sidecar.process.pid}/maps").read_text()
    assert "numpy" not in mapped
    assert "cv2" not in mapped


@pytest.mark.system
@pytest.mark.parametrize(
    ("end", "options", "code"),
    [
        (lambda sidecar: sidecar.process.kill(), [], -signal.SIGKILL),
        (lambda sidecar: sidecar.process.send_signal(signal.SIGTERM), ["--grace", "0"], 0),
        (lambda sidecar: sidecar.process.send_signal(signal.SIGINT), ["--grace", "0"], 0),
        # Ctrl-C and service managers signal every process of the group.
        (lambda sidecar: os.killpg(sidecar.process.pid, signal.SIGTERM), ["--grace", "0"], 0),
        (close_stdin, ["--exit-with-stdin", "--grace", "0"], 0),
    ],
    ids=["SIGKILL", "SIGTERM", "SIGINT", "SIGTERM to the group", "closed stdin"],
)
def test_no_process_is_left_even_while_a_tool_runs(
    start_sidecar: StartSidecar, image: bytes, end: Callable[[Sidecar], None], options: list[str], code: int
) -> None:
    sidecar = start_sidecar("--workers", "2", *options)
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(sidecar.measure, image, tools=[call("SLOW")])
        wait_until(lambda: sidecar.marked("slow"))
        assert len(sidecar.processes()) >= 4
        end(sidecar)
        wait_until(lambda: not sidecar.processes())
        assert sidecar.process.wait() == code
        assert answer.exception() is not None


@pytest.mark.system
@pytest.mark.parametrize(
    "end",
    [
        lambda sidecar: sidecar.process.send_signal(signal.SIGTERM),
        lambda sidecar: os.killpg(sidecar.process.pid, signal.SIGTERM),
        close_stdin,
    ],
    ids=["SIGTERM", "SIGTERM to the group", "closed stdin"],
)
def test_running_requests_are_drained(
    start_sidecar: StartSidecar, image: bytes, end: Callable[[Sidecar], None]
) -> None:
    sidecar = start_sidecar("--workers", "1", "--exit-with-stdin")
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(sidecar.measure, image, tools=[call("GATE"), call("BRIEF"), call("PROCESS")])
        wait_until(lambda: sidecar.marked("gate"))
        end(sidecar)
        sidecar.open_gate()
        assert answer.result()[-1]["event"] == "end"
    assert sidecar.process.wait(TIMEOUT_S) == 0
    # No worker was lost and its work repeated.
    assert "worker replaced" not in [line["event"] for line in sidecar.log()]
    wait_until(lambda: not sidecar.processes())


def test_stdin_may_close_without_the_option(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    close_stdin(sidecar)
    with pytest.raises(subprocess.TimeoutExpired):
        sidecar.process.wait(0.5)
    assert sidecar.measure(image)[-1]["event"] == "end"


def start_and_fail(*options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "iqa_sidecar", *options]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True, timeout=20, check=False
    )


def test_module_that_cannot_be_imported_fails_at_start() -> None:
    ended = start_and_fail(IQA_SIDECAR_EXTRA_TOOLS="no_such_module")
    assert ended.returncode == 1
    assert ended.stdout == ""
    *_, last = ended.stderr.splitlines()
    assert "no_such_module" in json.loads(last)["traceback"]


def test_port_in_use_fails_at_start(sidecar: Sidecar) -> None:
    ended = start_and_fail("--port", str(sidecar.listening["port"]), "--workers", "1")
    assert ended.returncode == 1
    assert "in use" in json.loads(ended.stderr.splitlines()[-1])["traceback"]


@pytest.mark.parametrize("option", [("--workers", "0"), ("--queue", "-1"), ("--max-bytes", "x"), ("--no-such",)])
def test_bad_option_is_refused(option: tuple[str, ...]) -> None:
    ended = start_and_fail(*option)
    assert ended.returncode == 2
    assert ended.stdout == ""
