"""Specs made smaller while two engines still differ about them.

An edit is a function that changes a copy of the spec; an edit is kept if the difference is of the same kind afterwards.
Parts that only make sense together with another part (context, input, event types, iteration limits) are never removed:
without them JavaScript would compute with undefined values, and the difference would be one of languages.
"""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from engines import Spec

Edit = Callable[[Spec], None]
Path = tuple[str | int, ...]

# What limits the talk between actors goes last, because most charts never end without it.
LIMITS = {"guard", "$assign"}
KEPT = {"config", "context", "input", "options", "src", "kind", "initial", "states", "event", "if", "$spawn", "$sendTo"}
KEPT |= {"$expr", "$and", "$or", "$not", "$in"}
OPAQUE = {
    "context",
    "input",
    "options",
    "event",
    "$expr",
    "$assign",
    "$sendTo",
    "$raise",
    "$sendParent",
    "$emit",
    "$log",
    "params",
    "output",
}
OPERATORS = {"ctx", "ev", "in", "p", "lit", "+", "-", "==", "<", ">", "not", "cat", "obj", "throw"}
STATE_TYPES = {"parallel", "final", "history"}
KINDS = {*STATE_TYPES, "deep", "shallow", "machine", "promise", "callback", "transition"}
SINGLE = KEPT | LIMITS | {"type", "id", "params"}


class Shrinker:
    """A search for a smaller spec with the same kind of difference."""

    def __init__(self, differs: Callable[[Spec], bool], seconds: float) -> None:
        self._differs = differs
        self._deadline = time.monotonic() + seconds

    def shrink(self, spec: Spec) -> Spec:
        """The smallest spec that was found in the time given."""
        before = -1
        while size(spec) != before and not self._late():
            before = size(spec)
            spec = self._fewer_steps(spec)
            for edits in (bulk_edits, deletions, replacements):
                spec = self._greedy(spec, edits)
        return spec

    def _late(self) -> bool:
        return time.monotonic() > self._deadline

    def _keep(self, spec: Spec, edit: Edit) -> Spec | None:
        candidate = json.loads(json.dumps(spec))
        edit(candidate)
        sound = size(candidate) < size(spec) and persists_first(candidate)
        return candidate if sound and self._differs(candidate) else None

    def _fewer_steps(self, spec: Spec) -> Spec:
        length = max(1, len(spec["steps"]) // 2)
        while length >= 1:
            start = 0
            while start < len(spec["steps"]) and not self._late():
                smaller = self._keep(spec, partial(remove_steps, start, start + length))
                spec, start = (smaller, start) if smaller is not None else (spec, start + length)
            length //= 2
        return spec

    def _greedy(self, spec: Spec, edits: Callable[[Spec], list[Edit]]) -> Spec:
        todo = edits(spec)
        index = 0
        while index < len(todo) and not self._late():
            smaller = self._keep(spec, todo[index])
            if smaller is None:
                index += 1
            else:
                spec = smaller
                todo = edits(smaller)
        return spec


def persists_first(spec: Spec) -> bool:
    """Return whether every restore comes after a persist."""
    kinds = [kind for step in spec["steps"] for kind in step if kind in ("persist", "restore")]
    return kinds[:1] != ["restore"]


def size(value: Any) -> int:
    """The length of a value as JSON."""
    return len(json.dumps(value))


def walk(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in a JSON document that an edit may look at, with its path."""
    yield path, value
    if (path[-1:] and path[-1] in OPAQUE) or is_expression(value):
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield from walk(child, (*path, key))


def is_expression(value: Any) -> bool:
    """Return whether a value is an expression with an operator."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], str) and value[0] in OPERATORS


def at(value: Any, path: Path) -> Any:
    """The value at a path."""
    for key in path:
        value = value[key]
    return value


def bulk_edits(spec: Spec) -> list[Edit]:
    """Edits that remove every use of one setting, event or action form, or one actor with all its uses."""
    uses = Counter(str(path[-1]) for path, _ in walk(spec) if path and isinstance(path[-1], str))
    keys = [key for key, count in uses.most_common() if count > 1 and key not in SINGLE]
    actors = [str(path[-1]) for path, _ in walk(spec) if path[-2:-1] == ("actors",)]
    return [*(partial(remove_actor, name) for name in actors), *(partial(remove_key, key) for key in keys)]


def remove_steps(start: int, end: int, spec: Spec) -> None:
    """Remove some steps."""
    del spec["steps"][start:end]


def remove_key(key: str, value: Any) -> None:
    """Remove a key everywhere; an action that is made by it goes as a whole."""
    if isinstance(value, dict):
        value.pop(key, None)
        for name, child in value.items():
            if name not in OPAQUE:
                remove_key(key, child)
    elif isinstance(value, list):
        value[:] = [item for item in value if not (key.startswith("$") and isinstance(item, dict) and key in item)]
        for item in value:
            remove_key(key, item)


def remove_actor(name: str, value: Any) -> None:
    """Remove an actor together with every invocation and spawning of it."""
    if isinstance(value, dict):
        if isinstance(value.get("actors"), dict):
            value["actors"].pop(name, None)
        if isinstance(value.get("invoke"), dict) and value["invoke"].get("src") == name:
            del value["invoke"]
        for child in value.values():
            remove_actor(name, child)
    elif isinstance(value, list):
        value[:] = [
            item for item in value if not isinstance(item, dict) or name not in (item.get("src"), item.get("$spawn"))
        ]
        for item in value:
            remove_actor(name, item)


def deletions(spec: Spec) -> list[Edit]:
    """Edits that each remove one part, the largest parts first."""
    parts = [(limits(path, value), -size(value), path) for path, value in walk(spec) if removable(spec, path)]
    return [partial(delete, path) for _, _, path in sorted(parts, key=lambda part: part[:2])]


def limits(path: Path, value: Any) -> bool:
    """Return whether a part may be what ends an exchange of events between actors."""
    return path[-1] in LIMITS or (isinstance(value, dict) and "$assign" in value)


def removable(spec: Spec, path: Path) -> bool:
    """Return whether the part at a path may be removed by itself."""
    if len(path) < 2 or path[0] == "steps" or path[-1] in KEPT or path[-2] == "actors":
        return False
    owner = at(spec, path[:-1])
    if path[-1] == "params":
        return "guard" not in path and "if" not in path
    if path[-1] == "type":
        return owner["type"] in STATE_TYPES
    return not (path[-1] == "id" and "$spawn" in owner)


def delete(path: Path, spec: Spec) -> None:
    """Remove the part at a path; a compound state that loses its initial state gets another."""
    owner = at(spec, path[:-1])
    del owner[path[-1]]
    if path[-2] != "states":
        return
    parent = at(spec, path[:-2])
    if not owner:
        for key in ("states", "initial", "onDone", "type"):
            parent.pop(key, None)
    elif parent.get("initial") not in (None, *owner):
        parent["initial"] = next(iter(owner))


def replacements(spec: Spec) -> list[Edit]:
    """Edits that put a smaller part in the place of the part that contains it."""
    return [partial(put, path, part) for path, value in walk(spec) if path for part in inner(value)]


def inner(value: Any) -> list[Any]:
    """The parts of a value that can stand in its place."""
    if not isinstance(value, dict):
        return []
    guards = [*value.get("$and", ()), *value.get("$or", ()), *([value["$not"]] if "$not" in value else ())]
    hollow = {key: part for key, part in value.items() if key not in ("states", "initial", "onDone", "type")}
    states = [*value["states"].values(), hollow] if isinstance(value.get("states"), dict) else []
    return guards + states


def put(path: Path, part: Any, spec: Spec) -> None:
    """Put a part at a path; a state in the place of a whole machine takes over what a machine must have."""
    owner = at(spec, path[:-1])
    whole = {key: owner[path[-1]][key] for key in ("context", "options") if key in owner[path[-1]]}
    owner[path[-1]] = {**part, **whole} if isinstance(part, dict) else part


def features(spec: Spec) -> frozenset[str]:
    """The settings, forms and kinds that a spec uses, by which differences are told apart."""
    names: set[str] = set()
    for path, part in walk(spec):
        key = path[-1] if path else None
        if key in ("type", "kind", "history") and isinstance(part, str) and part in KINDS:
            names.add(str(part))
        # Names of states, events and actors have a number in them; settings and forms have none.
        elif isinstance(key, str) and not any(character.isdigit() for character in key) and path[-2:-1] != ("on",):
            names.add(key)
    return frozenset(names)
