"""The formats: who may take part, who speaks when, and who speaks at the same time."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.debate.machine.context import Phase

FORMATS = ("oxford", "lincoln-douglas", "roundtable")
"""Formats of debates."""
POSITIONS = ("for", "against", "neutral")
"""Positions that a debater can take."""
FEWEST, MOST = 2, 4


def phase_of(format: str, number: int, last: int) -> Phase:
    """What a round is: in an Oxford debate of more than one round the last is the closing."""
    return "closing" if format == "oxford" and number == last > 1 else "rebuttal"


def groups(format: str, phase: str, number: int, participants: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Who speaks, in order; those in one group speak at the same time, hearing nothing of each other."""
    if phase == "opening" and format != "lincoln-douglas":
        return [[one["id"] for one in participants]]
    if format == "roundtable":
        start = (number - 1) % len(participants)
        return [[one["id"]] for one in (*participants[start:], *participants[:start])]
    order = _alternating(participants)
    # Who opened last closes first, so that both sides have the last word once.
    return [[id] for id in (reversed(order) if phase == "closing" else order)]


def seats_problem(format: str, positions: Sequence[str]) -> str | None:
    """What is wrong with the sides of a debate, or nothing."""
    if not FEWEST <= len(positions) <= MOST:
        return f"a debate has {FEWEST} to {MOST} participants, not {len(positions)}"
    if format == "lincoln-douglas" and sorted(positions) != ["against", "for"]:
        return "lincoln-douglas has exactly two participants, one for and one against"
    if format == "oxford" and ("neutral" in positions or len(set(positions)) < 2):
        return "oxford needs participants for and against, and none that is neutral"
    return None


def _alternating(participants: Sequence[Mapping[str, Any]]) -> list[str]:
    sides = [[one["id"] for one in participants if one["position"] == position] for position in POSITIONS]
    longest = max(len(side) for side in sides)
    return [side[turn] for turn in range(longest) for side in sides if turn < len(side)]
