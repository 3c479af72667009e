"""Personas for debaters without one: a name, a style and a colour."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from antiphon.debate.machine.context import Participant

COLORS = ("#2f6fde", "#d1495b", "#2a9d6f", "#b8860b")
# No word here reveals a side: a model reads its side in its own prompt only.
PERSONAS: tuple[tuple[str, str], ...] = (
    ("Ada", "You trust what was counted, and you name figures and where they come from."),
    ("Bruno", "You begin with those who pay the price, and you tell concrete cases."),
    ("Clara", "You look at what follows in ten years, and you weigh one good with another."),
    ("Dario", "You take arguments apart, and you say which of their steps does not hold."),
)
STANCES: Mapping[str, str] = {
    "for": "You argue for the motion",
    "against": "You argue against the motion",
    "neutral": "You take a neutral position on the motion",
}


class Seat(TypedDict):
    """A participant as configured; its model is a reference or an object."""

    id: str
    position: str
    model: object
    name: NotRequired[str | None]
    systemPrompt: NotRequired[str | None]
    color: NotRequired[str | None]


def with_personas(seats: Sequence[Seat]) -> list[Seat]:
    """Give every participant a name, a prompt and a colour of its own."""
    taken_names = {seat.get("name") for seat in seats}
    taken_colors = {seat.get("color") for seat in seats}
    free_names = iter([persona for persona in PERSONAS if persona[0] not in taken_names])
    free_colors = iter([color for color in COLORS if color not in taken_colors])
    styles = dict(PERSONAS)
    complete: list[Seat] = []
    for seat in seats:
        name = seat.get("name") or ""
        style = styles.get(name, "")
        prompt = seat.get("systemPrompt")
        if not name or not (style or prompt):
            free_name, style = next(free_names)
            name = name or free_name
        color = seat.get("color") or next(free_colors)
        complete.append({**seat, "name": name, "systemPrompt": prompt or style, "color": color})
    return complete


def instructions(participant: Participant, topic: str) -> str:
    """Return the system prompt of a debater."""
    stance = f"{STANCES[participant['position']]}: {topic}"
    return f"You are {participant['name']}, a debater. {participant['systemPrompt']}\n{stance}"
