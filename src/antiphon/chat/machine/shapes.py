"""Checks of message parts that come from outside."""

from collections.abc import Mapping
from typing import Any

from antiphon.messages import part_from_json

# The fields of a part that must be text if they are there.
TEXT_FIELDS = ("text", "id", "name", "arguments", "callId", "mediaType", "data", "url", "signature")
# The options of the model that a message may have for its reply.
MESSAGE_OPTIONS = ("temperature", "maxTokens", "stop", "thinking", "output")


def problem_with_options(options: object) -> str | None:
    """Return why options are not those of a message, or None; tools are those of the whole chat."""
    if options is None:
        return None
    if not isinstance(options, Mapping):
        return f"options is {options!r}; it must be an object"
    unknown = next((key for key in options if key not in MESSAGE_OPTIONS), None)
    return None if unknown is None else f"a message has no option {unknown!r}; known: {', '.join(MESSAGE_OPTIONS)}"


def problem_with_parts(parts: Any) -> str | None:
    """Return the first problem with some parts, or None."""
    try:
        for part in parts:
            reason = _problem_with_part(part)
            if reason:
                return reason
    except (ValueError, TypeError, AttributeError) as error:
        return f"parts: {error}"
    return None


def _problem_with_part(part: Mapping[str, object]) -> str | None:
    part_from_json(part)
    wrong = next((key for key in TEXT_FIELDS if not isinstance(part.get(key, ""), str)), None)
    if wrong is not None:
        return f"parts: {wrong} is {part[wrong]!r}; it must be a text"
    return problem_with_parts(part["parts"]) if part["type"] == "toolResult" else None
