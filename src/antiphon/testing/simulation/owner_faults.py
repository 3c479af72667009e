"""Faults of a simulation of several owners and their probabilities."""

from dataclasses import dataclass
from random import Random

from antiphon.testing.simulation.faults import CHOICES, Faults

SHARED = (
    "crash", "store_fails", "answer_lost", "store_is_slow", "duplicate", "by_post", "impatience", "work_fails",
    "work_hangs", "work_is_slow", "work_cancels_itself", "zombie", "echo", "killed", "restart", "disorder",
)  # fmt: skip
MOVES: dict[str, tuple[float, ...]] = {
    "moved": (0.05, 0.1, 0.3),
    "untold": (0.2, 0.5, 1.0),
    "paused": (0.0, 0.0, 0.05, 0.1),
    "misrouted": (0.0, 0.1, 0.4),
    "stalled": (0.0, 0.0, 0.02),
}


@dataclass(frozen=True, slots=True)
class OwnerFaults(Faults):
    """Probabilities of faults in a world of several owners; their clocks agree, and no backup is restored."""

    moved: float = 0.0  # at each tick of the world: a tree gets another owner
    untold: float = 0.0  # for each tree that is lost: its owner does not learn of it for a while
    paused: float = 0.0  # at each tick of the world: a process stands still for a while
    misrouted: float = 0.0  # for each call of a client: it comes to any process
    stalled: float = 0.0  # at each call of the store: it takes seconds

    @classmethod
    def draw(cls, rng: Random) -> "OwnerFaults":
        """Draw the faults of one run."""
        choices = {name: CHOICES[name] for name in SHARED} | MOVES
        return cls(**{name: rng.choice(values) for name, values in choices.items()})
