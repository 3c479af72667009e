"""What the rounds gave, and the figures drawn from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median, quantiles

Bursts = list[float]


@dataclass(frozen=True, slots=True)
class Contestant:
    """A library and the way it takes an event."""

    name: str
    mode: str

    def __str__(self) -> str:
        return f"{self.name} {self.mode}"


@dataclass(slots=True)
class Results:
    """The bursts of every contestant on every machine, round by round, and why some are missing."""

    rounds: dict[tuple[Contestant, str], list[Bursts]] = field(default_factory=dict)
    missing: dict[tuple[Contestant, str], str] = field(default_factory=dict)

    def speed(self, who: Contestant, machine: str) -> float | None:
        """Events per second: the median round's upper quartile."""
        rounds = self.rounds.get((who, machine))
        return median(upper_quartile(bursts) for bursts in rounds) if rounds else None

    def ratios(self, one: Contestant, other: Contestant, machine: str) -> list[float]:
        """How many times faster one was than the other: each round's median turn."""
        pairs = zip(self.rounds.get((one, machine), []), self.rounds.get((other, machine), []), strict=False)
        return [median(a / b for a, b in zip(ours, theirs, strict=True)) for ours, theirs in pairs]


def upper_quartile(values: Bursts) -> float:
    """Three quarters of the values are at most this."""
    return quantiles(values, n=4, method="inclusive")[2] if len(values) > 1 else values[0]
