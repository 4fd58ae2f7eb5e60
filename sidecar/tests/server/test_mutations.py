"""Five hundred requests with mutated bytes: each is measured or rejected, and no worker dies."""

import httpx
import pytest

from tests.mutations import TIMEOUT_S, MutationReport, make_request
from tests.sidecar_process import Sidecar


def test_the_same_seed_makes_the_same_bytes() -> None:
    assert [make_request(seed) for seed in range(20)] == [make_request(seed) for seed in range(20)]
    assert len({make_request(seed) for seed in range(100)}) > 90


@pytest.mark.system
# OpenCV warns of damaged files.
@pytest.mark.filterwarnings("ignore")
def test_mutated_requests_are_measured_or_rejected(sidecar: Sidecar) -> None:
    report = MutationReport()
    with httpx.Client(base_url=str(sidecar.client.base_url), timeout=TIMEOUT_S) as client:
        for seed in range(500):
            report.send(seed, client)
    assert report.failures == []
    # The mutator reaches every layer: frame, header, decoder, tools.
    expected = {"measured", "400 BAD_FRAME", "400 BAD_HEADER", "422 UNDECODABLE_IMAGE", "422 UNDECODABLE_REFERENCE"}
    assert expected <= set(report.answers), report.answers
    assert sidecar.health()["workers"]["replaced"] == 0
