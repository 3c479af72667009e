"""Charts in the language of Graphviz."""

from collections.abc import Iterator

from antiphon.chart.draw.boxes import Box, chart_boxes
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import FINAL, Node

HEADER = (
    "compound=true; rankdir=TB;",
    'node [shape=box style=rounded fontname="DejaVu Sans" fontsize=11];',
    'edge [fontname="DejaVu Sans Mono" fontsize=9];',
)


def to_dot(machine: Machine, *, inside: Node | None = None, depth: int | None = None) -> str:
    """Write a machine, or one of its states, as a directed graph with a cluster for each state that has states."""
    root = chart_boxes(machine.root if inside is None else inside, depth)
    names = {box.node: f"n{number}" for number, box in enumerate(root.walk())}
    lines = [f"digraph {_quote(machine.id)} {{", *HEADER, *_boxes(root, names), *_arrows(root, names), "}"]
    return "\n".join(lines) + "\n"


def _boxes(box: Box, names: dict[Node, str]) -> Iterator[str]:
    name = names[box.node]
    label = _label([box.title, *(row.text for row in box.rows if not _leads(row.targets, names))])
    if not box.children:
        double = " peripheries=2" if box.node.type == FINAL else ""
        yield f"{name} [label={label}{double}];"
        return
    yield f"subgraph cluster_{name} {{"
    yield f"label={label}; labeljust=l; style=rounded;"
    yield f'{name} [shape=point style=invis width=0 label=""];'
    for child in box.children:
        yield from _boxes(child, names)
    yield "}"


def _leads(targets: tuple[Node, ...], names: dict[Node, str]) -> bool:
    return any(target in names for target in targets)


def _arrows(root: Box, names: dict[Node, str]) -> Iterator[str]:
    """Yield the arrows; those with the same ends are one, with a line for each."""
    boxes = {box.node: box for box in root.walk()}
    by_ends: dict[tuple[Node, Node], list[str]] = {}
    for box in root.walk():
        for row in box.rows:
            for target in row.targets:
                if target in boxes:
                    by_ends.setdefault((box.node, target), []).append(row.text)
    for (source, target), texts in by_ends.items():
        options = [f"label={_label(texts)}"]
        options += [f"ltail=cluster_{names[source]}"] if boxes[source].children else []
        options += [f"lhead=cluster_{names[target]}"] if boxes[target].children else []
        yield f"{names[source]} -> {names[target]} [{' '.join(options)}];"


def _label(lines: list[str]) -> str:
    """Return lines as a text that is aligned at the left."""
    return '"' + "".join(f"{_escape(line)}\\l" for line in lines) + '"'


def _quote(text: str) -> str:
    return f'"{_escape(text)}"'


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
