"""The optional pyiqa tier: metrics of the pyiqa library as tools of a second sidecar, in its own container image."""

import os

# Must be set before these libraries are imported.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
