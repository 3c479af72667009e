"""Removal of plans from the text of an agent, because the dashboard shows them."""

import json

FENCE = "```json"
KEYS = ("steps", "partial", "version", "status", "confidence", "currentStepIndex", "isComplete")


class PlanText:
    """Filters streamed text; a possible plan is held back until the end of the message decides."""

    def __init__(self) -> None:
        self._held = ""
        self._begins_line = True

    def feed(self, piece: str) -> str:
        """Add text and return what can be shown now."""
        text = self._held + piece
        self._held = ""
        place = 0
        begins_line = self._begins_line
        while place < len(text):
            if begins_line and may_be_plan(text[place:]):
                self._held = text[place:]
                text = text[:place]
                break
            end = text.find("\n", place)
            place, begins_line = (end + 1, True) if end >= 0 else (len(text), False)
        self._begins_line = begins_line
        return text

    def end(self) -> str:
        """End the message; return the held text if it is not a plan, else the text after the plan."""
        held = self._held
        self._held = ""
        self._begins_line = True
        inner = _inside_fence(held)
        try:
            value, end = json.JSONDecoder().raw_decode(inner)
        except (ValueError, RecursionError):
            return held
        is_plan = isinstance(value, dict) and isinstance(value.get("steps"), list)
        return inner[end:].lstrip().removeprefix("```").lstrip() if is_plan else held


def may_be_plan(text: str) -> bool:
    """Return whether a text could be the start of a plan."""
    if FENCE.startswith(text):
        return True
    inner = _inside_fence(text)
    if not inner.startswith("{"):
        return not inner and text.startswith("```")
    name, quote, _ = inner[1:].lstrip().removeprefix('"').partition('"')
    if not quote:
        return any(key.startswith(name) for key in KEYS)
    return name in KEYS


def _inside_fence(text: str) -> str:
    return text.removeprefix(FENCE).removeprefix("```").lstrip()
