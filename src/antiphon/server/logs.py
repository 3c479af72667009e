"""The log of a server: lines of text, or of JSON with the request, the user and the thread."""

import json
import logging
import sys
from typing import Any, TextIO

TEXT = "%(asctime)s %(levelname)s %(message)s"
SHOWN = ("user", "thread")


class TextFormatter(logging.Formatter):
    """Lines for people; user and thread of a request stand at the end."""

    def __init__(self) -> None:
        super().__init__(TEXT)

    def formatMessage(self, record: logging.LogRecord) -> str:  # a name of the standard library
        """Return the line of a record, without its traceback."""
        facts = _facts(record)
        return super().formatMessage(record) + "".join(f" {name}={facts[name]}" for name in SHOWN if facts.get(name))


class JsonFormatter(logging.Formatter):
    """Lines for programs: one object each."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        facts = {
            "at": int(record.created * 1000),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_facts(record),
        }
        if record.exc_info:
            facts["error"] = self.formatException(record.exc_info)
        return json.dumps(facts)


def _facts(record: logging.LogRecord) -> dict[str, Any]:
    facts = getattr(record, "facts", None)
    return facts if isinstance(facts, dict) else {}


def configure_log(form: str, *, is_verbose: bool, stream: TextIO | None = None) -> None:
    """Let the log of this process go to standard error in a form, `text` or `json`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO if is_verbose else logging.WARNING)
