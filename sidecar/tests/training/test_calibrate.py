"""Calibration without the fit itself, which needs packages that are not installed here."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from iqa_sidecar.metrics.registry import TOOLS
from training.calibrate import score_or_explain
from training.calibration_files import Calibrated, format_report, format_rows
from training.fit_calibration import ANCHORS
from training.folds import Agreement
from training.logistic import Curve
from training.ratings import choose_scale, read_split
from training.scatter import draw_scatter
from training.tables import Table


def make_tool(slope: float) -> Calibrated:
    curve = Curve((0.0, 1.0, 0.0, slope, 1.0 if slope > 0 else 5.0))
    values = np.linspace(10, 50, 9)
    return Calibrated(
        "PSNR", curve, ANCHORS["PSNR"], [0.5] * 5, Agreement(0.4, 0.9, 0.8, 9), 'of "mine"', values, curve(values)
    )


def test_rows_are_indented_as_in_the_registry_and_their_version_follows_the_parameters() -> None:
    rows = format_rows([make_tool(0.04)]).splitlines()
    assert rows[1:5] == [
        "PSNR:",
        "    calibration:",
        "      beta: [0.0, 1.0, 0.0, 0.04, 1.0]",
        "      spread: [0.5, 0.5, 0.5, 0.5, 0.5]",
    ]
    assert rows[5] == '      origin: "of \\"mine\\""'
    assert rows[6] != format_rows([make_tool(0.05)]).splitlines()[6]


@pytest.mark.parametrize(("slope", "ends"), [(0.04, "yes | yes"), (0.02, "no | yes"), (-0.04, "no | no")])
def test_report_says_whether_the_range_is_reached_and_the_curve_monotone(slope: float, ends: str) -> None:
    assert f"| {ends} |" in format_report([make_tool(slope)], {})


def test_every_tool_can_be_calibrated() -> None:
    assert set(ANCHORS) == set(TOOLS)


def test_a_broken_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.bmp").write_bytes(b"BM")
    with pytest.raises(ValueError, match=r"broken\.bmp"):
        score_or_explain({"file": "broken.bmp"}, tmp_path, ["PSNR"])


def test_report_names_what_was_left_out() -> None:
    assert "- MAD: too few." in format_report([make_tool(0.04)], {"MAD": "too few"})


def test_scatter_draws_every_image_and_escapes_its_title() -> None:
    tool = make_tool(0.04)
    drawing = ElementTree.fromstring(draw_scatter("a < b", "PSNR", tool.values, tool.labels, tool.curve))
    name = "{http://www.w3.org/2000/svg}"
    assert drawing.findtext(f"{name}title") == "a < b"
    assert len(drawing.findall(f".//{name}circle")) == 9


def test_ratings_may_fall_with_quality() -> None:
    grades = choose_scale(np.array([0.0, 100.0]), 0, 100).grade(np.array([0.0, 50.0, 120.0]))
    assert grades.tolist() == [5, 3, 1]
    assert "MOS 2 (percentile 2) to MOS 98 (percentile 98)" in choose_scale(np.arange(101.0), None, None).said


def test_versions_of_an_image_stay_in_one_fold() -> None:
    rows = [{"file": f"{index}.png", "reference": f"{index % 4}.png"} for index in range(12)]
    split = read_split(Table(rows), "2")
    references = np.array([row["reference"] for row in rows])
    assert len(split.parts) == 2
    for training, test in split.parts:
        assert not set(references[training]) & set(references[test])


def test_a_column_splits_and_the_curve_rests_on_train() -> None:
    rows = [{"file": str(index), "part": "test" if index == 2 else "train"} for index in range(3)]
    assert read_split(Table(rows), "part").final.tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("split", "sentence"), [("9", "Expected 2 to 3 folds"), ("side", "Expected a number"), ("part", "Expected train")]
)
def test_a_split_that_cannot_be_is_refused(split: str, sentence: str) -> None:
    with pytest.raises(SystemExit, match=sentence):
        read_split(Table([{"file": str(index), "part": "maybe"} for index in range(3)]), split)
