"""The optional tier: metrics of the pyiqa library behind the sidecar's own contract, in an image of their own."""

import os

# Read by these libraries when they are imported, which happens in the modules of this package.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
