"""Signals of how well a debate goes: new words, repetition, convergence, loops and contradictions; from 0 to 10."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[^.!?]+")
NEGATIONS = frozenset({"not", "no", "never", "cannot", "nothing", "nobody", "isn", "doesn", "won", "don"})
FEWEST_NOVEL, MOST_ALIKE, FIRST_LOOKED_AT = 3.0, 8.0, 3
SAME_CLAIM = 0.8
LOOP = 9.0
FEWEST_WORDS, MOST_CONTRADICTIONS = 3, 5


def quality_of(rounds: Sequence[Mapping[str, Any]], responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The signals of a round, beside all before it."""
    spoken = [_Speech(one) for one in responses if not one.get("failed")]
    before = [_Speech(one) for each in rounds for one in each["responses"] if not one.get("failed")]
    known = {pair for old in before for pair in old.pairs}
    now = {pair for one in spoken for pair in one.pairs}
    novelty = 10 * len(now - known) / len(now) if now else 10.0
    own = [(one, old) for one in spoken for old in before if one.speaker == old.speaker]
    likeness = [(one.speaker, _likeness(one, old)) for one, old in own]
    repetition = max((alike for _, alike in likeness), default=0.0)
    convergence = max(
        (_likeness(one, other) for place, one in enumerate(spoken) for other in spoken[place + 1 :]), default=0.0
    )
    contradictions = (found for one, old in own for found in _contradictions(one, old))
    health = 0.4 * novelty + 0.3 * (10 - repetition) + 0.3 * (10 - convergence)
    return {
        "novelty": round(novelty, 2),
        "repetition": round(repetition, 2),
        "convergence": round(convergence, 2),
        "loops": sorted({speaker for speaker, alike in likeness if alike >= LOOP}),
        "contradictions": list(islice(contradictions, MOST_CONTRADICTIONS)),
        "health": round(health, 2),
    }


def reason_to_stop(number: int, quality: Mapping[str, Any]) -> str | None:
    """Why a debate need not go on, if there is a reason."""
    if quality["repetition"] > MOST_ALIKE:
        return "repetition"
    if quality["convergence"] > MOST_ALIKE:
        return "convergence"
    return "low novelty" if number >= FIRST_LOOKED_AT and quality["novelty"] < FEWEST_NOVEL else None


class _Claim(NamedTuple):
    """A sentence, its words, and whether it says no."""

    text: str
    words: frozenset[str]
    negates: bool


class _Speech:
    """A response taken apart once: rounds are long, and each is held against all before it."""

    __slots__ = ("claims", "pairs", "speaker")

    def __init__(self, response: Mapping[str, Any]) -> None:
        self.speaker: str = response["participantId"]
        self.pairs = set(pairwise(_words(response["content"])))
        claims = map(_claim, SENTENCE.findall(response["content"]))
        self.claims = [claim for claim in claims if len(claim.words) >= FEWEST_WORDS]


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _claim(sentence: str) -> _Claim:
    words = frozenset(_words(sentence))
    return _Claim(sentence.strip(), words - NEGATIONS, not words.isdisjoint(NEGATIONS))


def _likeness(one: _Speech, other: _Speech) -> float:
    if not one.pairs or not other.pairs:
        return 0.0
    common = len(one.pairs & other.pairs)
    return 10 * common / (len(one.pairs) + len(other.pairs) - common)


def _contradictions(one: _Speech, old: _Speech) -> Iterator[dict[str, Any]]:
    """Sentences of one speaker that share nearly all words, but one of them says no."""
    for now in one.claims:
        for earlier in old.claims:
            if now.negates == earlier.negates:
                continue
            common = len(now.words & earlier.words)
            if common >= SAME_CLAIM * (len(now.words) + len(earlier.words) - common):
                yield {"participantId": one.speaker, "earlier": earlier.text, "now": now.text}
