"""Sends requests with mutated bytes to a real sidecar and records the answers.

npm run bench:mutations -- [count] [first seed]
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "sidecar"))

import httpx  # noqa: E402 - after sys.path

from tests.mutations import TIMEOUT_S, MutationReport  # noqa: E402
from tests.sidecar_process import Sidecar  # noqa: E402

WORKERS = 2


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        sidecar = Sidecar(Path(folder), "--workers", str(WORKERS))
        try:
            report = send_mutations(sidecar, first, count)
            health = sidecar.health()
        finally:
            sidecar.stop()
    result = {
        "what": "seeded byte mutations of requests to the sidecar (sidecar/tests/mutations.py)",
        "date": date.today().isoformat(),
        "requests": count,
        "first_seed": first,
        "answers": dict(report.answers.most_common()),
        "failures": report.failures[:20],
        "workers_replaced": health["workers"]["replaced"],
        "seconds": round(time.monotonic() - started),
    }
    text = json.dumps(result, indent=2)
    (ROOT / "benchmarks" / "results" / f"mutations-{result['date']}.json").write_text(text + "\n")
    print(text)
    return 1 if report.failures or result["workers_replaced"] else 0


def send_mutations(sidecar: Sidecar, first: int, count: int) -> MutationReport:
    report = MutationReport()

    def run(seeds: range) -> None:
        with httpx.Client(base_url=str(sidecar.client.base_url), timeout=TIMEOUT_S) as client:
            for seed in seeds:
                report.send(seed, client)

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(run, [range(first + index, first + count, WORKERS) for index in range(WORKERS)]))
    return report


if __name__ == "__main__":
    sys.exit(main())
