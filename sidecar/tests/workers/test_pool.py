"""Workers that hang, crash or lose their client, and the queue; all in a running sidecar."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from iqa_sidecar.server.contract import MEDIA_TYPE
from tests.conftest import StartSidecar, encode_image
from tests.extra_tools import DEADLY_TAIL
from tests.sidecar_process import Sidecar, build_frame, call, wait_until


def replacements(sidecar: Sidecar) -> list[dict[str, Any]]:
    return [line for line in sidecar.log() if line["event"] == "worker replaced"]


def count_requests(sidecar: Sidecar) -> tuple[int, int]:
    """Running and waiting requests."""
    health = sidecar.health()
    return health["workers"]["busy"], health["queue"]["waiting"]


def send_and_keep_open(sidecar: Sidecar, body: bytes) -> socket.socket:
    """A client connection that the test can close at any time."""
    client = socket.create_connection(("127.0.0.1", sidecar.listening["port"]))
    head = f"POST /v1/measure HTTP/1.1\r\nhost: x\r\ncontent-type: {MEDIA_TYPE}\r\ncontent-length: {len(body)}\r\n\r\n"
    client.sendall(head.encode() + body)
    return client


@pytest.mark.system
def test_timeout_replaces_the_worker_and_goes_on(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    tools = [call("PROCESS"), call("SLOW"), call("PROCESS", "Part")]
    lines = sidecar.measure(image, regions={"Part": [0, 0, 9, 9]}, tools=tools, tool_timeout_ms=2000)
    _, before, slow, after, end = lines
    assert slow["error"]["code"] == "TOOL_TIMEOUT"
    assert slow["value"] is None
    assert slow["version"] == "1"
    # Less than the minute that the tool sleeps.
    assert 2000 <= slow["time_ms"] < 20_000
    assert after["error"] is None
    assert after["value"] != before["value"]
    assert end["event"] == "end"
    assert int(before["value"]) not in sidecar.processes()
    assert [line["level"] for line in replacements(sidecar)] == ["warning"]
    assert sidecar.health()["workers"] == {"total": 1, "busy": 0, "replaced": 1}


@pytest.mark.system
def test_death_is_retried_once(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    _, once, always, after, end = sidecar.measure(image, tools=[call("DIE-ONCE"), call("DIE"), call("PROCESS")])
    assert (once["value"], once["error"]) == (0.5, None)
    assert len(set(sidecar.marked("die-once"))) == 2
    assert always["error"]["code"] == "TOOL_CRASHED"
    assert len(set(sidecar.marked("die"))) == 2
    assert after["error"] is None
    assert end["event"] == "end"
    assert len(replacements(sidecar)) == 3
    assert replacements(sidecar)[0]["request_id"] == "test"


@pytest.mark.system
def test_worker_killed_from_outside_in_the_middle_of_a_tool(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    with ThreadPoolExecutor() as threads:
        answer = threads.submit(sidecar.measure, image, tools=[call("SLOW"), call("PROCESS")], tool_timeout_ms=4000)
        wait_until(lambda: len(sidecar.marked("slow")) == 1)
        os.kill(sidecar.marked("slow")[0], signal.SIGKILL)
        _, slow, after, _ = answer.result()
    assert len(set(sidecar.marked("slow"))) == 2
    assert slow["error"]["code"] == "TOOL_TIMEOUT"
    assert after["error"] is None


@pytest.mark.system
def test_worker_killed_while_idle_is_not_noticed_by_the_next_request(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    first = sidecar.measure(image, tools=[call("PROCESS")])[1]["value"]
    os.kill(int(first), signal.SIGKILL)
    second = sidecar.measure(image, tools=[call("PROCESS")])[1]
    assert second["error"] is None
    assert second["value"] != first


@pytest.mark.system
def test_fork_server_killed_is_started_again(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    worker = int(sidecar.measure(image, tools=[call("PROCESS")])[1]["value"])
    fork_server = int(Path(f"/proc/{worker}/stat").read_text().rpartition(") ")[2].split()[1])
    assert fork_server in sidecar.processes()
    os.kill(fork_server, signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    assert sidecar.measure(image, tools=[call("PROCESS")])[1]["error"] is None


@pytest.mark.system
def test_decoder_that_crashes_twice_is_a_bad_image(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    response = sidecar.post(build_frame(image + DEADLY_TAIL))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "UNDECODABLE_IMAGE")
    assert len(replacements(sidecar)) == 2
    assert sidecar.measure(image, tools=[call("PROCESS")])[1]["error"] is None


def test_what_a_worker_prints_becomes_lines_of_the_log(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    sidecar.measure(image, tools=[call("PRINT")])
    printed = {"words on standard output", "words on standard error"}
    wait_until(lambda: printed <= {line.get("text") for line in sidecar.log()})


def test_full_queue_is_busy_and_order_is_kept(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1", "--queue", "2")
    ended: list[str] = []

    def ask(name: str) -> list[dict[str, Any]]:
        lines = sidecar.measure(image, tools=[call("GATE" if name == "first" else "BRIEF")], request_id=name)
        ended.append(name)
        return lines

    with ThreadPoolExecutor() as threads:
        answers = []
        for number, name in enumerate(["first", "second", "third"]):
            answers.append(threads.submit(ask, name))
            wait_until(lambda: count_requests(sidecar) == (1, number))  # noqa: B023 - called before number changes
        # Larger than the socket buffers: rejected without being read into memory.
        refused = sidecar.post(build_frame(b"x" * 20_000_000))
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "BUSY")
        assert int(refused.headers["retry-after"]) >= 1
        sidecar.open_gate()
        waits = [answer.result()[0]["queue_ms"] for answer in answers]
    assert ended == ["first", "second", "third"]
    # The second waited for the gate, the third also for the second, which sleeps 300 ms.
    assert waits[1] > 0
    assert waits[2] >= 300
    assert sidecar.health()["queue"] == {"waiting": 0, "limit": 2}


@pytest.mark.system
def test_slot_is_free_after_the_last_line(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1", "--queue", "0")
    for _ in range(200):
        assert sidecar.measure(image)[-1]["event"] == "end"


def test_two_workers_run_two_requests_at_once(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "2")
    with ThreadPoolExecutor() as threads:
        answers = [threads.submit(sidecar.measure, image, tools=[call("GATE"), call("PROCESS")]) for _ in range(2)]
        # Neither ends before both have started.
        wait_until(lambda: len(sidecar.marked("gate")) == 2)
        sidecar.open_gate()
        lines = [answer.result() for answer in answers]
    assert lines[0][2]["value"] != lines[1][2]["value"]


def test_disconnect_frees_the_worker(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    client = send_and_keep_open(sidecar, build_frame(image, tools=[call("SLOW"), call("DIE")]))
    wait_until(lambda: sidecar.marked("slow"))
    client.close()
    wait_until(lambda: sidecar.marked("slow")[0] not in sidecar.processes())
    assert sidecar.measure(image, tools=[call("PROCESS")])[1]["error"] is None
    assert sidecar.marked("die") == []
    assert sidecar.health()["workers"] == {"total": 1, "busy": 0, "replaced": 1}


def test_disconnect_while_queued_frees_the_slot(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1", "--queue", "1")
    with ThreadPoolExecutor() as threads:
        running = threads.submit(sidecar.measure, image, tools=[call("GATE")])
        wait_until(lambda: count_requests(sidecar) == (1, 0))
        queued = send_and_keep_open(sidecar, build_frame(image, tools=[call("DIE")]))
        wait_until(lambda: count_requests(sidecar) == (1, 1))
        queued.close()
        wait_until(lambda: count_requests(sidecar) == (1, 0))
        sidecar.open_gate()
        assert running.result()[-1]["event"] == "end"
    assert sidecar.marked("die") == []
    assert replacements(sidecar) == []


def test_lines_arrive_as_each_tool_ends(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    body = build_frame(image, tools=[call("PROCESS"), call("GATE"), call("BRIEF")])
    headers = {"content-type": MEDIA_TYPE}
    with sidecar.client.stream("POST", "/v1/measure", content=body, headers=headers) as response:
        lines = (json.loads(line) for line in response.iter_lines())
        assert next(lines)["event"] == "image"
        # Received while the next tool is still running.
        assert next(lines)["tool"] == "PROCESS"
        sidecar.open_gate()
        assert [line.get("tool") for line in lines] == ["GATE", "BRIEF", None]


@pytest.mark.system
def test_memory_is_given_back_after_a_large_image(start_sidecar: StartSidecar) -> None:
    sidecar = start_sidecar("--workers", "1")
    large = encode_image(5000, 3000, ".jpg")
    answer = sidecar.measure(large, large, measurements=[], tools=[call("SSIM"), call("PROCESS")])
    worker = int(answer[2]["value"])

    def resident_megabytes() -> int:
        pages = int(Path(f"/proc/{worker}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 2**20

    # It held 86 MB of pixels and several times that in the tool's planes.
    wait_until(lambda: resident_megabytes() < 110)


@pytest.mark.system
def test_many_clients_at_once_all_get_an_answer(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "2", "--queue", "30")
    barrier = threading.Barrier(24)

    def ask(number: int) -> bool:
        barrier.wait()
        tool = ["PROCESS", "DIE", "FAIL", "INFINITE"][number % 4]
        lines = sidecar.measure(image, tools=[call(tool), call("PROCESS")])
        return lines[-1]["event"] == "end" and lines[2]["error"] is None

    with ThreadPoolExecutor(24) as threads:
        assert all(threads.map(ask, range(24)))
    wait_until(lambda: sidecar.health()["workers"]["busy"] == 0)
