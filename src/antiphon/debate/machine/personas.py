"""Personas for debaters that were given none: a name, a way to argue and a colour."""

from collections.abc import Mapping, Sequence
from typing import Any

COLORS = ("#2f6fde", "#d1495b", "#2a9d6f", "#b8860b")
# The words that tell the sides apart stand nowhere in here: a model reads its side in its own prompt only.
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


def with_personas(participants: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The participants, each with a name, a prompt and a colour of its own."""
    taken_names = {one["name"] for one in participants if one.get("name")}
    taken_colors = {one["color"] for one in participants if one.get("color")}
    free_names = iter([one for one in PERSONAS if one[0] not in taken_names])
    free_colors = iter([color for color in COLORS if color not in taken_colors])
    manners, dressed = dict(PERSONAS), []
    for one in participants:
        name, manner = one.get("name") or "", manners.get(one.get("name") or "", "")
        if not name or not (manner or one.get("systemPrompt")):
            name, manner = next(free_names)
        facts = {"name": one.get("name") or name, "systemPrompt": one.get("systemPrompt") or manner}
        dressed.append({**one, **facts, "color": one.get("color") or next(free_colors)})
    return dressed


def instructions(participant: Mapping[str, Any], topic: str) -> str:
    """What a debater is told before anything else."""
    stance = f"{STANCES[participant['position']]}: {topic}"
    return f"You are {participant['name']}, a debater. {participant['systemPrompt']}\n{stance}"
