"""Quality of a round: novelty, repetition, convergence, loops and contradictions; from 0 to 10."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, islice, pairwise
from typing import NamedTuple

from antiphon.debate.machine.context import Contradiction, Quality, Response, Round

WORD = re.compile(r"\w+")
SENTENCE = re.compile(r"[^.!?]+")
NEGATIONS = frozenset({"not", "no", "never", "cannot", "nothing", "nobody", "isn", "doesn", "won", "don"})
FEWEST_NOVEL = 3.0
MOST_ALIKE = 8.0
FIRST_CHECKED_ROUND = 3
SAME_CLAIM = 0.8
LOOP = 9.0
FEWEST_WORDS = 3
MOST_CONTRADICTIONS = 5


def quality_of(rounds: Sequence[Round], responses: Sequence[Response]) -> Quality:
    """Compare the responses of a round with all rounds before it."""
    speeches = [_Speech(response) for response in responses if not response.get("failed")]
    earlier = [_Speech(response) for past in rounds for response in past["responses"] if not response.get("failed")]
    old_pairs = {pair for speech in earlier for pair in speech.pairs}
    pairs = {pair for speech in speeches for pair in speech.pairs}
    novelty = 10 * len(pairs - old_pairs) / len(pairs) if pairs else 10.0
    own = [(speech, old) for speech in speeches for old in earlier if speech.speaker == old.speaker]
    likeness = [(speech.speaker, _likeness(speech, old)) for speech, old in own]
    repetition = max((alike for _, alike in likeness), default=0.0)
    convergence = max((_likeness(first, second) for first, second in combinations(speeches, 2)), default=0.0)
    contradictions = (pair for speech, old in own for pair in _contradictions(speech, old))
    health = 0.4 * novelty + 0.3 * (10 - repetition) + 0.3 * (10 - convergence)
    return {
        "novelty": round(novelty, 2),
        "repetition": round(repetition, 2),
        "convergence": round(convergence, 2),
        "loops": sorted({speaker for speaker, alike in likeness if alike >= LOOP}),
        "contradictions": list(islice(contradictions, MOST_CONTRADICTIONS)),
        "health": round(health, 2),
    }


def reason_to_stop(number: int, quality: Quality) -> str | None:
    """Return why a debate may end after this round, or None."""
    if quality["repetition"] > MOST_ALIKE:
        return "repetition"
    if quality["convergence"] > MOST_ALIKE:
        return "convergence"
    return "low novelty" if number >= FIRST_CHECKED_ROUND and quality["novelty"] < FEWEST_NOVEL else None


class _Claim(NamedTuple):
    """A sentence, its words, and whether it has a negation."""

    text: str
    words: frozenset[str]
    negates: bool


class _Speech:
    """A response, split once: each is compared with all before it."""

    __slots__ = ("claims", "pairs", "speaker")

    def __init__(self, response: Response) -> None:
        self.speaker: str = response["participantId"]
        self.pairs = set(pairwise(_words(response["content"])))
        claims = map(_claim, SENTENCE.findall(response["content"]))
        self.claims = [claim for claim in claims if len(claim.words) >= FEWEST_WORDS]


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _claim(sentence: str) -> _Claim:
    words = frozenset(_words(sentence))
    return _Claim(sentence.strip(), words - NEGATIONS, not words.isdisjoint(NEGATIONS))


def _likeness(first: _Speech, second: _Speech) -> float:
    if not first.pairs or not second.pairs:
        return 0.0
    common = len(first.pairs & second.pairs)
    return 10 * common / (len(first.pairs) + len(second.pairs) - common)


def _contradictions(speech: _Speech, old: _Speech) -> Iterator[Contradiction]:
    """Yield sentences of one speaker that share nearly all words, but only one has a negation."""
    for now in speech.claims:
        for earlier in old.claims:
            if now.negates == earlier.negates:
                continue
            common = len(now.words & earlier.words)
            if common >= SAME_CLAIM * (len(now.words) + len(earlier.words) - common):
                yield {"participantId": speech.speaker, "earlier": earlier.text, "now": now.text}
