"""Guards that may hold or not: a machine whose functions are not known, explored in every way that its guards allow.

A step is computed again for each way: guards are asked in the order of the engine, each answer is a choice, and the
choice that was made last is changed until all ways were tried.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from antiphon.chart.explore.labels import guard_label
from antiphon.chart.guards import And, Not, Or, StateIn
from antiphon.chart.machine import Machine

T = TypeVar("T")
MOST_WAYS = 512  # of one event in one situation
CHILD_PREFIXES = ("xstate.done.actor.", "xstate.error.actor.", "xstate.snapshot.")
NO_RESULT = {"output": None, "error": None, "snapshot": None}
MOST_CHOICES = 24  # in one step; guards that are asked later do not hold, so that circles of transitions end


class Choices:
    """Answers of guards, in the order in which they are asked."""

    def __init__(self) -> None:
        self._prefix: list[bool] = []
        self._answers: list[bool] = []
        self._labels: list[str] = []

    def answer(self, label: str) -> bool:
        """Return the answer of a guard that is asked now: false at first, then both."""
        place = len(self._answers)
        value = self._prefix[place] if place < len(self._prefix) else False
        self._answers.append(value)
        self._labels.append(label)
        return value

    def ways(self, compute: Callable[[], T]) -> Iterator[tuple[T, tuple[str, ...]]]:
        """Yield the results of a computation for all answers, each with the guards that hold."""
        self._prefix = []
        for _ in range(MOST_WAYS):
            self._answers = []
            self._labels = []
            result = compute()
            held = [label for label, value in zip(self._labels, self._answers, strict=True) if value]
            yield result, tuple(dict.fromkeys(held))
            following = self._next_prefix()
            if following is None:
                return
            self._prefix = following

    def _next_prefix(self) -> list[bool] | None:
        """Return the answers of the next way: the last guard that did not hold holds, and those after it are open."""
        answers = self._answers[:MOST_CHOICES]
        while answers and answers[-1]:
            answers.pop()
        return [*answers[:-1], True] if answers else None


def open_guards(machine: Machine[Any, Any], choices: Choices) -> Machine[Any, Any]:
    """Return a machine whose named guards are answered by choices."""
    names = dict.fromkeys(_guard_names(machine))
    guards = {name: _guard(name, choices) for name in names}
    return machine.provide(guards=guards)


def _guard(name: str, choices: Choices) -> Callable[..., bool]:
    def choose(context: Any, event: Any, params: Any) -> bool:
        spec = {"type": name} if params is None else {"type": name, "params": params}
        return choices.answer(guard_label(spec))

    return choose


def _guard_names(machine: Machine[Any, Any]) -> Iterator[str]:
    for node in machine.root.walk():
        for transitions in (*node.on.values(), node.always):
            for transition in transitions:
                yield from _names_in(transition.config.get("guard"))


def _names_in(guard: Any) -> Iterator[str]:
    match guard:
        case And(guards) | Or(guards):
            for inner in guards:
                yield from _names_in(inner)
        case Not(inner):
            yield from _names_in(inner)
        case StateIn() | None:
            return
        case str():
            yield guard
        case Mapping() if isinstance(guard.get("type"), str):
            yield guard["type"]


def child_events(machine: Machine[Any, Any]) -> list[dict[str, Any]]:
    """Return events of children that a machine reacts to and does not invoke: actions that are not known start them."""
    invoked = {invoke.id for node in machine.root.walk() for invoke in node.invokes}
    events = []
    for type in dict.fromkeys(type for node in machine.root.walk() for type in node.on):
        prefix = next((prefix for prefix in CHILD_PREFIXES if type.startswith(prefix)), None)
        if prefix is not None and (id := type[len(prefix) :]) not in invoked:
            events.append({"type": type.replace("*", "child"), "actorId": id.replace("*", "child"), **NO_RESULT})
    return events
