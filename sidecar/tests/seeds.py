"""Seeds of the generated images. The default run uses three; `pytest -m system` adds the other seven."""

import pytest

SEEDS = [1, 2, 3, *(pytest.param(seed, marks=pytest.mark.system) for seed in range(4, 11))]
