"""Machines as Mermaid state diagrams, which GitHub, editors and browsers draw.

Mermaid has undocumented rules: (1) a state named inside a composite other than its own moves there, so an
arrow is written inside the parent of both its ends, else at the outermost level; (2) an arrow between a
composite and a state inside it is drawn badly, so it is written as a text instead; (3) some words and
signs have a meaning in the middle of a text, so they are written as character codes.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from antiphon.chart.explore.labels import (
    action_labels,
    event_label,
    invoke_label,
    transition_label,
    written_transitions,
)
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import FINAL, PARALLEL, Node, Transition
from antiphon.chart.snapshot import Snapshot

INDENT = "    "
# Words that begin a statement, and names of Mermaid's own objects: no state may have these names.
RESERVED = frozenset(
    ["accdescr", "acctitle", "as", "class", "classdef", "click", "default", "direction", "end", "hide", "href", "note",
     "scale", "state", "statediagram", "style",
     "constructor", "hasownproperty", "isprototypeof", "propertyisenumerable", "root", "tolocalestring", "tostring",
     "valueof"]
)  # fmt: skip
STYLES = (
    "classDef active fill:#c8e6c9,stroke:#2e7d32,stroke-width:3px,color:#000",
    "classDef around stroke:#2e7d32,stroke-width:3px",
)


def to_mermaid(machine: Machine[Any, Any], snapshot: Snapshot[Any] | None = None) -> str:
    """Draw the machine as a `stateDiagram-v2`; the states that are active in a snapshot are highlighted."""
    diagram = _Diagram(machine.root)
    lines = ["stateDiagram-v2", *_indent(diagram.lines())]
    if snapshot is not None:
        lines.extend(_indent(diagram.highlight_active(snapshot.nodes)))
    return "\n".join(lines) + "\n"


class _Diagram:
    """The states of a machine with the names they have in the diagram."""

    def __init__(self, root: Node) -> None:
        self.root = root
        # The root is drawn only if there are lines about it.
        self.has_frame = root.type == PARALLEL or not root.states or any(self.texts(root))
        self.names: dict[Node, str] = {}
        used_names: set[str] = set()
        for node in root.walk():
            self.names[node] = _name("_".join(node.path) or node.key, used_names)

    def lines(self) -> Iterator[str]:
        if self.has_frame:
            yield f"[*] --> {self.names[self.root]}"
            yield from self._state(self.root)
        else:
            yield from self._inside(self.root)
        for node in self.root.walk():
            yield from self._arrows(node, at_home=False)

    def _state(self, node: Node) -> Iterator[str]:
        name = self.names[node]
        texts = list(self.texts(node))
        declared = f'state "{_escape(_title(node))}" as {name}'
        if not node.states:
            yield declared
            yield from (f"{name} : {text}" for text in texts)
        else:
            yield f"{declared} {{"
            yield from _indent(self._inside(node))
            yield "}"
            if texts:
                yield f"note right of {name}"
                yield from _indent(texts)
                yield "end note"
        if node.type == FINAL:
            yield f"{name} --> [*]"

    def _inside(self, node: Node) -> Iterator[str]:
        if node.type == PARALLEL:
            yield from self._regions(node)
            return
        if node.initial is not None:
            yield f"[*] --> {self.names[node.initial]}"
        for child in node.states.values():
            yield from self._state(child)
        for child in node.states.values():
            yield from self._arrows(child, at_home=True)

    def _regions(self, node: Node) -> Iterator[str]:
        # A history state is not a region; it is drawn in the first one.
        for child in node.states.values():
            if child.is_history:
                yield from self._state(child)
        for index, child in enumerate(node.children):
            if index:
                yield "--"
            yield from self._state(child)

    def _arrows(self, node: Node, at_home: bool) -> Iterator[str]:
        for transition in written_transitions(node):
            label = _escape(transition_label(transition))
            for target in transition.targets or ():
                if not _is_enclosing(node, target) and _is_at_home(node, target) == at_home:
                    yield f"{self.names[node]} --> {self.names[target]} : {label}"
        for target in node.history_default if node.config.get("target") else ():
            if _is_at_home(node, target) == at_home:
                yield f"{self.names[node]} --> {self.names[target]} : default"

    def texts(self, node: Node) -> Iterator[str]:
        """Yield the lines about a state inside its box, or in a note beside it."""
        for invoke in node.invokes:
            yield _escape(f"invoke {invoke_label(invoke, node)}")
        for key in ("entry", "exit"):
            if node.config.get(key):
                yield _escape(f"{key} / {', '.join(action_labels(node.config[key]))}")
        for transition in written_transitions(node):
            far = [_title(target) for target in transition.targets or () if _is_enclosing(node, target)]
            if far:
                yield _escape(f"{transition_label(transition)} → {', '.join(far)}")
            elif not transition.targets:
                yield _escape(_inner_text(transition))

    def highlight_active(self, active: Iterable[Node]) -> Iterator[str]:
        drawn = [node for node in active if node is not self.root or self.has_frame]
        inner = [self.names[node] for node in drawn if not node.states]
        outer = [self.names[node] for node in drawn if node.states]
        yield from STYLES
        for names, style in ((inner, "active"), (outer, "around")):
            if names:
                yield f"class {', '.join(sorted(names))} {style}"


def _inner_text(transition: Transition) -> str:
    """Return the line of a transition without target: its actions, or that its event is ignored."""
    if transition.is_forbidden and not transition.config.get("guard"):
        return f"{event_label(transition.event_type, transition.source)} is ignored"
    return transition_label(transition)


def _is_enclosing(first: Node, second: Node) -> bool:
    return first.is_inside(second) or second.is_inside(first)


def _is_at_home(source: Node, target: Node) -> bool:
    """Return whether an arrow can be written next to its ends: siblings, but not two regions of a parallel state."""
    parent = source.parent
    return parent is not None and parent is target.parent and (parent.type != PARALLEL or source is target)


def _title(node: Node) -> str:
    if node.is_history:
        return f"{node.key} [{'H*' if node.history == 'deep' else 'H'}]"
    return node.key


def _name(text: str, used_names: set[str]) -> str:
    """Return an unused name for a state that has no meaning of its own in Mermaid."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "state"
    if plain.lower() in RESERVED or plain.lower().endswith("direction") or plain[0].isdigit():
        plain = f"s_{plain}_"
    name = plain
    number = 1
    while name.lower() in used_names:
        number += 1
        name = f"{plain}_{number}"
    used_names.add(name.lower())
    return name


# Letters, spaces and harmless signs stay; an underscore or star at the edge of a word would be Markdown.
_SIGNS = re.compile(
    r"[^\w \[\]().,/=!?'|@+→*-]|(?<![^\W_])_|_(?![^\W_])|(?<=\[)\[|(?<=\])\]|(?<=-)-|(?<!\[H)\*|\*(?!\])"
)
# `direction TB` and `end note` are statements wherever they stand in a line.
_WORDS = re.compile(r"d(?=irection)|(?<=end) +(?=note)", re.IGNORECASE)


def _escape(text: str) -> str:
    one_line = " ".join(text.split()) or "(no name)"
    return _WORDS.sub(_code, _SIGNS.sub(_code, one_line))


def _code(match: re.Match[str]) -> str:
    return "".join(f"#{ord(character)};" for character in match.group())


def _indent(lines: Iterable[str]) -> Iterator[str]:
    return (INDENT + line for line in lines)
