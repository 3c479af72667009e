"""Output as JSON Lines."""

import json
from collections.abc import Mapping
from typing import Any, TextIO

from antiphon.cli.render.plain import write
from antiphon.threads.activity import Activity


class JsonOutput:
    """Writes one JSON object per activity, and a last one with the result."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def activity(self, activity: Activity) -> None:
        """Write an activity."""
        self._put(activity.to_json())

    def end(self, facts: Mapping[str, Any]) -> None:
        """Write the result as the last line."""
        self._put({"kind": "end", **facts})

    def _put(self, value: object) -> None:
        # `json.dumps` escapes non-ASCII and control characters, so a terminal interprets none of them.
        write(self._out, json.dumps(value) + "\n")
