"""A plan among the words of an agent: its JSON is kept back, because the plan is drawn."""

import json

FENCE = "```json"
KEYS = ("steps", "partial", "version", "status", "confidence", "currentStepIndex", "isComplete")


class PlanText:
    """Lets words through as they come, but for what may be a plan; that is known at the end of a message."""

    def __init__(self) -> None:
        self._held = ""
        self._begins_line = True

    def take(self, piece: str) -> str:
        """What can be shown now."""
        text, self._held = self._held + piece, ""
        place, begins_line = 0, self._begins_line
        while place < len(text):
            if begins_line and may_be_plan(text[place:]):
                self._held, text = text[place:], text[:place]
                break
            end = text.find("\n", place)
            place, begins_line = (end + 1, True) if end >= 0 else (len(text), False)
        self._begins_line = begins_line
        return text

    def rest(self) -> str:
        """What can be shown at the end of a message: what was kept back, if it is no plan, or what came after it."""
        held, self._held, self._begins_line = self._held, "", True
        inner = _inside_fence(held)
        try:
            value, end = json.JSONDecoder().raw_decode(inner)
        except (ValueError, RecursionError):
            return held
        is_plan = isinstance(value, dict) and isinstance(value.get("steps"), list)
        return inner[end:].lstrip().removeprefix("```").lstrip() if is_plan else held


def may_be_plan(text: str) -> bool:
    """Whether a text begins as a plan does, as far as it goes."""
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
