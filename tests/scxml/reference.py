"""The algorithm of the W3C recommendation, appendix D, for documents without a data model.

Written from its pseudo-code as a second opinion: it shares nothing with the engine. It knows states, parallel and final
states, both histories, `initial` with content, several and deep initial states, `type="internal"`, conditions of the
form `In('x')` and `!In('x')`, and the contents `log` and `raise`.
"""

from collections import deque
from collections.abc import Iterable
from xml.etree.ElementTree import Element

REAL = ("state", "parallel", "final")
MOST_MICROSTEPS = 60


class Endless(Exception):
    """A document that does not come to rest."""


class Reference:
    """An interpreter; `trace` has the values that were logged, in order."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.trace: list[str] = []
        self.is_running = True
        self.parent = {child: parent for parent in root.iter() for child in parent}
        self.order = {element: number for number, element in enumerate(root.iter())}
        self.by_id = {id: element for element in root.iter() if (id := element.get("id"))}
        self.configuration: set[Element] = set()
        self.history: dict[Element, list[Element]] = {}
        self.queue: deque[str] = deque()
        entering = EntrySet(self)
        entering.add(self.initial_of(root)[0], root)
        self._enter(entering)
        self._settle()

    def active(self) -> set[str]:
        """The ids of the active atomic states."""
        return {state.attrib["id"] for state in self.configuration if self.is_atomic(state)}

    def send(self, name: str) -> None:
        """Take one external event to rest."""
        if self.is_running:
            self._take(self._select(name))
            self._settle()

    def _settle(self) -> None:
        for _ in range(MOST_MICROSTEPS):
            if not self.is_running:
                return
            enabled = self._select(None)
            if not enabled:
                if not self.queue:
                    return
                enabled = self._select(self.queue.popleft())
            self._take(enabled)
        raise Endless

    def _select(self, event: str | None) -> list[Element]:
        enabled: dict[Element, None] = {}
        for state in self._in_order(filter(self.is_atomic, self.configuration)):
            for source in (state, *self.ancestors(state)):
                first = next((t for t in source if t.tag == "transition" and self._is_enabled(t, event)), None)
                if first is not None:
                    enabled[first] = None
                    break
        return self._without_conflicts(enabled)

    def _is_enabled(self, transition: Element, event: str | None) -> bool:
        descriptors = transition.get("event")
        if (descriptors is None) != (event is None):
            return False
        if event is not None and not any(_matches(event, one) for one in (descriptors or "").split()):
            return False
        condition = transition.get("cond")
        if condition is None:
            return True
        return (self.by_id[condition.split("'")[1]] in self.configuration) != condition.startswith("!")

    def _without_conflicts(self, enabled: Iterable[Element]) -> list[Element]:
        kept: list[Element] = []
        for candidate in enabled:
            rivals = [rival for rival in kept if self._exits([candidate]) & self._exits([rival])]
            beaten = []
            for rival in rivals:
                if not self.is_inside(self.parent[candidate], self.parent[rival]):
                    break
                beaten.append(rival)
            else:
                kept = [transition for transition in kept if transition not in beaten] + [candidate]
        return kept

    def _take(self, enabled: list[Element]) -> None:
        exits = self._in_order(self._exits(enabled))[::-1]
        for state in exits:
            for history in state:
                if history.tag == "history":
                    self.history[history] = self._remembered(state, history.get("type") == "deep")
        for state in exits:
            self._run_all(state, "onexit")
            self.configuration.discard(state)
        for transition in enabled:
            self._run(transition)
        entering = EntrySet(self)
        for transition in enabled:
            targets = self.targets_of(transition)
            if targets:
                entering.add(targets, self._domain(transition))
        self._enter(entering)

    def _remembered(self, parent: Element, deep: bool) -> list[Element]:
        if deep:
            return [state for state in self.configuration if self.is_atomic(state) and self.is_inside(state, parent)]
        return [state for state in self.configuration if self.parent[state] is parent]

    def _enter(self, entering: "EntrySet") -> None:
        for state in self._in_order(entering.states):
            self.configuration.add(state)
            self._run_all(state, "onentry")
            content = self.initial_of(state)[1]
            if state in entering.by_default and content is not None:
                self._run(content)
            if state in entering.fallbacks:
                self._run(entering.fallbacks[state])
            if state.tag == "final":
                self._finish(state)
        if not self.is_running:
            for state in self._in_order(self.configuration)[::-1]:
                self._run_all(state, "onexit")

    def _finish(self, state: Element) -> None:
        parent = self.parent[state]
        if parent is self.root:
            self.is_running = False
            return
        self.queue.append(f"done.state.{parent.get('id')}")
        above = self.parent[parent]
        if above.tag == "parallel" and all(map(self._is_in_final, self.children(above))):
            self.queue.append(f"done.state.{above.get('id')}")

    def _is_in_final(self, state: Element) -> bool:
        if state.tag == "parallel":
            return all(map(self._is_in_final, self.children(state)))
        return any(child.tag == "final" and child in self.configuration for child in self.children(state))

    def _run_all(self, state: Element, kind: str) -> None:
        for block in state:
            if block.tag == kind:
                self._run(block)

    def _run(self, block: Element) -> None:
        for element in block:
            if element.tag == "log":
                self.trace.append(element.attrib["expr"].strip("'"))
            elif element.tag == "raise":
                self.queue.append(element.attrib["event"])

    def _exits(self, transitions: Iterable[Element]) -> set[Element]:
        exits: set[Element] = set()
        for transition in transitions:
            if transition.get("target"):
                domain = self._domain(transition)
                exits |= {state for state in self.configuration if self.is_inside(state, domain)}
        return exits

    def _domain(self, transition: Element) -> Element:
        source = self.parent[transition]
        targets = self.effective(self.targets_of(transition))
        is_compound = source.tag == "state" and bool(self.children(source))
        if transition.get("type") == "internal" and is_compound and all(self.is_inside(t, source) for t in targets):
            return source
        for ancestor in self.ancestors(source):
            if ancestor.tag in ("state", "scxml") and all(self.is_inside(target, ancestor) for target in targets):
                return ancestor
        raise AssertionError("the root is around everything")

    def effective(self, targets: Iterable[Element]) -> list[Element]:
        """The states that targets lead to, histories followed."""
        states: dict[Element, None] = {}
        for target in targets:
            if target.tag != "history":
                states[target] = None
            else:
                recalled = self.history.get(target)
                states.update(
                    dict.fromkeys(self.effective(self.targets_of(target[0])) if recalled is None else recalled)
                )
        return list(states)

    def targets_of(self, transition: Element) -> list[Element]:
        """The states that a transition names."""
        return [self.by_id[id] for id in (transition.get("target") or "").split()]

    def initial_of(self, state: Element) -> tuple[list[Element], Element | None]:
        """The initial states inside a state, and the transition with content, if any."""
        for element in state:
            if element.tag == "initial":
                return self.targets_of(element[0]), element[0]
        if state.get("initial"):
            return [self.by_id[id] for id in state.attrib["initial"].split()], None
        return self.children(state)[:1], None

    def children(self, state: Element) -> list[Element]:
        """The states inside a state, histories left out."""
        return [child for child in state if child.tag in REAL]

    def is_atomic(self, state: Element) -> bool:
        """Whether no states are inside."""
        return not self.children(state)

    def ancestors(self, state: Element, below: Element | None = None) -> list[Element]:
        """The elements around a state, innermost first, up to but without `below`."""
        around = []
        element = self.parent.get(state)
        while element is not None and element is not below:
            around.append(element)
            element = self.parent.get(element)
        return around

    def is_inside(self, state: Element, ancestor: Element) -> bool:
        """Whether a state is a proper descendant of another."""
        return ancestor in self.ancestors(state)

    def _in_order(self, elements: Iterable[Element]) -> list[Element]:
        return sorted(elements, key=lambda element: self.order[element])


class EntrySet:
    """The states to enter, those of them entered by default, and the transitions of histories without memory."""

    def __init__(self, reference: Reference) -> None:
        self.reference = reference
        self.states: set[Element] = set()
        self.by_default: set[Element] = set()
        self.fallbacks: dict[Element, Element] = {}

    def add(self, targets: list[Element], domain: Element) -> None:
        """Add the states that targets lead to, from inside a domain."""
        for target in targets:
            self._add_down(target)
        for target in self.reference.effective(targets):
            self._add_up(target, domain)

    def _add_down(self, state: Element) -> None:
        reference = self.reference
        if state.tag == "history":
            self._add_recalled(state)
            return
        self.states.add(state)
        if state.tag == "parallel":
            self._add_regions(state)
        elif state.tag == "state" and reference.children(state):
            self.by_default.add(state)
            initial = reference.initial_of(state)[0]
            for target in initial:
                self._add_down(target)
            for target in initial:
                self._add_up(target, state)

    def _add_recalled(self, history: Element) -> None:
        parent = self.reference.parent[history]
        recalled = self.reference.history.get(history)
        if recalled is None:
            self.fallbacks[parent] = history[0]
            recalled = self.reference.targets_of(history[0])
        for state in recalled:
            self._add_down(state)
        for state in recalled:
            self._add_up(state, parent)

    def _add_up(self, state: Element, ancestor: Element) -> None:
        for around in self.reference.ancestors(state, ancestor):
            self.states.add(around)
            if around.tag == "parallel":
                self._add_regions(around)

    def _add_regions(self, state: Element) -> None:
        for child in self.reference.children(state):
            if not any(self.reference.is_inside(entered, child) for entered in self.states):
                self._add_down(child)


def _matches(event: str, descriptor: str) -> bool:
    tokens = descriptor.removesuffix(".*").split(".")
    return descriptor == "*" or event.split(".")[: len(tokens)] == tokens
