"""Consequences of a changed chart for runs that were stored with the old one.

A stored run has a state value, recalled states of histories, children by id, and timers by the type of their event.
Values are tried on the new machine, by the same function that restores them.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from antiphon.chart.compare.words import state_name
from antiphon.chart.errors import EngineError
from antiphon.chart.explore.labels import event_label, invoke_label
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import COMPOUND, PARALLEL, Node

TIMERS = ("xstate.after.", "xstate.timeout.actor.")


class Consequence(NamedTuple):
    """A consequence for stored runs: the part of them that it is about, the state they are in, and a text."""

    part: Literal["id", "value", "history", "invoke", "timer", "context"]
    state: str
    text: str


def find_consequences(old: Machine[Any, Any], new: Machine[Any, Any]) -> list[Consequence]:
    """Return the consequences for runs that were stored with the old chart and continue with the new one."""
    if old.id != new.id:
        return [Consequence("id", "", f"runs of {old.id!r} are not runs of {new.id!r}: none of them restores")]
    by_path = {node.path: node for node in new.root.walk()}
    consequences = [*_value_consequences(old, new), *_history_consequences(old, new)]
    for node in old.root.walk():
        if node.path in by_path:
            consequences += _work_consequences(node, by_path[node.path])
    return [*consequences, *_context_consequences(old.config.get("context"), new.config.get("context"))]


def _value_consequences(old: Machine[Any, Any], new: Machine[Any, Any]) -> Iterator[Consequence]:
    for node in old.root.walk():
        if not node.is_atomic or node.parent is None:
            continue
        value = _value_with(old.root, node.path)
        place = state_name(node)
        try:
            restored = new.nodes_at(value)
        except EngineError as error:
            yield Consequence("value", place, f"runs in {place} do not restore: {error}")
            continue
        entered = [state_name(leaf) for leaf in restored if leaf.is_atomic and leaf.is_inside(_at(new, node))]
        if entered:
            text = f"runs in {place} continue in {', '.join(entered)}, without its entry actions"
            yield Consequence("value", place, text)


def _value_with(node: Node, path: tuple[str, ...]) -> Any:
    """Return a value of a state in which the state at a path inside it is active, and others by default."""
    if node.type == PARALLEL:
        return {child.key: _value_with(child, path[1:] if path[:1] == (child.key,) else ()) for child in node.children}
    if node.type != COMPOUND:
        return {}
    child = node.states[path[0]] if path else _default(node)
    return child.key if child.is_atomic else {child.key: _value_with(child, path[1:])}


def _default(node: Node) -> Node:
    """Return the state inside another one that is active first; a history leads to one of them."""
    initial = node.initial
    return node.children[0] if initial is None or initial.is_history else initial


def _at(machine: Machine[Any, Any], old: Node) -> Node:
    """Return the state of a machine at the place of one of another."""
    node = machine.root
    for key in old.path:
        node = node.states[key]
    return node


def _history_consequences(old: Machine[Any, Any], new: Machine[Any, Any]) -> Iterator[Consequence]:
    for history in old.history_nodes:
        place = state_name(history)
        now = new.nodes.get(history.id)
        if now is None or not now.is_history:
            yield Consequence("history", place, f"runs that {place} remembers a state for do not restore: it is gone")
            continue
        if now.history != history.history:
            text = f"{place} is {now.history} instead of {history.history}: what it remembers was noted as before"
            yield Consequence("history", place, text)
        for node in _recallable(history):
            recalled = new.nodes.get(node.id)
            if recalled is None or recalled.is_history or now.parent is None or not recalled.is_inside(now.parent):
                text = f"runs for which {place} remembers {state_name(node)} do not restore: it is not there any more"
                yield Consequence("history", place, text)


def _recallable(history: Node) -> Iterator[Node]:
    """Yield the states that a history state can recall."""
    assert history.parent is not None
    for node in history.parent.walk():
        is_child = node.parent is history.parent
        is_wanted = node.is_atomic if history.history == "deep" else is_child
        if is_wanted and node is not history.parent and not node.is_history:
            yield node


def _work_consequences(old: Node, new: Node) -> Iterator[Consequence]:
    """Yield what becomes of the children and timers of runs in a state, by their ids."""
    place = state_name(old)
    before = {invoke.id: invoke for invoke in old.invokes}
    after = {invoke.id: invoke for invoke in new.invokes}
    for id, invoke in before.items():
        name = invoke_label(invoke, old)
        if id not in after:
            yield Consequence("invoke", place, f"runs in {place} have a child {name} whose result nothing waits for")
        elif after[id].src != invoke.src:
            text = f"runs in {place} have a child {name}; its logic is {after[id].src!r} now, and was {invoke.src!r}"
            yield Consequence("invoke", place, text)
    for id, invoke in after.items():
        if id not in before:
            text = f"runs in {place} have no child {invoke_label(invoke, new)}: it starts when the state is entered"
            yield Consequence("invoke", place, text)
    yield from _timer_consequences(old, new)


def _timer_consequences(old: Node, new: Node) -> Iterator[Consequence]:
    place = state_name(old)
    before = timer_types(old)
    after = timer_types(new)
    for type in before:
        if type not in after:
            text = f"runs in {place} have a timer {event_label(type, old)!r} that nothing waits for"
            yield Consequence("timer", place, text)
    for type in after:
        if type not in before:
            text = f"runs in {place} have no timer {event_label(type, new)!r}: it is set when the state is entered"
            yield Consequence("timer", place, text)


def timer_types(node: Node) -> list[str]:
    """Return the event types of the timers that run while a state is active."""
    return [type for type in node.on if type.startswith(TIMERS)]


def _context_consequences(old: Any, new: Any) -> Iterator[Consequence]:
    if isinstance(old, Mapping | None) and isinstance(new, Mapping | None):
        for key in new or {}:
            if key not in (old or {}):
                yield Consequence("context", "", f"stored runs have no context.{key}")
