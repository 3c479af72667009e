"""All problems of a chart: those that stop it from being built, and those that its structure alone shows.

A guard may hold or not, so a state that is reported as never entered is never entered, whatever functions are bound.
"""

import copy
import json
import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, MutableSequence
from typing import Any, NamedTuple

from antiphon.chart.build import Builder
from antiphon.chart.errors import ChartError
from antiphon.chart.explore.labels import event_label, guard_label, transition_label, written_transitions
from antiphon.chart.explore.reachability import connected_states
from antiphon.chart.names import Implementations
from antiphon.chart.nodes import FINAL, Node, Transition
from antiphon.chart.problems import Problems

MOST_REPAIRS = 200
RULES: Mapping[str, str] = {
    "broken": "the chart cannot be built: a wrong value, an unknown key, a target or a function that does not exist",
    "never-entered": "no chain of transitions leads to the state",
    "never-taken": "the transition comes after one without a guard for the same event",
    "same-guard": "two transitions for the same event have the same guard, so the second is never taken",
    "dead-end": "the state reacts to nothing, and it is not final",
    "final-with-transitions": "a final state has transitions, which are never taken",
    "endless": "transitions without an event and without a guard lead in a circle",
    "unstorable-context": "a value of the context cannot be stored as JSON",
}
BY_TARGETS = ("never-entered", "dead-end")  # rules that need every target


class LintProblem(NamedTuple):
    """A problem of a chart: the rule, its place in the chart, and a text."""

    rule: str
    path: str
    text: str


def lint_chart(config: Mapping[str, Any], names: Implementations | None = None) -> list[LintProblem]:
    """Return all problems of a chart in the order of its states; `names` are the functions that are bound to it."""
    root, problems = _build(config, names or Implementations())
    if root is not None:
        is_whole = not problems  # a broken target or initial state would make states look unreachable
        problems += [problem for problem in _structure_problems(root) if is_whole or problem.rule not in BY_TARGETS]
    return [*problems, *_context_problems(config.get("context"), "context")]


class _Collection(Problems):
    """Problems that do not stop the builder."""

    def __init__(self, chart_id: str) -> None:
        super().__init__(chart_id, strict=True)
        self.errors: list[ChartError] = []

    def complain(self, path: str, problem: str, known: Iterable[str] = ()) -> None:
        self.errors.append(ChartError(self.chart_id, path, problem, known))


def _build(config: Mapping[str, Any], names: Implementations) -> tuple[Node | None, list[LintProblem]]:
    """Build a chart; a part that stops the builder is noted, taken out, and the rest is built again."""
    chart = _copy(config)
    fatal: list[ChartError] = []
    for _ in range(MOST_REPAIRS):
        collection = _Collection(str(config.get("id") or "(machine)"))
        try:
            builder = Builder(chart, names, strict=True)
            builder.problems = collection
            root = builder.build()
        except ChartError as error:
            fatal.append(error)
        except Exception:
            if not collection.errors:
                raise
            fatal.append(collection.errors[-1])  # the builder went on with a value that it cannot use
        else:
            return root, _broken([*fatal, *collection.errors])
        if not _repair(chart, fatal[-1].path):
            return None, _broken([*fatal, *collection.errors])
    return None, _broken(fatal)


def _broken(errors: Iterable[ChartError]) -> list[LintProblem]:
    unique = {(error.path, error.problem): error for error in errors}
    return [LintProblem("broken", error.path, _text(error)) for error in unique.values()]


def _text(error: ChartError) -> str:
    return f"{error.problem}; known: {', '.join(error.known)}" if error.known else error.problem


def _copy(config: Any) -> Any:
    """Copy mappings and lists; functions and other values are shared."""
    if isinstance(config, Mapping):
        return {key: _copy(value) for key, value in config.items()}
    return [_copy(value) for value in config] if isinstance(config, list | tuple) else copy.copy(config)


def _repair(chart: Any, path: str) -> bool:
    """Take the value at a path out of a chart, so that the builder gets further; return whether that is possible."""
    place = _find(chart, path)
    state = chart if place is None else place[0][place[1]]
    if _add_initial(state):
        return True
    if place is None:
        return False
    container, key = place
    if isinstance(container, list):
        del container[key]
    elif path.rpartition(".")[0].rpartition(".")[2] == "states":
        container[key] = {}  # so that transitions to this state still find it
    elif key == "initial" and isinstance(container.get("states"), Mapping) and container["states"]:
        first = next(iter(container["states"]))
        if container[key] == first:
            return False
        container[key] = first
    else:
        del container[key]
    return True


def _add_initial(state: Any) -> bool:
    """Give a state with children that lacks an initial state one; return whether it did."""
    is_state = isinstance(state, MutableMapping) and isinstance(state.get("states"), Mapping) and state["states"]
    if not is_state or state.get("initial") or state.get("type", "compound") != "compound":
        return False
    state["initial"] = next(iter(state["states"]))
    return True


def _find(chart: Any, path: str) -> tuple[Any, Any] | None:
    """Return the container and the key at a path such as `states.a.on.GO[1].target`; names may have dots."""
    if not path:
        return None
    for key in _candidates(chart, path):
        rest = path[len(_written(chart, key)) :]
        if not rest:
            return chart, key
        if isinstance(chart[key], MutableMapping | MutableSequence):
            place = _find(chart[key], rest.removeprefix("."))
            if place is not None:
                return place
        return chart, key  # the builder names a part of a shorthand, as the target of `"GO": "a"`
    return None


def _candidates(chart: Any, path: str) -> list[Any]:
    """Return the keys that a path may begin with, the longest first."""
    keys: list[Any] = list(range(len(chart))) if isinstance(chart, list) else list(chart)
    fitting = [key for key in keys if _begins(path, _written(chart, key))]
    return sorted(fitting, key=lambda key: -len(_written(chart, key)))


def _written(chart: Any, key: Any) -> str:
    return f"[{key}]" if isinstance(chart, list) else str(key)


def _begins(path: str, part: str) -> bool:
    return path.startswith(part) and path[len(part) : len(part) + 1] in ("", ".", "[")


def _structure_problems(root: Node) -> Iterator[LintProblem]:
    connected = connected_states(root)
    for node in root.walk():
        if node not in connected and not node.is_history:
            yield LintProblem("never-entered", node_path(node), "no transition leads here")
        yield from _never_taken(node)
        yield from _ends(node)
    yield from _circles(root)


def node_path(node: Node) -> str:
    """Return the place of a state in its chart."""
    return ".".join(f"states.{key}" for key in node.path)


def _never_taken(node: Node) -> Iterator[LintProblem]:
    candidates: dict[str, list[Transition]] = {}
    for transition in written_transitions(node):
        candidates.setdefault(transition.event_type, []).append(transition)
    for type, transitions in candidates.items():
        yield from _late_candidates(node, event_label(type, node), transitions)


def _late_candidates(node: Node, event: str, transitions: list[Transition]) -> Iterator[LintProblem]:
    path = node_path(node)
    guards: set[str] = set()
    for index, transition in enumerate(transitions):
        guard = transition.config.get("guard")
        if guard is None:
            for late in transitions[index + 1 :]:
                text = f"{event}: {transition_label(late)!r} is never taken: one before it has no guard"
                yield LintProblem("never-taken", path, text)
            return
        text = json.dumps(guard, sort_keys=True, default=repr)
        if text in guards:
            yield LintProblem("same-guard", path, f"{event}: the guard {guard_label(guard)!r} was tested before")
        guards.add(text)


def _ends(node: Node) -> Iterator[LintProblem]:
    transitions = list(written_transitions(node))
    if node.type == FINAL and transitions:
        yield LintProblem("final-with-transitions", node_path(node), "a final state takes no transitions")
    if node.states or node.type == FINAL or node.is_history or node.parent is None:
        return
    # A state that reacts to events and stays is where a machine may rest for ever; one that reacts to none is not.
    reactions = [each for state in (node, *node.ancestors()) for each in written_transitions(state)]
    if all(transition.is_forbidden for transition in reactions):
        yield LintProblem("dead-end", node_path(node), "reacts to nothing, and is not final")


def _circles(root: Node) -> Iterator[LintProblem]:
    """Yield circles of transitions that have neither an event nor a guard."""
    following = {node: _forced(node) for node in root.walk()}
    reported: set[Node] = set()
    for start in following:
        circle: list[Node] = []
        node: Node | None = start
        while node is not None and node not in circle and node not in reported:
            circle.append(node)
            node = following[node]
        if node is not None and node in circle:
            names = " → ".join(state.key for state in [*circle[circle.index(node) :], node])
            yield LintProblem("endless", node_path(node), f"transitions without event and guard never end: {names}")
        reported.update(circle)


def _forced(node: Node) -> Node | None:
    """Return the atomic state that a state leads to at once, or None."""
    first = next(iter(node.always), None)
    if first is None or first.config.get("guard") is not None or not first.targets:
        return None
    target: Node | None = first.targets[0]
    while target is not None and target.initial is not None and not target.always:
        target = target.initial
    return target


def _context_problems(value: Any, path: str) -> Iterator[LintProblem]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _context_problems(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _context_problems(inner, f"{path}[{index}]")
    elif isinstance(value, float) and not math.isfinite(value):
        yield LintProblem("unstorable-context", path, f"{value} is no JSON value")
