"""Snapshots as JSON and back, in XState's shape.

When persisting, references become `{"xstate$$type": 1, "id"}`, texts become strings, values whose types have codecs
are tagged, and any other value that JSON cannot hold is refused with its path. When restoring, everything is checked
before any child is created.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from antiphon.chart.children import Children
from antiphon.chart.codecs import TAG, decode_coded, encode_coded, escape_tagged, find_codec
from antiphon.chart.errors import CodecError, EngineError, SnapshotError
from antiphon.chart.frozen import FrozenDict, FrozenList
from antiphon.chart.machine import Machine
from antiphon.chart.nodes import COMPOUND, Node, Unresolved, find_by_id
from antiphon.chart.refs import ActorRef, is_reference, to_reference
from antiphon.chart.snapshot import Frame, Snapshot
from antiphon.chart.text import GrowingText

STATUSES = ("active", "done", "error", "stopped")
PLAIN = frozenset((str, int, bool, type(None)))
ADVICE = "use JSON values, or call register_codec for its class"
PersistChild = Callable[[ActorRef], Mapping[str, Any]]


def to_json(snapshot: Snapshot[Any], persist_child: PersistChild) -> dict[str, Any]:
    """Return a snapshot as JSON-ready values; `persist_child` gives those of each child."""
    try:
        context = to_json_value(snapshot.live_context, "context")
    except RecursionError:
        raise SnapshotError("context contains itself or is nested too deeply to be persisted") from None
    persisted: dict[str, Any] = {
        "status": snapshot.status,
        "value": snapshot.value,
        "historyValue": {id: [{"id": node.id} for node in nodes] for id, nodes in snapshot.history.items()},
        "context": context,
        "children": {id: _child(ref, persist_child) for id, ref in snapshot.children.items() if ref is not None},
    }
    if snapshot.output is not None:
        persisted["output"] = to_json_value(snapshot.output, "output")
    if snapshot.error is not None:
        persisted["error"] = to_json_error(snapshot.error)
    return persisted


def _child(ref: ActorRef, persist_child: PersistChild) -> dict[str, Any]:
    if not isinstance(ref.src, str):
        raise SnapshotError(
            f"the child {ref.id!r} cannot be persisted because its logic has no name; name it under actors"
        )
    named = {"snapshot": persist_child(ref), "src": ref.src, "systemId": ref.system_id}
    return {**{key: value for key, value in named.items() if value is not None}, "syncSnapshot": ref.sync_snapshot}


def to_json_value(value: Any, path: str) -> Any:
    """Return a value in its stored form, or the very same object if it is JSON already.

    References, texts and errors are replaced, and values whose types have codecs are tagged.
    """
    return value if is_plain(value) else _convert(value, path)


def is_plain(value: Any) -> bool:
    """Return whether a value is JSON as it is; this is several times as fast as converting it."""
    kind = type(value)
    if kind is dict or kind is FrozenDict:
        for key, inner in value.items():
            if type(key) is not str or (type(inner) not in PLAIN and not is_plain(inner)):
                return False
        return TAG not in value
    if kind is list or kind is FrozenList:
        for inner in value:  # noqa: SIM110 - `all` would halve the depth that can be followed
            if type(inner) not in PLAIN and not is_plain(inner):
                return False
        return True
    return kind in PLAIN or (kind is float and value - value == 0)


def _convert(value: Any, path: str) -> Any:
    codec = find_codec(type(value))
    if codec is not None:
        try:
            return encode_coded(codec, value, lambda form: to_json_value(form, path))
        except CodecError as error:
            raise SnapshotError(f"{path}: {error}") from error
    if value is None or isinstance(value, str | int | float):
        return to_base(value, path)
    if isinstance(value, GrowingText):
        return str(value)
    if isinstance(value, Mapping):
        items = {to_key(key, path): to_json_value(inner, f"{path}.{key}") for key, inner in value.items()}
        return escape_tagged(items) if TAG in items else _same_or(value, items)
    if isinstance(value, list | tuple):
        return _same_or(value, [to_json_value(inner, f"{path}[{i}]") for i, inner in enumerate(value)])
    if hasattr(value, "get_snapshot") and hasattr(value, "send"):
        return to_reference(value.id)
    if isinstance(value, BaseException):
        return to_json_error(value)
    raise SnapshotError(f"{path}: a {type(value).__name__} is not JSON; {ADVICE}")


def to_base(value: Any, path: str) -> Any:
    """Return a string or number as the JSON type it is a subclass of; raise if it is infinite or not a number."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        if value - value != 0:
            raise SnapshotError(f"{path}: {value!r} is not JSON; use None or a text in its place")
        return float.__float__(value)
    return value if value is None or isinstance(value, bool) else int.__int__(value)


def to_key(key: Any, path: str) -> str:
    """Return the key of a JSON object; raise if it is not a string."""
    if not isinstance(key, str):
        raise SnapshotError(f"{path}: the key {key!r} is not a string, as keys in JSON are; use a string")
    return str.__str__(key)


def from_json_value(value: Any) -> Any:
    """Return a value from its stored form, with references left as they are; the very same object if possible."""
    return _revive(value, None)


def _same_or(value: Any, converted: Any) -> Any:
    if isinstance(converted, dict):
        unchanged = isinstance(value, dict) and all(value[key] is inner for key, inner in converted.items())
    else:
        unchanged = isinstance(value, list) and all(a is b for a, b in zip(value, converted, strict=True))
    return value if unchanged else converted


def to_json_error(error: Any) -> Any:
    """Return an error as JSON-ready values."""
    if isinstance(error, BaseException):
        return {"name": type(error).__name__, "message": str(error)}
    return to_json_value(error, "error")


def migrate_snapshot(machine: Machine[Any, Any], persisted: Any) -> Mapping[str, Any]:
    """Return a persisted snapshot, migrated if it was stamped with another version than the machine's."""
    if not isinstance(persisted, Mapping):
        raise SnapshotError(f"{machine.id}: a persisted snapshot is a mapping, not {type(persisted).__name__}")
    owner = persisted.get("machine", machine.id)
    if owner != machine.id:
        raise SnapshotError(f"{machine.id}: the snapshot belongs to the machine {owner!r}")
    if "version" not in persisted or persisted["version"] == machine.version:
        return persisted
    version = persisted["version"]
    if machine.migrate is None:
        raise SnapshotError(
            f"{machine.id}: the snapshot has version {version!r}, the machine {machine.version!r}, "
            "and the machine has no migrate function"
        )
    moved = machine.migrate(deepcopy(dict(persisted)), version)
    if not isinstance(moved, Mapping):
        raise SnapshotError(f"{machine.id}: migrate returned {moved!r} instead of a snapshot")
    return moved


def from_json(
    machine: Machine[Any, Any],
    persisted: Mapping[str, Any],
    make_child: Callable[[str, Mapping[str, Any], Any], ActorRef],
) -> Snapshot[Any]:
    """Return a snapshot from its JSON form; `make_child` is called only after everything else was checked."""
    status = persisted.get("status")
    if status not in STATUSES:
        raise SnapshotError(f"{machine.id}: status {status!r} is not one of {', '.join(STATUSES)}")
    nodes = _nodes(machine, persisted.get("value"))
    history = _history(machine, persisted.get("historyValue"))
    context = _mapping(machine, persisted, "context")
    described = _children(machine, _mapping(machine, persisted, "children"))
    children: Children[ActorRef | None] = Children()
    for id, (data, logic) in described.items():
        children = children.adding(id, make_child(id, data, logic))
    output = from_json_value(persisted.get("output"))
    frame = Frame(status, output, from_json_value(persisted.get("error")), children, history)
    return Snapshot(machine.tables.intern(nodes), _revive_context(context, children), frame)


def _mapping(machine: Machine[Any, Any], persisted: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = persisted.get(key)
    if not isinstance(value, Mapping):
        raise SnapshotError(f"{machine.id}: {key} should be an object, not {value!r}")
    return value


def _nodes(machine: Machine[Any, Any], value: Any) -> tuple[Node, ...]:
    try:
        return machine.nodes_at(value)
    except EngineError as error:
        raise SnapshotError(str(error)) from None


def _history(machine: Machine[Any, Any], persisted: Any) -> dict[str, tuple[Node, ...]]:
    if persisted is None:
        return {}
    if not isinstance(persisted, Mapping):
        raise SnapshotError(f"{machine.id}: historyValue should be an object, not {persisted!r}")
    history: dict[str, tuple[Node, ...]] = {}
    for id, items in persisted.items():
        if not isinstance(items, list | tuple):
            raise SnapshotError(f"{machine.id}: historyValue.{id} should be a list, not {items!r}")
        nodes = tuple(_find_recalled(machine, id, item) for item in items)
        if machine.strict:
            _check_recalled(machine, id, nodes)
        if nodes:
            history[id] = nodes
    return history


def _check_recalled(machine: Machine[Any, Any], id: str, nodes: tuple[Node, ...]) -> None:
    """Check that the recalled nodes lie inside the history node's parent and can be active together."""
    history = machine.nodes.get(id)
    parent = history.parent if history is not None and history.is_history else None
    if parent is None:
        raise SnapshotError(f"{machine.id}: historyValue.{id} does not name a history state")
    for node in nodes:
        if node.is_history or not node.is_inside(parent):
            raise SnapshotError(f"{machine.id}: historyValue.{id} cannot recall {node.id!r}")
    inside = dict.fromkeys(member for node in nodes for member in (node, *node.ancestors(parent), parent))
    if any(len([n for n in inside if n.parent is node]) > 1 for node in inside if node.type == COMPOUND):
        raise SnapshotError(f"{machine.id}: historyValue.{id} names states that cannot be active together")


def _find_recalled(machine: Machine[Any, Any], id: str, item: Any) -> Node:
    node_id: Any = item.get("id") if isinstance(item, Mapping) else item
    try:
        return find_by_id(machine.nodes, machine.id, node_id)
    except (Unresolved, TypeError, AttributeError):
        raise SnapshotError(f"{machine.id}: historyValue.{id} names {node_id!r}, which is not a state") from None


def _children(machine: Machine[Any, Any], persisted: Mapping[str, Any]) -> dict[str, tuple[Mapping[str, Any], Any]]:
    children = {}
    for id, data in persisted.items():
        if not isinstance(data, Mapping) or not isinstance(data.get("snapshot"), Mapping):
            raise SnapshotError(f"{machine.id}: children.{id} has no snapshot")
        src = data.get("src")
        logic = machine.logic(src) if isinstance(src, str) else None
        if logic is not None:
            children[id] = (data, logic)
        elif machine.strict:
            raise SnapshotError(f"{machine.id}: children.{id} runs {data.get('src')!r}, which is not under actors")
    return children


def _revive_context(context: Mapping[str, Any], children: Mapping[str, Any]) -> Any:
    if is_reference(context):
        raise SnapshotError("context is a reference to an actor")
    revived = _revive(context, children)
    return revived if isinstance(revived, dict) else dict(revived)


def _revive(value: Any, children: Mapping[str, Any] | None) -> Any:
    """Return a value with coded values decoded and references to live actors, or the very same object if possible."""
    if isinstance(value, Mapping):
        if children is not None and is_reference(value):
            return children.get(value["id"])
        revived = _same_or(value, {key: _revive(inner, children) for key, inner in value.items()})
        return decode_coded(revived) if TAG in value else revived
    if isinstance(value, list):
        return _same_or(value, [_revive(inner, children) for inner in value])
    return value


def with_own_children(snapshot: Snapshot[Any], make_child: Callable[[ActorRef], ActorRef]) -> Snapshot[Any]:
    """Return the snapshot with new references, so that two actors can start from one snapshot."""
    own = {id: make_child(ref) for id, ref in snapshot.children.items() if ref is not None}
    if not own:
        return snapshot
    children: Children[ActorRef | None] = Children()
    for id, ref in own.items():
        children = children.adding(id, ref)
    frame = snapshot.frame
    moved = Frame(frame.status, frame.output, frame.error, children, frame.history)
    return Snapshot(snapshot.configuration, _rebind_refs(snapshot.live_context, own), moved)


def _rebind_refs(value: Any, own: Mapping[str, ActorRef]) -> Any:
    if isinstance(value, ActorRef):
        return own.get(value.id, value)
    if isinstance(value, Mapping):
        return _same_or(value, {key: _rebind_refs(inner, own) for key, inner in value.items()})
    if isinstance(value, list):
        return _same_or(value, [_rebind_refs(inner, own) for inner in value])
    return value
