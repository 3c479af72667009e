"""Formats of a debate: the positions they need, and the order of speakers."""

from collections.abc import Sequence

from antiphon.debate.machine.context import Format, Participant, Phase, Position

FORMATS: tuple[Format, ...] = ("oxford", "lincoln-douglas", "roundtable")
"""Formats of debates."""
POSITIONS: tuple[Position, ...] = ("for", "against", "neutral")
"""Positions that a debater can take."""
FEWEST = 2
MOST = 4


def phase_of(format: str, number: int, last: int) -> Phase:
    """Return the phase of a round: in an Oxford debate of more than one round the last is the closing."""
    return "closing" if format == "oxford" and number == last > 1 else "rebuttal"


def groups(format: str, phase: str, number: int, participants: Sequence[Participant]) -> list[list[str]]:
    """Return the speakers in order; those of one group speak at the same time, without hearing each other."""
    if phase == "opening" and format != "lincoln-douglas":
        return [[speaker["id"] for speaker in participants]]
    if format == "roundtable":
        start = (number - 1) % len(participants)
        return [[speaker["id"]] for speaker in (*participants[start:], *participants[:start])]
    order = _alternating(participants)
    # The order of the closings is reversed, so that both sides have the last word once.
    return [[id] for id in (reversed(order) if phase == "closing" else order)]


def seats_problem(format: str, positions: Sequence[str]) -> str | None:
    """Return why a format does not allow these positions, or None."""
    if not FEWEST <= len(positions) <= MOST:
        return f"a debate has {FEWEST} to {MOST} participants, not {len(positions)}"
    if format == "lincoln-douglas" and sorted(positions) != ["against", "for"]:
        return "lincoln-douglas has exactly two participants, one for and one against"
    if format == "oxford" and ("neutral" in positions or len(set(positions)) < 2):
        return "oxford needs participants for and against, and none that is neutral"
    return None


def _alternating(participants: Sequence[Participant]) -> list[str]:
    sides = [[speaker["id"] for speaker in participants if speaker["position"] == position] for position in POSITIONS]
    longest = max(len(side) for side in sides)
    return [side[turn] for turn in range(longest) for side in sides if turn < len(side)]
