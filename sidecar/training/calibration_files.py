"""Writes the output of `calibrate`: rows for configs/tools.yaml, a report with goodness of fit, and a plot per tool."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training.fit_calibration import is_monotone
from training.folds import Agreement
from training.logistic import Anchors, Curve
from training.scatter import draw_scatter
from training.tables import Numbers

NEAR_END = 0.05  # grades; distance from 1 or 5 that counts as reached


@dataclass(frozen=True)
class Calibrated:
    """One tool's fit. `values` and `labels` are all rows with both; `agreement` and `spread` are of held-out rows."""

    name: str
    curve: Curve
    anchors: Anchors
    spread: list[float]
    agreement: Agreement
    origin: str
    values: Numbers
    labels: Numbers

    def ends(self) -> tuple[float, float]:
        worst, best = self.curve(np.array([self.anchors.worst, self.anchors.best]))
        return float(worst), float(best)

    def reaches_both_ends(self) -> bool:
        worst, best = self.ends()
        return worst <= 1 + NEAR_END and best >= 5 - NEAR_END


def write_files(folder: Path, tools: Sequence[Calibrated], left_out: dict[str, str]) -> None:
    (folder / "rows.yaml").write_text(format_rows(tools), encoding="utf-8")
    (folder / "report.md").write_text(format_report(tools, left_out), encoding="utf-8")
    for tool in tools:
        title = f"{tool.name}: {len(tool.values)} images, held-out SRCC {tool.agreement.srcc:.3f}"
        plot = draw_scatter(title, tool.name, tool.values, tool.labels, tool.curve)
        (folder / f"{tool.name}.svg").write_text(plot, encoding="utf-8")


def format_rows(tools: Sequence[Calibrated]) -> str:
    """Indented as in configs/tools.yaml, so that a block can be pasted over the tool's own."""
    lines = ['# Paste a block over the calibration of its tool in configs/tools.yaml, then "npm run docs".']
    for tool in tools:
        lines += [
            f"{tool.name}:",
            "    calibration:",
            f"      beta: {json.dumps(list(tool.curve.beta))}",
            f"      spread: {json.dumps(tool.spread)}",
            f"      origin: {json.dumps(tool.origin, ensure_ascii=False)}",
            f"      version: {json.dumps(version_of(tool))}",
        ]
    return "\n".join(lines) + "\n"


def version_of(tool: Calibrated) -> str:
    """A hash of the parameters, different from the versions in the registry."""
    content = json.dumps([tool.name, tool.curve.beta, tool.spread, tool.origin])
    return f"own-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def format_report(tools: Sequence[Calibrated], left_out: dict[str, str]) -> str:
    lines = [
        "# Calibration",
        "",
        "SRCC, PLCC and RMSE (in grades) are of images that the curve was not fitted on. The last columns are of the",
        "curve in rows.yaml: its grade at the worst and the best value that the tool has, whether these reach 1 and 5,",
        "and whether it rises with quality everywhere between.",
        "",
        "| tool | held-out images | SRCC | PLCC | RMSE | at worst | at best | 1 to 5 reached | monotone | plot |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for tool in sorted(tools, key=lambda each: -each.agreement.srcc):
        found, (worst, best) = tool.agreement, tool.ends()
        cells = [
            tool.name,
            str(found.count),
            *(f"{value:.3f}" for value in (found.srcc, found.plcc, found.rmse)),
            f"{worst:.2f}",
            f"{best:.2f}",
            yes_or_no(tool.reaches_both_ends()),
            yes_or_no(is_monotone(tool.curve, tool.anchors)),
            f"[{tool.name}.svg]({tool.name}.svg)",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", *(f"- {tool.name}: {tool.origin}." for tool in tools)]
    if left_out:
        lines += ["", "Left out:", "", *(f"- {name}: {reason}." for name, reason in left_out.items())]
    return "\n".join(lines) + "\n"


def yes_or_no(fact: bool) -> str:
    return "yes" if fact else "no"
