"""What one step of a document may use, all its blocks and conditions together.

A step of the engine has no place for this, so that the budget is that of the step that began last in this thread.
"""

import threading
from collections.abc import Mapping
from typing import Any

from antiphon.chart.steps import INIT
from antiphon.scxml.errors import ContentError, StepLimitError
from antiphon.scxml.events import STATE_DONE

MOST_EVALUATIONS = 100_000  # elements of content, rounds of `foreach`, expressions and conditions
LONGEST_S = 10  # of computing
MOST_CHARACTERS = 8 * 2**20  # of texts and data that leave the data model, as JSON
_thread = threading.local()


class StepBudget:
    """Counts what a step has used.

    The first evaluation after a limit fails with an error event, whose transition has a tenth more; then all fail
    without any, so that the step comes to rest.
    """

    def __init__(self) -> None:
        self.evaluations = 0
        self.seconds = 0.0
        self.characters = 0
        self._reached: str | None = None
        self._events: dict[int, Any] = {}

    def spend(self) -> None:
        """Count an evaluation; raise `ContentError` if a limit was reached."""
        self.evaluations += 1
        if self.evaluations > MOST_EVALUATIONS * self._factor:
            raise self._reach(f"{MOST_EVALUATIONS} evaluations")
        if self.seconds > LONGEST_S * self._factor:
            raise self._reach(f"{LONGEST_S} s of computing")

    def take(self, text: str) -> None:
        """Count a text that leaves the data model; raise `ContentError` if it is too much."""
        characters = self.characters + len(text)
        if characters > MOST_CHARACTERS * self._factor:
            raise self._reach(f"{MOST_CHARACTERS} characters of data for events and logs")
        self.characters = characters

    @property
    def _factor(self) -> float:
        return 1 if self._reached is None else 1.1

    def _reach(self, limit: str) -> ContentError:
        if self._reached is not None:
            return StepLimitError("error.execution", self._reached)
        self._reached = f"the step has reached its limit of {limit}"
        return ContentError("error.execution", self._reached)

    def add_event(self, event: Any) -> None:
        """Note an event that the step takes."""
        self._events[id(event)] = event

    def covers(self, event: Mapping[str, Any]) -> bool:
        """Return whether an event is one that the step takes."""
        type = event["type"]
        return type == INIT or type.startswith(STATE_DONE) or id(event) in self._events


def begin_step(event: Any = None) -> None:
    """Give the step that begins now a budget of its own."""
    _thread.budget = StepBudget()
    _thread.budget.add_event(event)


def step_budget() -> StepBudget:
    """Return the budget of the step that is computed now."""
    budget: StepBudget | None = getattr(_thread, "budget", None)
    if budget is None:
        budget = _thread.budget = StepBudget()
    return budget


def condition_budget(event: Mapping[str, Any] | None) -> StepBudget:
    """Return the budget of the step, or a new one for a condition that is tested outside a step."""
    budget = step_budget()
    return budget if event is not None and budget.covers(event) else StepBudget()
