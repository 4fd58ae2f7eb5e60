"""The offered pyiqa metrics and their names in the tool registry."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Metric:
    # In configs/tools.yaml.
    name: str
    # In pyiqa.
    pyiqa_name: str
    needs_reference: bool
    # Pixels; 224 where the network takes crops of that side.
    min_side: int


PAPER_METRICS = (
    Metric("TOPIQ-FR", "topiq_fr", True, 32),
    Metric("AHIQ", "ahiq", True, 224),
    Metric("PieAPP", "pieapp", True, 64),
    Metric("WaDIQaM-FR", "wadiqam_fr", True, 32),
    Metric("CKDN", "ckdn", True, 32),
    Metric("TOPIQ-NR", "topiq_nr", False, 32),
    Metric("WaDIQaM-NR", "wadiqam_nr", False, 32),
    Metric("Q-Align", "qalign", False, 32),
    Metric("CLIPIQA", "clipiqa", False, 32),
    Metric("UNIQUE", "unique", False, 32),
    Metric("HyperIQA", "hyperiqa", False, 224),
    Metric("TReS", "tres", False, 224),
    Metric("MUSIQ", "musiq", False, 32),
    Metric("DBCNN", "dbcnn", False, 32),
    Metric("ARNIQA", "arniqa", False, 32),
    Metric("NIMA", "nima", False, 32),
    Metric("MANIQA", "maniqa", False, 224),
    Metric("LIQE", "liqe", False, 224),
)


def choose_metrics(modes: dict[str, str]) -> tuple[Metric, ...]:
    """IQA_PYIQA_TOOLS names those of the paper to offer (default: all); IQA_PYIQA_METRICS further ones of pyiqa.

    `modes`: FR or NR by pyiqa's name. A further metric is offered as "pyiqa:name".
    """
    names = _list("IQA_PYIQA_TOOLS")
    unknown = set(names) - {metric.name for metric in PAPER_METRICS}
    if unknown:
        raise ValueError(
            f"Expected names of {[metric.name for metric in PAPER_METRICS]} but received {sorted(unknown)}"
        )
    chosen = [metric for metric in PAPER_METRICS if not names or metric.name in names]
    for name in _list("IQA_PYIQA_METRICS"):
        if name not in modes:
            raise ValueError(f"Expected a metric of pyiqa but received {name}")
        chosen.append(Metric(f"pyiqa:{name}", name, modes[name] == "FR", 32))
    return tuple(chosen)


def _list(variable: str) -> list[str]:
    return [name.strip() for name in os.environ.get(variable, "").split(",") if name.strip()]
