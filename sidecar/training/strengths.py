"""Measures how well each tool grades each distortion category: the numbers behind `strengths` in configs/tools.yaml.

A cell is the mean, over the category's distortions, of the rank correlation between the tool and the target across all
photos: the strength with the originals as 0, or with `--target mos` the ratings. 1 = perfect order, 0 = no reaction.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from training.fit_calibration import ANCHORS
from training.folds import rank_correlation
from training.tables import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="scored CSV")
    parser.add_argument("--target", choices=("strength", "mos"), default="strength")
    arguments = parser.parse_args()
    table = Table.read([arguments.table])
    tools = [name for name in ANCHORS if np.isfinite(table.numbers(f"tool:{name}")).any()]
    categories = sorted(set(table.texts("category").tolist()) - {""})
    print(f"| category | {' | '.join(tools)} |")
    print(f"| --- | {' | '.join('---' for _ in tools)} |")
    for category in categories:
        cells = [f"{measure_strength(table, tool, category, arguments.target):.2f}" for tool in tools]
        print(f"| {category} | {' | '.join(cells)} |")


def measure_strength(table: Table, tool: str, category: str, target: str) -> float:
    values = table.numbers(f"tool:{tool}") * ANCHORS[tool].direction
    # A distortion lowers quality as its strength rises; a rating rises with quality.
    goals = table.numbers(target) * (-1 if target == "strength" else 1)
    kinds, categories = table.texts("distortion"), table.texts("category")
    correlations = []
    for kind in sorted(set(kinds[categories == category].tolist())):
        rows = np.isin(kinds, [kind, "none"]) & np.isfinite(values)
        correlations.append(rank_correlation(values[rows], goals[rows]))
    return float(np.mean(correlations))


if __name__ == "__main__":
    main()
