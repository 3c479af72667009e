"""Risks of tool calls, from harmless to irrecoverable, and where the command of a call stands."""

import json
from collections.abc import Mapping
from typing import Any, Literal

Risk = Literal["read", "write", "destructive"]
ORDER: tuple[Risk, ...] = ("read", "write", "destructive")
# The risk of a tool that runs commands: each call has the risk of its command.
COMMAND = "command"


def command_in(arguments: Mapping[str, Any] | str) -> str | None:
    """Return the command of a call, or None; the arguments are an object, or the JSON that a model wrote."""
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return None
    command = arguments.get("command") if isinstance(arguments, Mapping) else None
    return command if isinstance(command, str) else None
