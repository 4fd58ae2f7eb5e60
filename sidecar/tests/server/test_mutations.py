"""Five hundred requests with broken bytes: each is measured or refused, no worker dies, and the sidecar lives on."""

import httpx
import pytest

from tests.mutations import PATIENCE, Verdict, make_request
from tests.sidecar_process import Sidecar


def test_the_same_seed_makes_the_same_bytes() -> None:
    assert [make_request(seed) for seed in range(20)] == [make_request(seed) for seed in range(20)]
    assert len({make_request(seed) for seed in range(100)}) > 90


@pytest.mark.system
# OpenCV warns of damaged files, which is what they are here.
@pytest.mark.filterwarnings("ignore")
def test_broken_bytes_break_nothing(sidecar: Sidecar) -> None:
    verdict = Verdict()
    with httpx.Client(base_url=str(sidecar.client.base_url), timeout=PATIENCE) as client:
        for seed in range(500):
            verdict.judge(seed, client)
    assert verdict.failures == []
    # The mutator reaches every layer: frame, header, decoder, tools.
    expected = {"measured", "400 BAD_FRAME", "400 BAD_HEADER", "422 UNDECODABLE_IMAGE", "422 UNDECODABLE_REFERENCE"}
    assert expected <= set(verdict.answers), verdict.answers
    assert sidecar.health()["workers"]["replaced"] == 0
