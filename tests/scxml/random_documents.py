"""Random SCXML documents: nested, parallel and history states, several and deep initial states, contents everywhere."""

from random import Random
from xml.etree.ElementTree import Element, SubElement

from tests.scxml.reference import REAL

EVENTS = ("a", "b", "c")
DEEPEST = 3


class Writer:
    """Writes one random document."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.count = 0
        self.root = Element("scxml", version="1.0")
        self.parent: dict[Element, Element] = {}

    def write(self) -> Element:
        """The document."""
        self._add_children(self.root, 0, self.random.randint(2, 4))
        self.parent = {child: parent for parent in self.root.iter() for child in parent}
        states = [state for state in self.root.iter() if state.tag in (*REAL, "history")]
        for state in states:
            if state.tag == "history":
                self._add_default(state)
                continue
            if state.tag != "final":
                self._add_transitions(state, states)
            for kind in ("onentry", "onexit"):
                self._add_content(SubElement(state, kind), f"{kind} {state.get('id')}")
            if state.tag == "state":
                self._add_initial(state)
        if self.random.random() < 0.3:
            self._set_initial(self.root)
        return self.root

    def _add_default(self, history: Element) -> None:
        parent = self.parent[history]
        inside = self._inside(parent)
        if history.get("type") != "deep":
            inside = [state for state in inside if self.parent[state] is parent]
            if parent.tag == "parallel":
                inside = inside[:1]
        transition = SubElement(history, "transition", target=self.random.choice(inside).attrib["id"])
        self._add_content(transition, f"default {history.get('id')}")

    def _add_initial(self, state: Element) -> None:
        inside = self._inside(state)
        if not inside:
            return
        if self.random.random() < 0.3:
            self._set_initial(state)
        elif self.random.random() < 0.4:
            transition = SubElement(SubElement(state, "initial"), "transition")
            transition.set("target", " ".join(self._initial_ids(inside)))
            self._add_content(transition, f"initial {state.get('id')}")

    def _set_initial(self, state: Element) -> None:
        state.set("initial", " ".join(self._initial_ids(self._inside(state))))

    def _initial_ids(self, inside: list[Element]) -> list[str]:
        """A state inside, or one of each of two regions."""
        parallels = [state for state in inside if state.tag == "parallel"]
        if parallels and self.random.random() < 0.4:
            regions = [child for child in self.random.choice(parallels) if child.tag in REAL][:2]
            return [self.random.choice([region, *self._inside(region)]).attrib["id"] for region in regions]
        return [self.random.choice(inside).attrib["id"]]

    def _inside(self, state: Element) -> list[Element]:
        return [inner for inner in state.iter() if inner.tag in REAL and inner is not state]

    def _add_children(self, parent: Element, depth: int, count: int) -> None:
        for _ in range(count):
            kinds = ("state",) if parent.tag == "parallel" else ("state", "state", "state", "parallel", "final")
            kind = self.random.choice(kinds if depth < DEEPEST else ("state",))
            if parent is self.root and kind == "final" and self.random.random() < 0.8:
                kind = "state"
            self.count += 1
            child = SubElement(parent, kind, id=f"s{self.count}")
            if kind == "parallel" or (kind == "state" and depth < DEEPEST and self.random.random() < 0.5):
                self._add_children(child, depth + 1, self.random.randint(2, 3))
                if self.random.random() < 0.3:
                    self.count += 1
                    SubElement(child, "history", id=f"h{self.count}", type=self.random.choice(("shallow", "deep")))

    def _add_transitions(self, state: Element, states: list[Element]) -> None:
        for number in range(self.random.choice((0, 1, 1, 2))):
            transition = SubElement(state, "transition")
            kind = self.random.random()
            if kind < 0.75:
                transition.set("event", " ".join(self.random.sample(EVENTS, self.random.choice((1, 1, 1, 2)))))
            elif kind < 0.9:
                names = ("*", "done.state", f"done.state.{state.get('id')}", "r.x", "r")
                transition.set("event", self.random.choice(names))
            else:
                other = self.random.choice([state for state in states if state.tag != "history"])
                transition.set("cond", f"{self.random.choice(('', '!'))}In('{other.get('id')}')")
            if self.random.random() < 0.85 or "event" not in transition.attrib:
                transition.set("target", self.random.choice(states).attrib["id"])
            if self.random.random() < 0.2:
                transition.set("type", "internal")
            self._add_content(transition, f"take {state.get('id')} {number}")

    def _add_content(self, block: Element, label: str) -> None:
        SubElement(block, "log", expr=f"'{label}'")
        if self.random.random() < 0.06:
            SubElement(block, "raise", event=self.random.choice(("r.x", "a", "b")))
