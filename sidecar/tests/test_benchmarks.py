"""The Python benchmarks are run by hand, so that what they import may move away unseen."""

import subprocess
import sys
from pathlib import Path

import pytest

# A peer is run by an interpreter that has torch.
BENCHMARKS = sorted(
    path for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py") if not path.stem.endswith("_peer")
)


def test_there_are_benchmarks() -> None:
    assert len(BENCHMARKS) >= 4


@pytest.mark.system
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_can_be_loaded(path: Path) -> None:
    # In a process of its own: they set the number of threads before anything else is loaded.
    load = f"import runpy; runpy.run_path({str(path)!r}, run_name='loaded')"
    done = subprocess.run([sys.executable, "-B", "-c", load], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
