"""Measures how CPU time and memory of each tool grow with the image: one process per tool and size, one thread.

    npm run bench:scaling -- <photo> [--megapixels 2 8 24 50] [--tools SSIM FSIM …]

Memory is the peak above the interpreter, its modules and the two decoded images, in bytes per pixel of one image. Time is
the minimum of three rounds that reuse their memory, because the cost of fresh pages depends more on the machine than on
the tool. `growth` is the time per megapixel at the largest size divided by that at the second smallest (smaller images
fit into caches): 1 is linear.
"""

from __future__ import annotations

import os

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import argparse
import json
import platform
import subprocess
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "sidecar"))

NINE = ("PSNR", "SSIM", "MS-SSIM", "VIFp", "GMSD", "HaarPSI", "VSI", "FSIM", "MDSI")
SINGLE_TOOLS = (*NINE, "NIQE", "BRISQUE", "PIQE")
GOAL_BYTES = 48
ROUNDS = 3
# glibc settings: freed memory stays with the process.
KEPT_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photo", type=Path, help="a photo, resized to every size")
    parser.add_argument("--megapixels", type=float, nargs="+", default=[2, 8, 24, 50])
    parser.add_argument(
        "--tools", nargs="+", default=[*SINGLE_TOOLS, "+".join(NINE)], help="names; several joined by + share a pair"
    )
    parser.add_argument("--output", type=Path, help="JSON file to write")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measure(arguments.photo, arguments.one[0].split("+"), float(arguments.one[1]))))
        return
    rows: dict[str, dict[str, object]] = {}
    most = 0.0
    for tool in arguments.tools:
        rows[tool] = {}
        speeds = []
        for size in sorted(arguments.megapixels):
            command = [sys.executable, __file__, str(arguments.photo), "--one", tool, str(size)]
            timed, plain = (
                json.loads(subprocess.run(command, stdout=subprocess.PIPE, env=os.environ | extra, check=True).stdout)
                for extra in (KEPT_MEMORY, {})
            )
            one = timed | {"bytes_per_pixel": plain["bytes_per_pixel"]}
            rows[tool][f"{size:g} MP"] = one
            speeds.append(one["ms_per_megapixel"])
            # At the smallest size, memory is mostly independent of the size.
            most = max(most, one["bytes_per_pixel"] if size > min(arguments.megapixels) else 0.0)
        rows[tool]["growth"] = round(speeds[-1] / speeds[min(1, len(speeds) - 1)], 2)
    result = {
        "benchmark": "scaling",
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "load_average": round(os.getloadavg()[0], 2),
        "most_bytes_per_pixel": most,
        "limit_bytes_per_pixel": GOAL_BYTES,
        "tools": rows,
    }
    print(json.dumps(result, indent=2))
    if arguments.output:
        arguments.output.write_text(json.dumps(result, indent=2) + "\n")


def measure(photo: Path, tools: list[str], megapixels: float) -> dict[str, float]:
    import cv2

    from iqa_sidecar.imaging.image import Pair, Image
    from iqa_sidecar.metrics.registry import TOOLS, run_tool

    cv2.setNumThreads(1)
    height = round((megapixels * 1e6 / 1.5) ** 0.5)
    reference = cv2.resize(cv2.imread(str(photo)), (round(height * 1.5), height), interpolation=cv2.INTER_CUBIC)
    image = cv2.imdecode(cv2.imencode(".jpg", reference, [cv2.IMWRITE_JPEG_QUALITY, 30])[1], cv2.IMREAD_COLOR)
    # A small run first, so that one-time loading is not counted.
    for tool in tools:
        run_tool(TOOLS[tool], Pair(Image(image[:256, :256]), Image(reference[:256, :256])), False)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak_bytes()
    spent = []
    for _ in range(ROUNDS):
        # A new pair each time, so that nothing is cached.
        pair = Pair(Image(image), Image(reference))
        started = time.process_time()
        for tool in tools:
            run_tool(TOOLS[tool], pair, False)
        spent.append(time.process_time() - started)
    pixels = image.shape[0] * image.shape[1]
    return {
        "ms_per_megapixel": round(min(spent) * 1e9 / pixels, 2),
        "bytes_per_pixel": round((peak_bytes() - before) / pixels, 1),
    }


def peak_bytes() -> int:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main()
