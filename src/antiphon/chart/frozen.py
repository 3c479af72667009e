"""Read-only dicts and lists: what actors share, and what snapshots are given out as.

They are dicts and lists for `==`, `json` and orjson. `copy()`, `{**value}`, `[*value]` and `copy.copy` give a plain
dict or list whose inner values are still read-only; `copy.deepcopy` gives one that can be changed throughout.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, NoReturn

SCALARS = frozenset((str, int, bool, float, type(None)))
READ_ONLY = (
    "this value is read-only because a machine's context or a snapshot shares it; "
    "return a new value from assign, or change a copy made by copy.deepcopy"
)


def _refuse(self: Any, *values: Any, **named: Any) -> NoReturn:
    raise TypeError(READ_ONLY)


class FrozenDict(dict[str, Any]):
    """Dict that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __copy__(self) -> dict[str, Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: value if type(value) in SCALARS else deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenDict, (self.copy(),))


class FrozenList(list[Any]):
    """List that cannot be changed."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = append = clear = extend = insert = _refuse
    pop = remove = reverse = sort = _refuse

    def __copy__(self) -> list[Any]:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [value if type(value) in SCALARS else deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return (FrozenList, (self.copy(),))


def freeze(value: Any) -> Any:
    """Return a read-only copy of a value; what contains itself is returned as it is, and refused when it is stored."""
    try:
        return _freeze(value)
    except RecursionError:
        return value


def _freeze(value: Any) -> Any:
    kind = type(value)
    if kind in SCALARS or kind is FrozenDict or kind is FrozenList:
        return value
    if isinstance(value, Mapping):
        if SCALARS.issuperset(map(type, value.values())):
            return FrozenDict(value)
        return FrozenDict({key: inner if type(inner) in SCALARS else _freeze(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return FrozenList([inner if type(inner) in SCALARS else _freeze(inner) for inner in value])
    return tuple([_freeze(inner) for inner in value]) if kind is tuple else value
