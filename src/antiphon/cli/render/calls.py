"""Calls of tools and their results in one line."""

import json
from collections.abc import Mapping
from typing import Any

from antiphon.cli.render.text_width import clip, harmless

MOST_ARGUMENTS = 60
MOST_RESULT = 72


def format_arguments(arguments: Any) -> str:
    """The arguments of a call in a few words."""
    if isinstance(arguments, Mapping):
        text = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    else:
        text = "" if arguments is None else str(arguments)
    return clip(harmless(text), MOST_ARGUMENTS)


def format_result(name: str, result: Mapping[str, Any], seconds: float, *, failed: bool) -> str:
    """The result of a call: how it ended, how long it took, and its first words."""
    text = " ".join(part.get("text", "") for part in result.get("parts", ())) or str(result.get("message", ""))
    words = f": {clip(harmless(text), MOST_RESULT)}" if text.strip() else ""
    return f"← {name} {'failed' if failed else 'ok'} in {seconds:.1f} s{words}"
