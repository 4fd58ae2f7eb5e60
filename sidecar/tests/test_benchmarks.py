"""The Python benchmarks can be imported; they are run by hand only."""

import subprocess
import sys
from pathlib import Path

import pytest

# A peer needs an interpreter with torch.
BENCHMARKS = sorted(
    path for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py") if not path.stem.endswith("_peer")
)


def test_there_are_benchmarks() -> None:
    assert len(BENCHMARKS) >= 4


@pytest.mark.system
@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_can_be_loaded(path: Path) -> None:
    # In another process: they set the number of threads before importing numpy.
    load = f"import runpy; runpy.run_path({str(path)!r}, run_name='loaded')"
    done = subprocess.run([sys.executable, "-B", "-c", load], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
