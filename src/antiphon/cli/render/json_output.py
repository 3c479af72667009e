"""JSON for programs: one object a line."""

import json
from collections.abc import Mapping
from typing import Any, TextIO

from antiphon.cli.render.plain import write
from antiphon.threads.activity import Activity


class JsonOutput:
    """Writes activities as they happen, and at last how it ended."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def activity(self, activity: Activity) -> None:
        """Write an activity."""
        self._put(activity.to_json())

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the last line."""
        self._put({"kind": "end", **facts})

    def _put(self, value: object) -> None:
        # Characters beyond ASCII are escaped: whatever a model says, no terminal obeys it.
        write(self._out, json.dumps(value) + "\n")
