"""Changes between two charts, in words: states, transitions, invoked actors, actions and context."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from antiphon.chart.compare.matching import match_states
from antiphon.chart.compare.transitions import Candidates, compare_candidates
from antiphon.chart.compare.words import action_words, state_name, value_words
from antiphon.chart.explore.labels import event_label, invoke_label, written_transitions
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import Invoke, Node

Kind = Literal["added", "removed", "moved", "changed"]


class ChartChange(NamedTuple):
    """A change: its kind, the part of a chart that it is about, the state it is in, and a text."""

    kind: Kind
    part: str
    state: str
    text: str


def compare_charts(old: Machine[Any, Any], new: Machine[Any, Any]) -> list[ChartChange]:
    """Return the changes from one chart to another: those of the whole chart first, then in the order of its states."""
    pairs = match_states(old.root, new.root)
    return [*_chart_changes(old, new), *_join_moved(list(_state_changes(old, new, pairs)))]


def _join_moved(changes: list[ChartChange]) -> list[ChartChange]:
    """Join a transition that one state has lost and another has got."""
    lost = [change for change in changes if change.part == "transition" and change.kind == "removed"]
    moved: dict[ChartChange, ChartChange | None] = {}
    for change in changes:
        source = next((loss for loss in lost if loss.text == change.text), None)
        if change.part == "transition" and change.kind == "added" and source is not None:
            lost.remove(source)
            text = f"{change.text}: from {source.state} to {change.state}"
            moved[change] = ChartChange("moved", "transition", change.state, text)
            moved[source] = None
    joined = [moved.get(change, change) for change in changes]
    return [change for change in joined if change is not None]


def _chart_changes(old: Machine[Any, Any], new: Machine[Any, Any]) -> Iterator[ChartChange]:
    if old.id != new.id:
        yield ChartChange("changed", "id", "", f"id {old.id} → {new.id}")
    for key in ("output", "options"):
        if value_words(old.config.get(key)) != value_words(new.config.get(key)):
            yield ChartChange("changed", key, "", _became(key, old.config.get(key), new.config.get(key)))
    before = old.config.get("context")
    after = new.config.get("context")
    if not isinstance(before, Mapping | None) or not isinstance(after, Mapping | None):
        return  # computed when a machine starts
    yield from _context_changes(before or {}, after or {})


def _context_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChartChange]:
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            yield ChartChange("removed", "context", "", f"context.{key}")
        elif key not in before:
            yield ChartChange("added", "context", "", f"context.{key} = {value_words(after[key])}")
        elif value_words(before[key]) != value_words(after[key]):
            yield ChartChange("changed", "context", "", _became(f"context.{key}", before[key], after[key]))


def _state_changes(old: Machine[Any, Any], new: Machine[Any, Any], pairs: dict[Node, Node]) -> Iterator[ChartChange]:
    sources = {node: source for source, node in pairs.items()}
    for node in new.root.walk():
        source = sources.get(node)
        if source is None:
            yield ChartChange("added", "state", state_name(node), _state_words(node))
            yield from _additions(node)
        else:
            yield from _node_changes(source, node, pairs)
    for source in old.root.walk():
        if source not in pairs:
            yield ChartChange("removed", "state", state_name(source), _state_words(source))


def _additions(node: Node) -> Iterator[ChartChange]:
    """Yield the transitions of a state that is new."""
    for change in compare_candidates({}, _candidates(node), {}):
        yield ChartChange("added", "transition", state_name(node), change.text)


def _state_words(node: Node) -> str:
    kind = "" if node.type == "atomic" else f" ({node.type})"
    return f"{state_name(node)}{kind}"


def _node_changes(old: Node, new: Node, pairs: dict[Node, Node]) -> Iterator[ChartChange]:
    place = state_name(new)
    parent = None if old.parent is None else pairs.get(old.parent)
    if old.parent is not None and parent is not new.parent:
        yield ChartChange("moved", "state", place, f"{state_name(old)} → {place}")
    for part, before, after in _facts(old, new, pairs):
        if before != after:
            yield ChartChange("changed", part, place, f"{part} {before or 'none'} → {after or 'none'}")
    yield from _invoke_changes(old, new)
    for change in compare_candidates(_candidates(old), _candidates(new), pairs):
        yield ChartChange(change.kind, "transition", place, change.text)


def _facts(old: Node, new: Node, pairs: dict[Node, Node]) -> Iterator[tuple[str, str, str]]:
    """Yield the facts about a state that are one text each: before and after."""
    yield "type", old.type, new.type
    if new.parent is not None:
        yield "id", str(old.config.get("id") or ""), str(new.config.get("id") or "")
    yield "initial", _initial_words(old, pairs), _initial_words(new, {})
    yield "initial actions", _initial_actions(old), _initial_actions(new)
    yield "tags", ", ".join(sorted(old.tags)), ", ".join(sorted(new.tags))
    yield "history", old.history or "", new.history or ""
    yield "default", _target_words(old.history_default, pairs), _target_words(new.history_default, {})
    for key in ("entry", "exit"):
        yield key, action_words(old.config.get(key)), action_words(new.config.get(key))
    if new.parent is not None:
        yield "output", value_words(old.config.get("output")), value_words(new.config.get("output"))


def _initial_actions(node: Node) -> str:
    initial = node.config.get("initial")
    return action_words(initial.get("actions")) if isinstance(initial, Mapping) else ""


def _initial_words(node: Node, pairs: dict[Node, Node]) -> str:
    initials = node.initials or (() if node.initial is None else (node.initial,))
    return _target_words(initials, pairs)


def _target_words(nodes: tuple[Node, ...], pairs: dict[Node, Node]) -> str:
    return ", ".join(state_name(pairs.get(node, node)) for node in nodes)


def _invoke_changes(old: Node, new: Node) -> Iterator[ChartChange]:
    before = {invoke_label(invoke, old): invoke for invoke in old.invokes}
    after = {invoke_label(invoke, new): invoke for invoke in new.invokes}
    place = state_name(new)
    for name in dict.fromkeys([*before, *after]):
        if name not in after:
            yield ChartChange("removed", "invoke", place, f"invoke {name}")
        elif name not in before:
            yield ChartChange("added", "invoke", place, f"invoke {name}")
        else:
            for part, was, becomes in _invoke_facts(before[name], after[name]):
                if was != becomes:
                    text = f"invoke {name}: {part} {was or 'none'} → {becomes or 'none'}"
                    yield ChartChange("changed", "invoke", place, text)


def _invoke_facts(old: Invoke, new: Invoke) -> Iterator[tuple[str, str, str]]:
    for key in ("input", "systemId", "timeout"):
        yield key, value_words(old.config.get(key)), value_words(new.config.get(key))


def _candidates(node: Node) -> Candidates:
    """Return the transitions of a state by the event that they are for, in words."""
    candidates: Candidates = {}
    for transition in written_transitions(node):
        candidates.setdefault(event_label(transition.event_type, node), []).append(transition)
    return candidates


def _became(name: str, before: Any, after: Any) -> str:
    return f"{name} {value_words(before) or 'none'} → {value_words(after) or 'none'}"
