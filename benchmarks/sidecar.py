"""Measures the whole sidecar: start-up, idle memory, installed size, scaling to two cores, EfficientNet features.

    npm run bench:sidecar -- <photo> [--requests 24] [--output file]

Run it on an idle machine with two cores or more: unlike in metrics.py, times are wall-clock times.
"""

from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import signal
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sidecar"))

import cv2  # noqa: E402 - after sys.path
import httpx  # noqa: E402
import numpy as np  # noqa: E402

from iqa_sidecar.imaging.image import Image  # noqa: E402
from iqa_sidecar.networks.catalogue import EFFICIENTNET, model_folders  # noqa: E402
from iqa_sidecar.networks.features import efficientnet_features  # noqa: E402
from iqa_sidecar.networks.runtime import unavailable_reason  # noqa: E402
from iqa_sidecar.server.contract import MEDIA_TYPE  # noqa: E402
from tests.sidecar_process import Sidecar, build_frame, call  # noqa: E402

NINE = ("PSNR", "SSIM", "MS-SSIM", "VIFp", "GMSD", "HaarPSI", "VSI", "FSIM", "MDSI")
CLIENTS = 4
STARTS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "photo", type=Path, help="resized to 1920 × 1080 for the requests, to 512 × 384 for the features"
    )
    parser.add_argument("--requests", type=int, default=24, help="concurrent requests, for each number of workers")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    # An interrupted run must stop the sidecar that it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    photo = cv2.imread(str(arguments.photo))
    if photo is None:
        raise SystemExit(f"Expected a readable photo but received {arguments.photo}")
    load_average = os.getloadavg()[0]
    starts, memory = measure_starts()
    throughput = {workers: measure_throughput(photo, workers, arguments.requests) for workers in (1, 2)}
    result = {
        "benchmark": "sidecar",
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "cores": os.cpu_count(),
        "load_average_before": round(load_average, 2),
        "import_to_serving_s": {"median": round(statistics.median(starts), 2), "limit": 1.2},
        "idle_pss_mb": {"all_processes": round(memory, 1), "limit": 150},
        "installed_mb": {"packages_and_networks": measure_environment(), "limit": 450},
        "requests_a_second": {f"{workers} workers": round(rate, 2) for workers, rate in throughput.items()},
        "two_cores_over_one": {"ratio": round(throughput[2] / throughput[1], 2), "floor": 1.5, "goal": 1.8},
        "efficientnet_ms_512x384": {"median": measure_features(photo), "limit": 45},
    }
    print(json.dumps(result, indent=2))
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n")


def measure_starts() -> tuple[list[float], float]:
    """Seconds from the start of the interpreter to the first scored image, and memory after one idle second."""
    tiny = cv2.imencode(".png", np.zeros((32, 32, 3), np.uint8))[1].tobytes()
    seconds, memory = [], 0.0
    for _ in range(STARTS):
        with tempfile.TemporaryDirectory() as folder:
            started = time.perf_counter()
            # Two workers, as on a machine with two cores; without the tools of the tests.
            sidecar = Sidecar(Path(folder), "--workers", "2", extra_tools="")
            try:
                sidecar.measure(tiny, tiny, tools=[call("PSNR")])
                seconds.append(time.perf_counter() - started)
                time.sleep(1)
                memory = sum(read_pss(process) for process in sidecar.processes())
            finally:
                sidecar.stop()
    return seconds, memory


def read_pss(process: int) -> float:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024


def measure_environment() -> int:
    """Megabytes of the packages in the lock file (without development tools) and of the networks."""
    lock = (ROOT / "sidecar" / "requirements.lock").read_text().splitlines()
    names = {line.split("==")[0].lower() for line in lock if "==" in line and not line.startswith((" ", "#"))}
    # Some packages are for other Python versions and not installed here.
    packages = [package for package in metadata.distributions() if package.name.lower().replace("_", "-") in names]
    files = [Path(str(file.locate())) for package in packages for file in package.files or []]
    files += model_folders()[0].rglob("*")
    return round(sum(file.stat().st_size for file in files if file.is_file()) / 1e6)


def measure_throughput(photo: np.ndarray, workers: int, requests: int) -> float:
    """Requests per second for nine full-reference tools, with four concurrent clients."""
    reference = cv2.resize(photo, (1920, 1080), interpolation=cv2.INTER_AREA)
    image = cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 30])[1].tobytes()
    frame = build_frame(
        image,
        cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes(),
        tools=[call(name) for name in NINE],
        tool_timeout_ms=60_000,
    )
    with tempfile.TemporaryDirectory() as folder:
        sidecar = Sidecar(Path(folder), "--workers", str(workers), "--queue", "64", extra_tools="")
        url = f"{sidecar.client.base_url}/v1/measure"

        def ask(_index: int) -> None:
            answer = httpx.post(url, content=frame, headers={"content-type": MEDIA_TYPE}, timeout=120)
            last = json.loads(answer.text.splitlines()[-1])
            if answer.status_code != 200 or last["event"] != "end":
                raise SystemExit(f"Expected a complete answer but received {answer.status_code} {answer.text[-300:]}")

        try:
            with ThreadPoolExecutor(CLIENTS) as pool:
                list(pool.map(ask, range(2 * workers)))
                started = time.perf_counter()
                list(pool.map(ask, range(requests)))
                return requests / (time.perf_counter() - started)
        finally:
            sidecar.stop()


def measure_features(photo: np.ndarray) -> float | str:
    reason = unavailable_reason(EFFICIENTNET)
    if reason is not None:
        return reason
    small = cv2.resize(photo, (512, 384), interpolation=cv2.INTER_AREA)
    times = []
    for _ in range(8):
        started = time.process_time()
        efficientnet_features(Image(small))
        times.append((time.process_time() - started) * 1000)
    return round(statistics.median(times[1:]), 1)


if __name__ == "__main__":
    main()
