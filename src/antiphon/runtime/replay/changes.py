"""Changes of a step: every new value is checked, and a digest of the step is made."""

# A step replaces snapshots; the objects it does not change are the same ones as before. So the snapshots of an actor
# before and after are compared by identity, and only objects that the one before did not have are looked at. What a
# step costs here depends on what it changes, not on the size of the context.
#
# 1. The check. Every new object must be JSON or have a codec; else the step is refused with the path of the object.
#    Values of a dict are compared by key, items of a list by position. Where positions have shifted, items are
#    compared after the shift, or by the identities of all earlier items. Long lists and dicts are compared by `==`,
#    which tests identity first, in C: 0.1 ms for 50,000 items, where testing each takes 2 ms. An item there that equals
#    the one before without being it counts as the same, unless it is the first or the last.
# 2. The digest. It covers the step in two parts, so that a difference in context values alone can be told apart:
#    the structure (state values, statuses, number of children, timers, tasks, emitted events) and the context values
#    that changed. A text, list or dict of more than 1 kB counts by its length; weighing it stops there.
#
# The digest of a step must be the same when the step is replayed from a stored snapshot, where equal objects are no
# longer the same one, tuples are lists, and texts that grow are strings. So it depends on values only: identity is
# only a fast way to see that a value is equal. Ids of tasks and timers are left out, because a restored store gives
# other ones, and so are messages of errors, which may hold addresses of objects.

from binascii import crc32
from collections.abc import Iterable, Mapping
from itertools import islice
from marshal import dumps
from operator import is_
from typing import Any

from antiphon.actors.callbacks import CallbackLogic
from antiphon.actors.tasks import AsyncLogic
from antiphon.chart.codecs import find_codec
from antiphon.chart.persist import PLAIN, is_plain
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.text import GrowingText
from antiphon.runtime.errors import Unstorable
from antiphon.runtime.paths import path_of
from antiphon.runtime.replay.stored_values import is_actor, restored_value, stored_form, stored_kind, weigh

LIMIT = 1024  # the weight, about the size as JSON, above which a value counts by its length
SHORT = 32  # lists and dicts up to this length are compared item by item
FORMAT = 2  # of marshal: equal values give equal bytes; later formats depend on references
ADVICE = "use JSON values, or register a codec for its type"
ABSENT: Any = object()
CONTEXT = "context"
EMPTY: dict[str, Any] = {}
MEMO = 4096
_moves: dict[str, str] = {}  # digests of steps that lead the root to another state, by its value
WORK = frozenset((AsyncLogic, CallbackLogic))  # whose values come from letters
Values = list[Any]  # alternating paths and values


class Changes:
    """Changes of one step, in all actors of a tree that took part."""

    __slots__ = ("structure", "values")

    def __init__(self, previous: dict[Any, Any], requests: list[str], effects: Any) -> None:
        """Compare the actors with their previous snapshots; raise `Unstorable` for a value that cannot be stored.

        `requests` are timers cancelled and tasks stopped, `effects` are None if there are none.
        """
        structure: list[Any] = []
        self.structure = structure
        self.values: Values = []
        for actor, before in previous.items():
            after = actor.snapshot
            if after is before:
                continue
            path = "" if actor.parent is None else path_of(actor)
            if type(after) is Snapshot and type(before) is Snapshot:
                new = after.configuration
                old = before.configuration
                value = None
                if new is not old and new.shared_value != old.shared_value:
                    value = new.shared_value
                    value = value if type(value) is str else _states(value)
                if after.frame is not before.frame:
                    self._add_frame(path, value, after.frame)
                elif value is not None:
                    structure += (path, value)
                if after.live_context is before.live_context:
                    continue
                if path:
                    self._add_context(path, before.live_context, after.live_context)
                else:
                    compare_dicts(before.live_context, after.live_context, CONTEXT, self.values)
            elif type(actor.logic) not in WORK:
                self._add_other(path, before, after)
        if requests:
            structure += sorted(requests)  # a restored machine may exit parallel states in another order
        if effects is not None:
            self._add_effects(effects)

    @property
    def digest(self) -> str:
        """Short text in two parts: the structure, then the context values; a part without changes is empty."""
        structure = self.structure
        first = ""
        if len(structure) == 2 and not structure[0] and type(structure[1]) is str:
            first = _moves.get(structure[1]) or _move(structure)  # most steps only lead the root to another state
        elif structure:
            first = _checksum(structure)
        return f"{first}.{_checksum(self.values)}" if self.values else f"{first}."

    def describe(self) -> str:
        """Return the changes as text."""
        return f"{self.structure} {self.values}"

    def _add_context(self, path: str, old: Any, new: Any) -> None:
        values = self.values
        start = len(values)
        compare_dicts(old, new, CONTEXT, values)
        if len(values) > start:
            values.insert(start, path)

    def _add_frame(self, path: str, value: Any, frame: Any) -> None:
        self.structure += (path, value, frame.status, len(frame.children))
        if frame.output is not None:
            compare(ABSENT, frame.output, "output", self.values)
        if frame.error is not None and not isinstance(frame.error, BaseException):
            check(frame.error, "error")

    def _add_other(self, path: str, before: Any, after: Any) -> None:
        """Add an actor that is new, or that is not a machine: a reducer, or a machine that could not be entered."""
        if type(after) is Snapshot:
            self._add_frame(path, _states(after.configuration.shared_value), after.frame)
            self._add_context(path, EMPTY, after.live_context)
            return
        if before is None or before.status != after.status:
            self.structure += (path, after.status)
        old = None if before is None else before.context
        if after.context is not old:
            start = len(self.values)
            compare(old, after.context, CONTEXT, self.values)
            if len(self.values) > start:
                self.values.insert(start, path)

    def _add_effects(self, effects: Any) -> None:
        """Add timers, tasks and emitted events."""
        structure = self.structure
        for letter in effects.timers:
            event = letter.event
            check(event, f"event {event['type']!r}")
            name = "" if letter.timer == letter.id else letter.timer
            # Without its delay: the time at which a timer is due is stored, and a delay may be changed.
            structure += ("timer", letter.sender, letter.to, name, event["type"])
        for task, _, _ in effects.started:
            if task.input is not None:
                check(task.input, f"input of {task.src!r}")
            structure += ("task", task.to, task.src)
        for item in effects.emitted:
            structure += ("emitted", item["from"])
            compare(ABSENT, item["event"], f"emitted event {item['event']['type']!r}", structure)


def _checksum(values: list[Any]) -> str:
    """Return a short text that depends on the values only."""
    try:
        return f"{crc32(dumps(values, FORMAT)):x}"
    except ValueError:  # marshal refuses read-only dicts and lists
        return f"{crc32(dumps(_thaw(values), FORMAT)):x}"


def _move(structure: list[Any]) -> str:
    """Return the checksum of a step that leads the root to a state, and keep it for the next such step."""
    checksum = _checksum(structure)
    if len(_moves) < MEMO:
        _moves[structure[1]] = checksum
    return checksum


def _thaw(value: Any) -> Any:
    """Return a value without read-only dicts and lists."""
    if isinstance(value, dict):
        return {key: _thaw(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_thaw(inner) for inner in value]
    return tuple([_thaw(inner) for inner in value]) if type(value) is tuple else value


def _states(value: Any) -> Any:
    """Return a state value that does not depend on the order in which states became active."""
    return value if type(value) is str else [(key, _states(inner)) for key, inner in sorted(value.items())]


def compare_dicts(old: Any, new: Any, path: str, values: Values) -> None:
    """Check the values of a dict that the old one did not have, and add those that changed."""
    added = 0
    for key, value in new.items() if len(new) <= SHORT else _changed_items(old, new):
        before = old.get(key, ABSENT)
        if value is before:
            continue
        if before is ABSENT:
            added += 1
            _check_key(key, path)
        kind = type(value)
        if kind not in PLAIN:
            compare(before, value, f"{path}.{key}", values)
        elif value != before if type(before) is kind else _differs(before, value):
            values += (f"{path}.{key}", value if kind is not str or len(value) <= LIMIT else (len(value),))
    if len(new) - added < len(old):
        for key in old:
            if key not in new:
                values += (f"{path}.{key}", ())


def _differs(old: Any, new: Any) -> bool:
    """Return whether a text, number, truth value or None differs from a value of another type."""
    before = old if type(old) in PLAIN else restored_value(old)
    return bool(new != before) or (type(new) is bool) is not (type(before) is bool)


def compare(old: Any, new: Any, path: str, values: Values) -> None:
    """Check a value that is not the old object, and add it if it changed."""
    kind = type(new)
    if kind is list and type(old) is list:
        _check_items(old, new, path)
        if len(old) != len(new) or not _is_same(old, new):
            values += (path, stored_form(new) if weigh(new, LIMIT) >= 0 else (len(new),))
        return
    if kind is GrowingText:
        length = len(new)
        if (type(old) is GrowingText and len(old) != length) or new != old:
            values += (path, str(new) if length <= LIMIT else (length,))
        return
    before = restored_value(old)
    after = restored_value(new)
    if isinstance(after, Mapping) and isinstance(before, Mapping):
        compare_dicts(before, after, path, values)
        return
    check_change(old, new, path)
    if not _is_same(before, after):
        values += (path, stored_form(after) if weigh(after, LIMIT) >= 0 else (len(after),))


def check_change(old: Any, new: Any, path: str) -> None:
    """Check what a value has that the old one did not have."""
    kind = type(new)
    if kind is list and type(old) is list:
        _check_items(old, new, path)
    elif kind is dict and type(old) is dict:
        for key, value in new.items() if len(new) <= SHORT else _changed_items(old, new):
            before = old.get(key, ABSENT)
            if value is not before:
                _check_key(key, path)
                if type(value) not in PLAIN:
                    check_change(before, value, f"{path}.{key}")
    else:
        check(new, path)


def _check_items(old: list[Any], new: list[Any], path: str) -> None:
    for i in changed_positions(old, new):
        item = new[i]
        if type(item) not in PLAIN:
            check_change(old[i] if i < len(old) else ABSENT, item, f"{path}[{i}]")


def check(value: Any, path: str) -> None:
    """Raise `Unstorable` with a path if a value cannot be stored."""
    try:
        if not is_plain(value):
            _check(value, path)
    except RecursionError:
        raise Unstorable(f"{path} cannot be stored: it contains itself or is nested too deeply") from None


def _check(value: Any, path: str) -> None:
    """Check a value with its parts in Python, which is slower than `is_plain` and finds the path."""
    kind = type(value)
    codec = find_codec(kind)
    if codec is not None:
        try:
            form = codec.encode(value)
        except Exception as error:
            raise Unstorable(f"{path}: {value!r} cannot be stored: {error}") from error
        if not is_plain(form):
            _check(form, path)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _check_key(key, path)
            if not is_plain(inner):
                _check(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            if not is_plain(inner):
                _check(inner, f"{path}[{i}]")
    elif isinstance(value, float):
        if value - value != 0:  # infinite, or not a number
            raise Unstorable(f"{path}: {value!r} cannot be stored; use a finite number or None")
    elif not (isinstance(value, str | int | GrowingText | BaseException) or is_actor(value)):
        article = "an" if kind.__name__[0] in "aeiouAEIOU" else "a"
        raise Unstorable(f"{path}: {article} {kind.__name__} cannot be stored; {ADVICE}")


def _check_key(key: Any, path: str) -> None:
    if type(key) is not str and not isinstance(key, str):
        raise Unstorable(f"{path}: the key {key!r} cannot be stored because it is not a string; {ADVICE}")


def changed_positions(old: list[Any], new: list[Any]) -> Iterable[int]:
    """Return the positions of the items that an earlier version of a list did not have."""
    length = len(old)
    count = len(new)
    if length <= count and (all(map(is_, old, new)) if length <= SHORT else _equal_items(old, new[:length])):
        return range(length, count)  # most lists only grow
    shift = _shift(old, new)
    earlier = old[shift:] if shift else old
    start = _common_start(earlier, new)
    end = _common_end(earlier[start:], new[start:])
    if start + end >= count:
        return ()
    ids = set(map(id, earlier[start : len(earlier) - end]))
    return [i for i in range(start, count - end) if id(new[i]) not in ids]


def _shift(old: list[Any], new: list[Any]) -> int:
    """Return how many items were dropped at the front of a list."""
    if not old or not new or new[0] is old[0]:
        return 0
    return next((i for i, item in enumerate(islice(old, SHORT)) if item is new[0]), 0)


def _common_start(old: list[Any], new: list[Any]) -> int:
    """Return the number of items with which both lists start."""
    low = 0
    high = min(len(old), len(new))
    if _equal_items(old[:high], new[:high]):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if _equal_items(old[low:middle], new[low:middle]):
            low = middle
        else:
            high = middle
    return low


def _common_end(old: list[Any], new: list[Any]) -> int:
    """Return the number of items with which both lists end."""
    if not old or not new or old[-1] is not new[-1]:
        return 0
    return _common_start(old[::-1], new[::-1])


def _equal_items(old: list[Any], new: list[Any]) -> bool:
    """Return whether lists of one length have equal items; the first and the last must be the same objects."""
    return not old or (old[0] is new[0] and old[-1] is new[-1] and _equal(old, new))


def _equal(old: Any, new: Any) -> bool:
    try:
        return bool(old == new)
    except Exception:  # an object that cannot be compared cannot be stored either
        return False


def _changed_items(old: Any, new: Any) -> Iterable[tuple[Any, Any]]:
    """Return the items of a long dict that may have changed."""
    items_since = getattr(new, "items_since", None)
    grown: Iterable[tuple[Any, Any]] | None = None if items_since is None else items_since(old)
    if grown is not None:  # a map that only grows
        return grown
    keys = list(new)
    earlier = list(old)
    if keys[: len(earlier)] != earlier:
        return [(key, value) for key, value in new.items() if old.get(key, ABSENT) is not value]
    values = list(new.values())
    before = list(old.values())
    start = _common_start(before, values)
    end = len(before) - _common_end(before[start:], values[start : len(before)])
    positions = (*range(start, end), *range(len(before), len(keys)))
    return [(keys[i], values[i]) for i in positions if i >= end or values[i] is not before[i]]


def _is_same(old: Any, new: Any) -> bool:
    """Return whether the digest has no difference between two values; `new` was checked."""
    if old is ABSENT or stored_kind(old) is not stored_kind(new):
        return False
    if stored_kind(new) is None:
        return _equal(stored_form(old), stored_form(new))
    if len(old) != len(new):
        return False
    if weigh(new, LIMIT) < 0:
        return weigh(old, LIMIT) < 0
    return _equal(old, new) or (weigh(old, LIMIT) >= 0 and _equal(stored_form(old), stored_form(new)))
