"""`python -m iqa_sidecar.measurements`: prints the catalogue as JSON for docs/measurements.md."""

import dataclasses
import json

from ..learned.predictors import MEASUREMENTS
from . import CATALOGUE, VERSION

print(json.dumps({"version": VERSION, "catalogue": [dataclasses.asdict(row) for row in (*CATALOGUE, *MEASUREMENTS)]}))
