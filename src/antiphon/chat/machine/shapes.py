"""What parts of a message look like when they come from outside."""

from typing import Any

from antiphon.messages import part_from_json

# What in a part is text if it is there.
WORDS = ("text", "id", "name", "arguments", "callId", "mediaType", "data", "url", "signature")


def problem_with_parts(parts: Any) -> str | None:
    """What is wrong with some parts, or nothing."""
    try:
        for part in parts:
            part_from_json(part)
            wrong = [key for key in WORDS if not isinstance(part.get(key, ""), str)]
            if wrong:
                return f"parts: {wrong[0]} is {part[wrong[0]]!r}; it must be a text"
            if part["type"] == "toolResult" and (reason := problem_with_parts(part["parts"])):
                return reason
    except (ValueError, TypeError, AttributeError) as error:
        return f"parts: {error}"
    return None
