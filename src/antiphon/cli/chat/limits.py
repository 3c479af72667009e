"""Limits of a chat in words: warnings, questions and answers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from antiphon.cli.input.lines import LineInput
from antiphon.cli.render.units import plural
from antiphon.money import format_usd

Json = Mapping[str, Any]
FORMATS: Mapping[str, Callable[[float], str]] = {
    "ToolRounds": lambda value: plural(int(value), "tool round"),
    "CostUsd": format_usd,
    "WallMs": lambda value: f"{value / 1000:g} s",
}
OPTIONS = {
    "maxToolRounds": "--max-tool-rounds",
    "maxCostUsd": "--max-cost",
    "maxWallMs": "--max-time",
}


@dataclass(frozen=True, slots=True)
class LimitDecision:
    """Decision at a limit; without `limit`, the offered one is taken."""

    decision: str
    limit: float | None = None


async def ask_limit(lines: LineInput, facts: Json) -> LimitDecision:
    """Ask the user whether a chat continues beyond its limit."""
    lines.set_aside()
    while True:
        answer = (await lines.ask(_question(facts))).strip().lower()
        if answer in ("y", "yes"):
            return LimitDecision("allow")
        if answer in ("n", "no"):
            return LimitDecision("deny")
        limit = _parse_limit(facts, answer)
        if limit is not None:
            return LimitDecision("allow", limit)


def warning_line(facts: Json) -> str:
    """Format a warning: how much of a limit is used."""
    return f"{_amount(facts, 'spent')} of {_amount(facts, 'value')} for this {_scope(facts)}"


def reached_line(facts: Json) -> str:
    """Format a limit that is reached."""
    return f"limit reached: {_amount(facts, 'value')} for this {_scope(facts)}"


def unattended_line(facts: Json) -> str:
    """Format a limit that is reached where there is no user to ask."""
    option = OPTIONS.get(facts["limit"])
    return f"{reached_line(facts)}; no user to ask" + (f"; {option} sets a higher one" if option else "")


def _question(facts: Json) -> str:
    return f"continue up to {_amount(facts, 'next')}? y: yes, n: end here, or another limit > "


def _parse_limit(facts: Json, text: str) -> float | None:
    """Parse another limit, in the unit that is shown; None if it is not a number above the spending."""
    try:
        number = float(text.strip().removeprefix("$").removesuffix("s"))
    except ValueError:
        return None
    limit = number * 1000 if facts["limit"].endswith("WallMs") else number
    return limit if facts["spent"] < limit < float("inf") else None


def _scope(facts: Json) -> str:
    return "thread" if "Thread" in facts["limit"] else "message"


def _amount(facts: Json, key: str) -> str:
    name: str = facts["limit"]
    return FORMATS[name.removeprefix("max").removeprefix("Thread")](facts[key])
