"""Turns of the sides of a comparison, round by round, in processes that are started afresh now and then.

1. Four processes are alive in a generation: this checkout and the base, and the base twice more as a control.
2. In a round, every figure is measured in both pairs; the two sides of a pair come right after each other. Which side
   is first alternates, and so does which pair is.
3. Each generation has new processes, since two processes that run the same code differ by some percent as long as they
   live: by where their memory happens to be.
4. All processes of a generation are bound to one processor, the next generation's to the next one. Left to the system,
   one side could stay for long on a processor that others use more.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from comparing.checkouts import Checkout, UnknownBase
from comparing.ratios import relative_cost, shares
from lanes import Lane
from peers import PeerUnavailable

LIMIT_S = 1200  # for one generation, which takes about a minute
SLICE_S, MEASUREMENT_S = 0.001, 0.04
LEAST_SLICES = 3
MEMORY_FOLDER = Path("/dev/shm")

Pair = tuple[str, str]
COMPARED: Pair = ("new", "base")
CONTROL: Pair = ("base once more", "base twice more")
Report = Callable[[str], None]
Ratios = dict[str, list[list[float]]]  # by figure: the rounds' ratios, generation by generation


class FigureFailed(Exception):
    """A side cannot measure a figure; the message says why."""


@dataclass(frozen=True, slots=True)
class Size:
    """How much work a measurement is: the same for all sides."""

    iterations: int
    slices: int


@dataclass(slots=True)
class Measurements:
    """All ratios of a comparison, of its control, and what could not be measured."""

    compared: Ratios = field(default_factory=dict)
    control: Ratios = field(default_factory=dict)
    sizes: dict[str, Size] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def of(self, pair: Pair) -> Ratios:
        """The ratios of a pair."""
        return self.compared if pair == COMPARED else self.control

    @contextmanager
    def attempting(self, figure: str) -> Iterator[None]:
        """Do without a figure from now on if it cannot be measured."""
        try:
            yield
        except FigureFailed as reason:
            self.problems[figure] = str(reason)
            for by_figure in (self.compared, self.control, self.sizes):
                by_figure.pop(figure, None)


class Generation:
    """The processes of some rounds."""

    def __init__(self, new: Checkout, base: Checkout, number: int) -> None:
        self._number = number
        self._checkouts = {name: new if name == "new" else base for name in (*COMPARED, *CONTROL)}
        self._lanes: dict[str, Lane] = {}
        self._stack = ExitStack()
        self.groups: dict[str, list[str]] = {}

    def __enter__(self) -> Generation:
        try:
            for name, checkout in self._checkouts.items():
                folder = self._stack.enter_context(TemporaryDirectory(prefix="antiphon-bench-", dir=scratch_folder()))
                self._lanes[name] = self._start(checkout, folder)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _start(self, checkout: Checkout, folder: str) -> Lane:
        command = [sys.executable, "-m", "comparing.child", folder, str(self._number)]
        lane = self._stack.enter_context(Lane(command, limit_s=LIMIT_S, source=checkout.source))
        try:
            hello = lane.hear()
        except PeerUnavailable as reason:
            raise UnknownBase(f"{checkout.name} cannot be measured: {reason}") from reason
        if not Path(hello["package"]).is_relative_to(checkout.source):
            raise UnknownBase(f"{checkout.name} was not imported, but {hello['package']}; unset PYTHONSAFEPATH")
        self.groups = hello["groups"]
        return lane

    def ask(self, name: str, figure: str, size: Size) -> Any:
        """Let a side measure a figure."""
        question = {"figure": figure, "iterations": size.iterations, "slices": size.slices}
        try:
            answer = self._lanes[name].ask(json.dumps(question))
        except PeerUnavailable as reason:
            raise UnknownBase(f"{self._checkouts[name].name} ended at {figure!r}: {reason}") from reason
        if "problem" in answer:
            raise FigureFailed(f"{self._checkouts[name].name}: {answer['problem']}")
        return answer

    def calibrate(self, figure: str) -> Size:
        """Find out on the base how much work takes as long as a measurement should."""
        iterations = 1
        while (fastest := min(self.ask("base", figure, Size(iterations, LEAST_SLICES))["cpu_s"])) < SLICE_S:
            iterations *= 2
        cost_s = fastest / iterations
        iterations = max(1, round(SLICE_S / cost_s))
        return Size(iterations, max(LEAST_SLICES, round(MEASUREMENT_S / (iterations * cost_s))))

    def warm_up(self, figure: str, size: Size) -> None:
        """Let every side do what is only done at first."""
        for name in self._lanes:
            self.ask(name, figure, size)

    def measure(self, pair: Pair, figure: str, size: Size, *, is_reversed: bool) -> float:
        """How many times the cost of the second side the first one's is."""
        costs = {}
        for name in reversed(pair) if is_reversed else pair:
            answer = self.ask(name, figure, size)
            costs[name] = relative_cost(answer["cpu_s"], answer["reference_s"])
        return costs[pair[0]] / costs[pair[1]]


def compare(new: Checkout, base: Checkout, group: str | None, rounds: int, report: Report) -> Measurements:
    """Measure every figure of a group, or all, in so many rounds."""
    measurements = Measurements()
    progress = Progress(rounds, report)
    done = 0
    for generation_number, share in enumerate(shares(rounds)):
        report(f"starting processes, {done} of {rounds} rounds done")
        with Generation(new, base, generation_number) as generation:
            if not done:
                names = [name for key, names in generation.groups.items() if group in (None, key) for name in names]
                calibrate(measurements, generation, names)
            warm_up(measurements, generation)
            for number in range(done, done + share):
                progress.show(number)
                play_round(measurements, generation, number)
        done += share
    return measurements


def calibrate(measurements: Measurements, generation: Generation, figures: list[str]) -> None:
    """Decide on the sizes of all measurements."""
    for figure in figures:
        with measurements.attempting(figure):
            measurements.sizes[figure] = generation.calibrate(figure)


def warm_up(measurements: Measurements, generation: Generation) -> None:
    """Get ready for the rounds of a generation."""
    for figure, size in [*measurements.sizes.items()]:
        with measurements.attempting(figure):
            generation.warm_up(figure, size)
            for pair in (COMPARED, CONTROL):
                measurements.of(pair).setdefault(figure, []).append([])


def play_round(measurements: Measurements, generation: Generation, number: int) -> None:
    """Measure every figure in both pairs."""
    pairs = (CONTROL, COMPARED) if number // 2 % 2 else (COMPARED, CONTROL)
    for figure, size in [*measurements.sizes.items()]:
        with measurements.attempting(figure):
            for pair in pairs:
                ratio = generation.measure(pair, figure, size, is_reversed=number % 2 == 1)
                measurements.of(pair)[figure][-1].append(ratio)


class Progress:
    """Says which round is played and how long the rest will take."""

    def __init__(self, rounds: int, report: Report) -> None:
        self._rounds = rounds
        self._report = report
        self._began = monotonic()

    def show(self, done: int) -> None:
        """Report the round after so many."""
        text = f"round {done + 1} of {self._rounds}"
        if done:
            minutes = (monotonic() - self._began) / done * (self._rounds - done) / 60
            text += f", about {max(1, round(minutes))} min left"
        self._report(text)


def scratch_folder() -> Path | None:
    """Where files of stores are: in memory where there is such a folder, unless TMPDIR names another."""
    if "TMPDIR" not in os.environ and MEMORY_FOLDER.is_dir() and os.access(MEMORY_FOLDER, os.W_OK):
        return MEMORY_FOLDER
    return None
