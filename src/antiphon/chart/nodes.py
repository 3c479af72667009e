"""State nodes and transitions, the static parts of a machine, and the lookup of nodes by id, path or target."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from antiphon.chart.errors import EngineError
from antiphon.chart.values import to_path

ATOMIC = "atomic"
COMPOUND = "compound"
PARALLEL = "parallel"
FINAL = "final"
HISTORY = "history"
KINDS = (ATOMIC, COMPOUND, PARALLEL, FINAL, HISTORY)


class Transition:
    """A transition of a chart: from a node, on an event, to targets."""

    __slots__ = ("compound", "config", "event_type", "guard", "local", "ops", "reenter", "source", "targets")

    def __init__(
        self,
        source: "Node",
        event_type: str,
        config: Mapping[str, Any],
        local: bool = False,
        compound: bool = False,
    ) -> None:
        self.source = source
        self.event_type = event_type
        self.config = config
        self.local = local
        self.compound = compound  # its domain is a compound state, as in SCXML
        self.targets: tuple[Node, ...] | None = None
        self.guard: Any = None
        self.ops: tuple[Any, ...] = ()
        self.reenter = bool(config.get("reenter", False))

    @property
    def is_forbidden(self) -> bool:
        """True if this transition only stops its event from bubbling."""
        return self.targets is None and not self.ops

    @property
    def meta(self) -> Any:
        """The chart's `meta` of this transition, for programs."""
        return self.config.get("meta")

    @property
    def description(self) -> str | None:
        """The chart's `description` of this transition, for people."""
        return self.config.get("description")

    def __repr__(self) -> str:
        targets = ", ".join(node.id for node in self.targets or ())
        return f"Transition({self.source.id} --{self.event_type or 'always'}--> {targets or '(none)'})"


class Invoke:
    """An actor that runs as long as its state is active."""

    __slots__ = ("config", "id", "input", "src", "sync_snapshot", "system_id")

    def __init__(self, id: str, src: str, config: Mapping[str, Any]) -> None:
        self.id = id
        self.src = src
        self.config = config
        self.input = config.get("input")
        self.system_id: str | None = config.get("systemId")
        self.sync_snapshot = bool(config.get("onSnapshot") is not None)


class Node:
    """A state of the chart, in its place in the tree."""

    __slots__ = (
        "always", "children", "config", "entry", "exit", "history", "history_default", "id", "initial",
        "initial_ops", "initials", "invokes", "key", "meta", "on", "order", "output", "parent", "path", "spawns",
        "states", "stops", "tags", "type",
    )  # fmt: skip

    def __init__(self, key: str, id: str, parent: "Node | None", order: int, config: Mapping[str, Any]) -> None:
        self.key = key
        self.id = id
        self.parent = parent
        self.order = order
        self.config = config
        self.path: tuple[str, ...] = () if parent is None else (*parent.path, key)
        self.type: str = ATOMIC
        self.states: dict[str, Node] = {}
        self.children: tuple[Node, ...] = ()  # without history nodes
        self.history: str | None = None
        self.history_default: tuple[Node, ...] = ()
        self.initial: Node | None = None
        self.initials: tuple[Node, ...] = ()  # SCXML: instead of `initial`, several states or deeper ones
        self.initial_ops: tuple[Any, ...] = ()
        self.entry: tuple[Any, ...] = ()
        self.exit: tuple[Any, ...] = ()
        self.on: dict[str, tuple[Transition, ...]] = {}
        self.always: tuple[Transition, ...] = ()
        self.invokes: tuple[Invoke, ...] = ()
        self.spawns: tuple[Any, ...] = ()
        self.stops: tuple[Any, ...] = ()
        self.tags: tuple[str, ...] = ()
        self.meta: Any = config.get("meta")
        self.output: Any = None

    @property
    def is_atomic(self) -> bool:
        """True if the state has no child states."""
        return self.type in (ATOMIC, FINAL)

    @property
    def is_history(self) -> bool:
        """True for a pseudo-state that recalls the states active before."""
        return self.type == HISTORY

    @property
    def description(self) -> str | None:
        """The chart's `description` of this state, for people."""
        return self.config.get("description")

    def first(self) -> "Node":
        """Return the child that is active by default."""
        if self.initial is None:
            raise EngineError(f"the initial state {initial_key(self)!r} of {self.id!r} is not one of its states")
        return self.initial

    def ancestors(self, below: "Node | None" = None) -> Iterator["Node"]:
        """Yield the proper ancestors, nearest first, up to but without `below`."""
        node = None if self is below else self.parent
        while node is not None and node is not below:
            yield node
            node = node.parent

    def is_inside(self, ancestor: "Node | None") -> bool:
        """Return whether this is a proper descendant; every node, the root included, is inside None."""
        if ancestor is None:
            return True
        node = self.parent
        while node is not None:
            if node is ancestor:
                return True
            node = node.parent
        return False

    def walk(self) -> Iterator["Node"]:
        """Yield this node and all below it, in document order."""
        yield self
        for child in self.states.values():
            yield from child.walk()

    def __repr__(self) -> str:
        return f"Node({self.id!r})"


def initial_key(node: Node) -> Any:
    """Return the key that the chart names as initial state."""
    initial = node.config.get("initial")
    return initial.get("target") if isinstance(initial, Mapping) else initial


def document_order(node: Node) -> int:
    """Sort key that lists parents before children and earlier siblings before later ones."""
    return node.order


def in_script_order(mapping: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    """Return the items as JavaScript lists them: whole numbers in ascending order first, then as written.

    Charts are shared with XState, whose document order is the order of object keys.
    """
    items = [(_text(key), value) for key, value in mapping.items()]
    if not any(_is_index(key) for key, _ in items):
        return items
    numbers = sorted((item for item in items if _is_index(item[0])), key=lambda item: int(item[0]))
    return numbers + [item for item in items if not _is_index(item[0])]


def _text(key: Any) -> str:
    if isinstance(key, float) and key.is_integer():
        return str(int(key))
    return str(key)


def _is_index(key: str) -> bool:
    return key.isdecimal() and key.isascii() and (key == "0" or key[0] != "0") and int(key) < 4294967295


class Unresolved(Exception):
    """A target that does not exist, with the names that do."""

    def __init__(self, problem: str, known: Iterable[str] = ()) -> None:
        super().__init__(problem)
        self.known = tuple(known)


def find_by_id(by_id: Mapping[str, Node], machine_id: str, text: str) -> Node:
    """Return the node of `#id` or `#id.child`."""
    first, *path = to_path(text)
    id = first[1:] if first.startswith("#") else first
    if id not in by_id:
        raise Unresolved(f"no state of machine {machine_id!r} has the id {id!r}", by_id)
    return descend(by_id[id], path)


def descend(node: Node, path: list[str]) -> Node:
    """Return the node at the end of a path of keys."""
    for key in path:
        if not key:
            break
        if key not in node.states:
            raise Unresolved(unknown_state(node, key), node.states)
        node = node.states[key]
    return node


def unknown_state(parent: Node, key: str) -> str:
    """Return the message that a state has no child of this name."""
    return f"no state named {key!r} inside {parent.id!r}"


def find_target(by_id: Mapping[str, Node], machine_id: str, node: Node, target: Any) -> Node:
    """Return the state that a target means in a transition of a node."""
    if not isinstance(target, str):
        raise Unresolved(f"a target is a string, not {target!r}")
    if target.startswith("#"):
        return find_by_id(by_id, machine_id, target)
    if node.parent is None:
        return _inside_root(node, target)
    try:
        return descend(node.parent, to_path(node.key + target if target.startswith(".") else target))
    except Unresolved as error:
        problem = f"the target {target!r} of a transition from {node.id!r} does not exist: {error}"
        raise Unresolved(problem, error.known) from None


def find_default(by_id: Mapping[str, Node], machine_id: str, node: Node, target: Any) -> Node:
    """Return the state that a history node leads to before there is any history."""
    if not isinstance(target, str):
        raise Unresolved(f"a target is a string, not {target!r}")
    if target.startswith("#"):
        return find_by_id(by_id, machine_id, target)
    assert node.parent is not None
    return descend(node.parent, to_path(target))


def _inside_root(root: Node, target: str) -> Node:
    if target.startswith("."):
        return descend(root, to_path(target[1:]))
    raise Unresolved(
        f"a target of the root starts with a dot or '#': write {'.' + target!r} instead of {target!r}", root.states
    )
