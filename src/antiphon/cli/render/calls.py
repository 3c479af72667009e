"""Tool calls and their results as single lines."""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.cli.render.text_width import clip, sanitize_line

MOST_ARGUMENTS = 60
MOST_RESULT = 72
MOST_REASON = 200


def format_arguments(arguments: Any) -> str:
    """Format the arguments of a call, clipped."""
    if isinstance(arguments, Mapping):
        text = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    else:
        text = "" if arguments is None else str(arguments)
    return clip(sanitize_line(text), MOST_ARGUMENTS)


def format_denial(name: str, reason: str) -> str:
    """Format that a call was denied, and why."""
    return f"← {name} denied: {clip(sanitize_line(reason), MOST_REASON)}"


def format_result(name: str, result: Mapping[str, Any], seconds: float, *, failed: bool) -> str:
    """Format a result: success or failure, duration, and the start of its text."""
    text = " ".join(part.get("text", "") for part in result.get("parts", ())) or str(result.get("message", ""))
    excerpt = f": {clip(sanitize_line(text), MOST_RESULT)}" if text.strip() else ""
    return f"← {name} {'failed' if failed else 'ok'} in {seconds:.1f} s{excerpt}"
