"""Logs JSON lines to standard error, for the sidecar's own events and those of its libraries."""

from __future__ import annotations

import logging
import sys
from datetime import datetime, timezone

import msgspec

logger = logging.getLogger("iqa_sidecar")


def configure_log(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for library in ("asyncio", "uvicorn"):
        logging.getLogger(library).setLevel(logging.WARNING)


def write(level: int, event: str, **fields: object) -> None:
    """From level ERROR on, adds the traceback of the exception that is being handled."""
    logger.log(level, event, exc_info=level >= logging.ERROR, extra={"fields": fields})


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()
