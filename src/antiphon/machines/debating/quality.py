"""Signals of how well a debate goes: new words, repetition, convergence, loops and contradictions; from 0 to 10."""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[^.!?]+")
NEGATIONS = frozenset({"not", "no", "never", "cannot", "nothing", "nobody", "isn", "doesn", "won", "don"})
FEWEST_NOVEL, MOST_ALIKE, FIRST_LOOKED_AT = 3.0, 8.0, 3
SAME_CLAIM = 0.8
LOOP = 9.0


def quality_of(rounds: Sequence[Mapping[str, Any]], responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The signals of a round, beside all before it."""
    spoken = [one for one in responses if not one.get("failed")]
    before = [one for each in rounds for one in each["responses"] if not one.get("failed")]
    known = set().union(*(_pairs(one["content"]) for one in before)) if before else set()
    now = set().union(*(_pairs(one["content"]) for one in spoken)) if spoken else set()
    novelty = 10 * len(now - known) / len(now) if now else 10.0
    repetition = max((_likeness(one, old) for one in spoken for old in before if _same(one, old)), default=0.0)
    loops = sorted(
        {one["participantId"] for one in spoken for old in before if _same(one, old) and _likeness(one, old) >= LOOP}
    )
    convergence = max(
        (_likeness(one, other) for place, one in enumerate(spoken) for other in spoken[place + 1 :]), default=0.0
    )
    contradictions = [
        found for one in spoken for old in before if _same(one, old) for found in _contradictions(one, old)
    ]
    health = 0.4 * novelty + 0.3 * (10 - repetition) + 0.3 * (10 - convergence)
    return {
        "novelty": round(novelty, 2),
        "repetition": round(repetition, 2),
        "convergence": round(convergence, 2),
        "loops": loops,
        "contradictions": contradictions[:5],
        "health": round(health, 2),
    }


def reason_to_stop(number: int, quality: Mapping[str, Any]) -> str | None:
    """Why a debate need not go on, if there is a reason."""
    if quality["repetition"] > MOST_ALIKE:
        return "repetition"
    if quality["convergence"] > MOST_ALIKE:
        return "convergence"
    return "low novelty" if number >= FIRST_LOOKED_AT and quality["novelty"] < FEWEST_NOVEL else None


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _pairs(text: str) -> set[tuple[str, str]]:
    words = _words(text)
    return set(pairwise(words))


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one["participantId"] == other["participantId"])


def _likeness(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    first, second = _pairs(one["content"]), _pairs(other["content"])
    return 10 * len(first & second) / len(first | second) if first and second else 0.0


def _contradictions(one: Mapping[str, Any], old: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Sentences of one speaker that share nearly all words, but one of them says no."""
    found = []
    for claim in map(str.strip, SENTENCE.findall(one["content"])):
        for earlier in map(str.strip, SENTENCE.findall(old["content"])):
            new, before = set(_words(claim)), set(_words(earlier))
            plain, was = new - NEGATIONS, before - NEGATIONS
            if len(plain) < 3 or bool(new & NEGATIONS) == bool(before & NEGATIONS):
                continue
            if len(plain & was) >= SAME_CLAIM * len(plain | was):
                found.append({"participantId": one["participantId"], "earlier": earlier, "now": claim})
    return found
