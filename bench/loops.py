"""Durable loops that take turns: each in a process of its own, only one of them running at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

from lanes import Lane
from peers import PeerUnavailable

LIMIT_S = 200


@dataclass(slots=True)
class Loop:
    """What one contestant did in its turns; once it fails it has no more."""

    lane: Lane | None = None
    facts: dict[str, float] = field(default_factory=dict)
    turns: list[dict[str, float]] = field(default_factory=list)

    def cpu_us(self) -> list[float]:
        """CPU microseconds per event, turn by turn."""
        return [turn["cpu_s"] / turn["events"] * 1e6 for turn in self.turns]

    def rates(self) -> list[float]:
        """Events per second on the clock, turn by turn."""
        return [turn["events"] / turn["clock_s"] for turn in self.turns]


class Loops:
    """All contestants of a comparison."""

    def __init__(self, problem: Callable[[str, Exception], None], *, limit_s: float = LIMIT_S) -> None:
        self.by_name: dict[str, Loop] = {}
        self._problem, self._limit_s = problem, limit_s
        self._stack = ExitStack()

    def __enter__(self) -> Loops:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def start(self, name: str, command: Callable[[], Sequence[str]]) -> Loop:
        """Let a contestant in, once it has proved and warmed itself up."""
        loop = self.by_name[name] = Loop()
        try:
            lane = self._stack.enter_context(Lane(command(), limit_s=self._limit_s))
            loop.facts, loop.lane = lane.hear(), lane
        except PeerUnavailable as reason:
            self._problem(name, reason)
        return loop

    def take_turns(self) -> None:
        """One burst of each contestant."""
        for name, loop in self.by_name.items():
            if loop.lane is not None:
                try:
                    loop.turns.append(loop.lane.ask())
                except PeerUnavailable as reason:
                    loop.lane = None
                    self._problem(name, reason)


def quotients(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    """One over the other within each turn."""
    return [one / other for one, other in zip(ones, others, strict=False)]


def middle(values: Sequence[float]) -> float | None:
    """The median, if there is one."""
    return median(values) if values else None
