"""The contract's structures agree with the fixtures of both sides, and with its documentation."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from iqa_sidecar.server import contract
from iqa_sidecar.server.openapi import build_openapi
from tests.sidecar_process import ROOT, Sidecar

FIXTURES = ROOT / "contract"
PAGE = ROOT.parent / "docs" / "sidecar-contract.md"


def read_fixture(name: str) -> Any:
    return json.loads((FIXTURES / name).read_text())


def test_example_answer_round_trips_and_shows_every_kind_of_line() -> None:
    lines = (FIXTURES / "answer.ndjson").read_bytes().splitlines()
    events = [msgspec.json.decode(line, type=contract.AnyEvent) for line in lines]
    assert [json.loads(msgspec.json.encode(event)) for event in events] == [json.loads(line) for line in lines]
    assert isinstance(events[0], contract.ImageEvent)
    assert isinstance(events[-1], contract.EndEvent)
    tools = [event for event in events if isinstance(event, contract.ToolEvent)]
    assert {tool.error.code for tool in tools if tool.error} == set(get_args(contract.ToolErrorCode))
    assert all((tool.value is None) == (tool.error is not None) for tool in tools)
    assert any(tool.map and tool.grid for tool in tools)


def test_answer_that_failed_after_it_had_started() -> None:
    *_, last = (FIXTURES / "answer-failed.ndjson").read_bytes().splitlines()
    assert isinstance(msgspec.json.decode(last, type=contract.AnyEvent), contract.ErrorEvent)


@pytest.mark.parametrize(("name", "struct"), [("tools.json", contract.ToolsBody), ("health.json", contract.HealthBody)])
def test_example_bodies_round_trip(name: str, struct: type) -> None:
    body = read_fixture(name)
    assert msgspec.to_builtins(msgspec.convert(body, struct)) == body


def test_example_errors_cover_every_code_with_its_status() -> None:
    rows = read_fixture("errors.json")
    errors = [(row["status"], msgspec.convert(row["body"], contract.ErrorBody).error.code) for row in rows]
    assert {code: status for status, code in errors} == contract.STATUS


def test_status_table_has_every_code() -> None:
    assert set(contract.STATUS) == set(get_args(contract.RequestErrorCode))


@pytest.mark.parametrize("struct", [contract.Header, contract.ToolCall, contract.ToolsBody, contract.HealthBody])
def test_only_grid_is_optional_and_unknown_fields_are_refused(struct: type[msgspec.Struct]) -> None:
    optional = struct.__struct_fields__[len(struct.__struct_fields__) - len(struct.__struct_defaults__) :]
    assert optional == (("grid",) if struct is contract.ToolCall else ())
    assert struct.__struct_config__.forbid_unknown_fields


@pytest.mark.skipif(not PAGE.exists(), reason="documentation not found")
def test_documentation_names_the_same_codes() -> None:
    codes = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", PAGE.read_text()))
    assert codes == {*get_args(contract.ToolErrorCode), *get_args(contract.RequestErrorCode)}


@pytest.mark.skipif(not PAGE.exists(), reason="documentation not found")
def test_documentation_names_the_same_fields() -> None:
    page = PAGE.read_text()
    section = page.split("Header:")[1].split("All fields")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(contract.Header.__struct_fields__)
    for event in get_args(contract.AnyEvent):
        row = re.search(rf"^\| `{event.__struct_config__.tag}` \|(.*)\|$", page.split("## Answer")[1], re.MULTILINE)
        assert row is not None
        names = [name for name in re.findall(r"`(\w+)`", row[1]) if name in event.__struct_fields__]
        assert names == list(event.__struct_fields__)


def test_openapi_has_no_dangling_reference() -> None:
    document = build_openapi()
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)))
    assert references <= set(document["components"]["schemas"])
    header = document["components"]["schemas"]["Header"]
    assert set(header["required"]) == set(contract.Header.__struct_fields__)
    assert header["additionalProperties"] is False


def test_running_sidecar_answers_as_the_fixtures_show(sidecar: Sidecar) -> None:
    tools = sidecar.client.get("/v1/tools").json()
    assert msgspec.convert(tools, contract.ToolsBody).limits.max_bytes == 64 * 2**20
    assert tools.keys() == read_fixture("tools.json").keys()
    assert msgspec.convert(sidecar.health(), contract.HealthBody).workers.total == 2
    assert sidecar.client.get("/openapi.json").json() == json.loads(msgspec.json.encode(build_openapi()))


def test_fixture_folder_explains_every_file() -> None:
    explained = set(re.findall(r"`([\w.-]+)`", (FIXTURES / "README.md").read_text()))
    assert {path.name for path in Path(FIXTURES).iterdir()} - {"README.md"} <= explained
