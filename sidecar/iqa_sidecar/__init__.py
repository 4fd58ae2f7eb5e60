"""The sidecar: runs image-quality tools in worker processes and answers over HTTP."""

__version__ = "0.2.0"
