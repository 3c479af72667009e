"""Ratios of CPU times, their mean, its standard error, and the verdict on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, stdev

GENERATIONS = 25  # at least, where there are so many rounds
LONGEST = 20  # rounds of a generation
ERRORS = 2  # standard errors above the mean: the upper bound


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean ratio and its standard error."""

    mean: float
    error: float

    @property
    def upper(self) -> float:
        """The upper bound: the mean and two standard errors."""
        return self.mean + ERRORS * self.error

    @property
    def errors_off(self) -> float:
        """How many standard errors the mean is away from 1."""
        distance = abs(self.mean - 1)
        if distance == 0:
            return 0.0
        return distance / self.error if self.error else float("inf")

    def meets(self, goal: float) -> bool:
        """Whether the upper bound is not above the goal."""
        return self.upper <= goal


def estimate(generations: Sequence[Sequence[float]]) -> Estimate:
    """The mean of all rounds' ratios, with the standard error that the means of the generations show.

    Rounds of one generation share the processes and with them the luck of their memory layout: they are not
    independent of each other, but generations are.
    """
    if len(generations) < 2:
        raise ValueError(f"a standard error takes at least two generations, not {len(generations)}")
    means = [fmean(ratios) for ratios in generations]
    return Estimate(
        fmean(ratio for ratios in generations for ratio in ratios),
        stdev(means) / len(means) ** 0.5,
    )


def relative_cost(cpu_s: Sequence[float], reference_s: Sequence[float]) -> float:
    """The mean cost of a slice in units of the references right before and after it."""
    around = [(before + after) / 2 for before, after in pairwise(reference_s)]
    return fmean(cost / reference for cost, reference in zip(cpu_s, around, strict=True))


def shares(rounds: int) -> list[int]:
    """How many rounds each generation has."""
    generations = min(rounds, max(GENERATIONS, -(-rounds // LONGEST)))
    rest = rounds % generations
    return [rounds // generations + (number < rest) for number in range(generations)]
