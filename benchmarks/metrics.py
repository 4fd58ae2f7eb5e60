"""Compares the speed of the full-reference tools with piq and pyiqa: CPU time on one thread, decoded pixels.

    npm run bench:metrics -- <folder of photos> [--peer-python <python with torch and piq>] [--output <file>]

The environment of the pyiqa tier (built by `npm run test:pyiqa`) is used automatically for the pyiqa column; after
`sidecar/.venv-pyiqa/bin/python -m pip install piq` also for piq's. A missing library is skipped. Photos are resized to
1920 × 1080 and compared with their JPEG at quality 30. Our rounds and the peers' alternate photo by photo, so that other
load on the machine affects both. The peers get gray planes where they would process each channel separately (SSIM,
MS-SSIM, VIFp), a third of the work. GMSD, which piq reduces to luma itself, is timed on colour and on gray pixels.
"""

from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sidecar"))

from iqa_sidecar.imaging.image import Pair, Image  # noqa: E402
from iqa_sidecar.metrics.registry import TOOLS, run_tool  # noqa: E402

NINE = ("PSNR", "SSIM", "MS-SSIM", "VIFp", "GMSD", "HaarPSI", "VSI", "FSIM", "MDSI")
# Speed-up over piq (floor and goal) and over pyiqa (goal).
TARGETS = {
    "SSIM": (20, 30, 300),
    "MS-SSIM": (12, 20, 200),
    "VIFp": (18, 25, None),
    "GMSD": (6, 8, 6),
    "HaarPSI": (6, 9, None),
    "VSI": (5, 8, 15),
    "FSIM": (2.3, 4, 4),
    "MDSI": (2.4, 4, None),
    "the nine": (11, 18, None),
}
# Not compared with a peer.
NO_REFERENCE = ("NIQE", "BRISQUE", "PIQE")
TOGETHER_LIMIT, TOGETHER_GOAL = 0.8, 0.6
TIER_PYTHON = ROOT / "sidecar" / ".venv-pyiqa" / "bin" / "python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", type=Path, help="folder of photos")
    parser.add_argument("--peer-python", default=str(TIER_PYTHON), help="interpreter that has torch and piq")
    parser.add_argument("--pyiqa-python", default=str(TIER_PYTHON), help="interpreter that has torch and pyiqa")
    parser.add_argument("--limit", type=int, default=4, help="number of photos, evenly spaced by name")
    parser.add_argument("--rounds", type=int, default=5, help="our rounds per photo; the peers run two")
    parser.add_argument("--output", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    peers = {
        name: start_peer(interpreter, name)
        for name, interpreter in (("piq", arguments.peer_python), ("pyiqa", arguments.pyiqa_python))
        if has_library(interpreter, name)
    }
    times: dict[str, dict[str, list[float]]] = {"ours": {}, **{name: {} for name in peers}}
    together: list[float] = []
    paths = sorted(path for path in arguments.photos.rglob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
    chosen = paths[:: max(1, len(paths) // arguments.limit)][: arguments.limit]
    for path in chosen:
        reference = read_photo(path)
        image = cv2.imdecode(cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 30])[1], cv2.IMREAD_COLOR)
        measure_ours(image, reference, arguments.rounds, times["ours"], together)
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            np.save(file, np.stack([image, reference]))
            file.flush()
            for name, peer in peers.items():
                for metric, seconds in ask_peer(peer, file.name).items():
                    times[name].setdefault(metric, []).append(seconds)
    result = summarise(times, together, len(chosen))
    print(json.dumps(result, indent=2))
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n")


def read_photo(path: Path) -> np.ndarray:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise SystemExit(f"Expected a readable photo but received {path}")
    return cv2.resize(pixels, (1920, 1080), interpolation=cv2.INTER_AREA if pixels.shape[1] > 1920 else cv2.INTER_CUBIC)


def measure_ours(
    image: np.ndarray, reference: np.ndarray, rounds: int, times: dict[str, list[float]], together: list[float]
) -> None:
    """Every round starts from the decoded pixels, without caches."""
    planes = [Image(pixels).luma_bytes for pixels in (image, reference)]
    for turn in range(rounds + 1):
        for name in (*NINE, *NO_REFERENCE):
            pair = Pair(Image(image), Image(reference))
            started = time.process_time()
            run_tool(TOOLS[name], pair, False)
            if turn > 0:
                times.setdefault(name, []).append(time.process_time() - started)
        pair = Pair(*(Image(plane) for plane in planes))
        started = time.process_time()
        run_tool(TOOLS["GMSD"], pair, False)
        if turn > 0:
            times.setdefault("GMSD on luma", []).append(time.process_time() - started)
        pair = Pair(Image(image), Image(reference))
        started = time.process_time()
        for name in NINE:
            run_tool(TOOLS[name], pair, False)
        if turn > 0:
            together.append(time.process_time() - started)


def has_library(interpreter: str, library: str) -> bool:
    """Does not import the library, which would take seconds and gigabytes."""
    if not Path(interpreter).exists():
        return False
    search = f"import importlib.util, sys; sys.exit(importlib.util.find_spec('{library}') is None)"
    return subprocess.run([interpreter, "-c", search], check=False).returncode == 0


def start_peer(interpreter: str, library: str) -> subprocess.Popen[str]:
    script = str(Path(__file__).with_name("metrics_peer.py"))
    return subprocess.Popen([interpreter, script, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask_peer(peer: subprocess.Popen[str], file: str) -> dict[str, float]:
    assert peer.stdin is not None and peer.stdout is not None
    peer.stdin.write(file + "\n")
    peer.stdin.flush()
    line = peer.stdout.readline()
    if not line:
        raise SystemExit("Expected times from a peer but it exited; its error is above")
    return json.loads(line)


def summarise(times: dict[str, dict[str, list[float]]], together: list[float], photos: int) -> dict[str, object]:
    medians = {
        library: {name: statistics.median(values) * 1000 for name, values in rows.items()}
        for library, rows in times.items()
    }
    single = sum(medians["ours"][name] for name in NINE)
    nine = statistics.median(together) * 1000
    rows: dict[str, dict[str, object]] = {}
    for name in (*NINE, "the nine"):
        ours = nine if name == "the nine" else medians["ours"][name]
        floor, goal, pyiqa_goal = TARGETS.get(name, (None, None, None))
        row: dict[str, object] = {"ms": round(ours, 1)}
        for library in ("piq", "pyiqa"):
            theirs = medians.get(library, {})
            has_all = name == "the nine" and all(metric in theirs for metric in NINE)
            known = sum(theirs[metric] for metric in NINE) if has_all else theirs.get(name)
            if known is not None:
                row[f"{library}_ms"] = round(known, 1)
                row[f"times_{library}"] = round(known / ours, 1)
        if name == "GMSD" and "GMSD on luma" in medians.get("piq", {}):
            row["times_piq_on_luma"] = round(medians["piq"]["GMSD on luma"] / medians["ours"]["GMSD on luma"], 1)
        if floor is not None:
            row |= {"floor_piq": floor, "goal_piq": goal}
        if pyiqa_goal is not None:
            row["goal_pyiqa"] = pyiqa_goal
        rows[name] = row
    return {
        "benchmark": "metrics",
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT, check=False
        ).stdout.strip(),
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "python": platform.python_version()},
        "load_average": os.getloadavg()[0],
        "photos": photos,
        "size": "1920 × 1080",
        "tools": rows,
        "no_reference_ms": {name: round(medians["ours"][name], 1) for name in NO_REFERENCE},
        "together_over_sum_of_singles": {
            "ratio": round(nine / single, 2),
            "limit": TOGETHER_LIMIT,
            "goal": TOGETHER_GOAL,
        },
    }


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


if __name__ == "__main__":
    main()
