"""Faults of a simulation and their probabilities."""

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Faults:
    """Probabilities of faults. Those drawn for a seed are often zero, so that each kind also occurs alone."""

    crash: float = 0.0  # at each point a process passes
    store_fails: float = 0.0  # at each call of the store
    answer_lost: float = 0.0  # at each commit and post: it is made, and raises then
    store_is_slow: float = 0.0  # at each call of the store
    duplicate: float = 0.0  # for each letter: sent again, at the same time or later
    by_post: float = 0.0  # for each letter: posted instead of sent
    impatience: float = 0.0  # for each letter: its sender does not wait for the receipt, and repeats it
    cancelled: float = 0.0  # for each call of the runtime: it is cancelled at some point, and repeated
    code_fails: float = 0.0  # for each call of a function of a machine: it raises, or returns what cannot be stored
    work_fails: float = 0.0  # for each task, as the next ones
    work_hangs: float = 0.0
    work_is_slow: float = 0.0
    work_cancels_itself: float = 0.0
    zombie: float = 0.0  # for each task of a dead process: its result arrives nevertheless
    echo: float = 0.0  # for each result of a task: it arrives again later
    killed: float = 0.0  # at each tick of the world
    restart: float = 0.0  # the same, but by stopping properly
    clock_jumps: float = 0.0  # at each tick of the world
    deploy: float = 0.0  # at each boot: the next release is deployed
    restore: float = 0.0  # at each end of a process: an earlier backup of the store is restored
    disorder: float = 0.0  # 1: ready callbacks run in any order

    @classmethod
    def draw(cls, rng: Random) -> "Faults":
        """Draw the faults of one run."""
        return cls(**{name: rng.choice(choices) for name, choices in CHOICES.items()})


CHOICES: dict[str, tuple[float, ...]] = {
    "crash": (0.0, 0.0, 0.005, 0.02),
    "store_fails": (0.0, 0.0, 0.01, 0.05),
    "answer_lost": (0.0, 0.0, 0.02, 0.1),
    "store_is_slow": (0.0, 0.1, 0.5),
    "duplicate": (0.0, 0.1, 0.4),
    "by_post": (0.0, 0.3, 0.8),
    "impatience": (0.0, 0.0, 0.2),
    "cancelled": (0.0, 0.0, 0.3),
    "code_fails": (0.0, 0.0, 0.01, 0.05),
    "work_fails": (0.0, 0.2),
    "work_hangs": (0.0, 0.1),
    "work_is_slow": (0.0, 0.3),
    "work_cancels_itself": (0.0, 0.0, 0.1),
    "zombie": (0.0, 0.5, 1.0),
    "echo": (0.0, 0.0, 0.3),
    "killed": (0.0, 0.0, 0.05, 0.15),
    "restart": (0.0, 0.0, 0.05),
    "clock_jumps": (0.0, 0.0, 0.1),
    "deploy": (0.0, 0.5),
    "restore": (0.0, 0.0, 0.4),
    "disorder": (0.0, 1.0),
}
NONE = Faults()
