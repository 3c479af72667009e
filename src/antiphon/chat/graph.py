"""The graph of a chat: its turns as a tree of rows, with branches, checkpoints, merges and what was left behind.

1. A node is a question with its answers, or an answer that another one has replaced. It ends where continuations part
   and at the head of a branch or a checkpoint, so that each of these places has a row with the id of its last message.
2. The path of the current branch is the column at the left.
3. Several plain nodes in a row are one gap, unless all are wanted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from antiphon.chat.lineage import is_summary
from antiphon.chat.record import branch_path
from antiphon.threads import text_of
from antiphon.threads.export.graph import GraphRow, NodeKind
from antiphon.threads.kinds import Json

MOST_EXCERPT = 60
FEWEST_IN_GAP = 3
START = "beginning"


@dataclass(slots=True)
class _Node:
    """Messages that follow each other; none at the beginning of the chat."""

    messages: list[Json]
    parent: int | None
    column: int
    children: int = 0

    @property
    def head(self) -> str | None:
        """Return the id of the last message."""
        return self.messages[-1]["id"] if self.messages else None


@dataclass(slots=True)
class _Places:
    """Facts about the messages of a chat: their children, the labels of heads, and the branches they are on."""

    children: dict[str | None, list[str]] = field(default_factory=dict)
    labels: dict[str | None, list[str]] = field(default_factory=dict)
    merges: dict[str, str] = field(default_factory=dict)
    on_branches: set[str] = field(default_factory=set)
    trunk: set[str] = field(default_factory=set)
    current: str | None = None


def chat_graph(chat: Json, *, is_complete: bool = False) -> list[GraphRow]:
    """Return the rows of a chat's graph; if it is not complete, stretches without a label are gaps."""
    places = _places(chat)
    nodes = _nodes(chat["messages"], places)
    if not nodes[0].messages and nodes[0].children < 2 and None not in places.labels:
        nodes = [_without_start(node) for node in nodes[1:]]
    return _with_merges(chat["messages"], *_rows(nodes, places, is_complete))


def _places(chat: Json) -> _Places:
    places = _Places()
    for message in chat["messages"].values():
        if is_summary(message):
            continue
        places.children.setdefault(message["parent"], []).append(message["id"])
        if "mergedFrom" in message:
            source = chat["messages"][message["mergedFrom"]]
            places.merges[message["id"]] = f"merged from {source.get('branch') or source['id']}"
    current = chat["branch"]
    for name, branch in {**chat["closed"], **chat["branches"]}.items():
        places.labels.setdefault(branch["head"], []).append(_branch_label(chat, name, branch))
        ids = {message["id"] for message in branch_path(chat, name)}
        places.on_branches |= ids
        if name == current:
            places.trunk = ids
            places.current = branch["head"]
    for id, checkpoint in chat["checkpoints"].items():
        places.labels.setdefault(checkpoint["head"], []).append(f"checkpoint {checkpoint.get('name') or id}")
    return places


def _branch_label(chat: Json, name: str, branch: Json) -> str:
    if name == chat["branch"]:
        return f"current: {name}"
    if name in chat["branches"]:
        return name
    return f"{name}, merged into {branch['mergedInto']}" if branch.get("mergedInto") else f"{name}, closed"


def _nodes(messages: Mapping[str, Json], places: _Places) -> list[_Node]:
    """Return the nodes of a chat, each after its parent; the first one is the beginning."""
    nodes: list[_Node] = []
    waiting: list[tuple[str | None, int | None, int]] = [(None, None, 0)]
    while waiting:
        id, parent, column = waiting.pop()
        node = _Node([] if id is None else _chain(messages, places, id), parent, column)
        number = len(nodes)
        nodes.append(node)
        children = sorted(places.children.get(node.head, ()), key=lambda child: child in places.trunk)
        node.children = len(children)
        # The last child is put below the others: it is drawn after them, in this column.
        for place, child in reversed([*enumerate(children, 1)]):
            waiting.append((child, number, column + (place < len(children))))
    return nodes


def _chain(messages: Mapping[str, Json], places: _Places, id: str) -> list[Json]:
    """Return the messages of one node: they answer the first one, and nothing begins or ends among them."""
    chain = [messages[id]]
    while True:
        last = chain[-1]["id"]
        children = places.children.get(last, ())
        if len(children) != 1 or last in places.labels:
            return chain
        child = messages[children[0]]
        if child["role"] == "user" or _is_joint(child):
            return chain
        chain.append(child)


def _is_joint(message: Json) -> bool:
    """Return whether a message was made by a merge, and is no copy."""
    return "mergedFrom" in message and "copiedFrom" not in message


def _without_start(node: _Node) -> _Node:
    parent = None if not node.parent else node.parent - 1
    return _Node(node.messages, parent, node.column, node.children)


def _rows(nodes: list[_Node], places: _Places, is_complete: bool) -> tuple[list[GraphRow], dict[str, int]]:
    """Return the rows, and the row of each message."""
    rows: list[GraphRow] = []
    numbers: list[int] = []  # the row of each node
    row_of: dict[str, int] = {}
    gaps = {} if is_complete else _gaps(nodes, places)
    for number, node in enumerate(nodes):
        if number in gaps and number - 1 in gaps:
            numbers.append(numbers[-1])
        else:
            parent = None if node.parent is None else numbers[node.parent]
            numbers.append(len(rows))
            gap = gaps.get(number)
            rows.append(_row(places, node, parent) if gap is None else GraphRow(gap, parent, node.column, "gap"))
        row_of.update((message["id"], numbers[-1]) for message in node.messages)
    return rows, row_of


def _gaps(nodes: list[_Node], places: _Places) -> dict[int, str]:
    """Return the text of the gap that a node belongs to, for all nodes in gaps."""
    gaps: dict[int, str] = {}
    stretch: list[int] = []
    for number in range(len(nodes) + 1):
        if number < len(nodes) and _is_plain(nodes, number, places):
            stretch.append(number)
            continue
        if len(stretch) >= FEWEST_IN_GAP:
            text = f"{len(stretch)} turns, {nodes[stretch[0]].head} to {nodes[stretch[-1]].head}"
            gaps.update(dict.fromkeys(stretch, text))
        stretch = []
    return gaps


def _is_plain(nodes: list[_Node], number: int, places: _Places) -> bool:
    """Return whether a node continues its parent, and one node continues it, and there is nothing more to say."""
    node = nodes[number]
    if node.parent is None or not node.messages or node.head in places.labels:
        return False
    is_merged = any(message["id"] in places.merges for message in node.messages)
    return node.children == 1 and nodes[node.parent].children == 1 and not is_merged


def _row(places: _Places, node: _Node, parent: int | None) -> GraphRow:
    if not node.messages:
        return GraphRow(_with_labels(START, places.labels.get(None, ())), parent, node.column, _kind(places, node))
    merges = (places.merges[message["id"]] for message in node.messages if message["id"] in places.merges)
    labels = [*places.labels.get(node.head, ()), *merges]
    if node.children == 0 and node.head not in places.on_branches:
        labels.append("left behind")
    text = " ".join(text_of(node.messages[0]["parts"]).split()) or f"[{node.messages[0]['role']}]"
    excerpt = text if len(text) <= MOST_EXCERPT else text[: MOST_EXCERPT - 1] + "…"
    return GraphRow(f"{_with_labels(str(node.head), labels)} {excerpt}", parent, node.column, _kind(places, node))


def _with_labels(text: str, labels: Sequence[str]) -> str:
    return f"{text} ({'; '.join(labels)})" if labels else text


def _kind(places: _Places, node: _Node) -> NodeKind:
    if node.head == places.current:
        return "current"
    return "node" if node.head is None or node.head in places.on_branches else "left"


def _with_merges(messages: Mapping[str, Json], rows: list[GraphRow], row_of: Mapping[str, int]) -> list[GraphRow]:
    """Return the rows with the lines of merges, from the head that was merged to the message that joins it."""
    for message in messages.values():
        source = message.get("mergedFrom", "")
        if source in row_of and message["id"] in row_of:
            number = row_of[message["id"]]
            rows[number] = replace(rows[number], joins=row_of[source])
    return rows
