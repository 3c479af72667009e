"""Signatures of a chart's functions, for type checkers.

`C` is a machine's context, `E` the union of its events, `N` the names of its states. Each may be left
out and is then `Any`, so that only declared types are checked. At run time none of this is used.
"""

from collections.abc import Callable, Mapping, Sized
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Protocol, TypeVar

from antiphon.chart.scope import Scope

# pyright: reportGeneralTypeIssues=false
if TYPE_CHECKING:
    from enum import Enum

    # Checkers know defaults of type variables in every version of Python, the interpreter from 3.13 on.
    # The bounds make a parameter of an untyped lambda something that can be indexed.
    C = TypeVar("C", bound=Mapping[str, Any], default=Any)
    E = TypeVar("E", bound=Mapping[str, Any], default=Any)
    F = TypeVar("F", bound=Mapping[str, Any], default=Any)
    N = TypeVar("N", default=Any)
    C_in = TypeVar("C_in", bound=Mapping[str, Any], contravariant=True, default=Any)
    E_in = TypeVar("E_in", bound=Mapping[str, Any], contravariant=True, default=Any)
    T = TypeVar("T", default=Any)
    T_out = TypeVar("T_out", covariant=True, default=Any)
else:
    C, E, F, N, T = (TypeVar(name) for name in "CEFNT")
    C_in = TypeVar("C_in", contravariant=True)
    E_in = TypeVar("E_in", contravariant=True)
    T_out = TypeVar("T_out", covariant=True)
    Enum = Any


class Scoped(Protocol[T_out]):
    """A function that takes nothing but the scope."""

    def __call__(self, *, scope: Scope) -> T_out:
        """Call the function."""
        ...


class ScopedContext(Protocol[C_in, T_out]):
    """A function of the context that takes the scope."""

    def __call__(self, context: C_in, /, *, scope: Scope) -> T_out:
        """Call the function."""
        ...


class ScopedEvent(Protocol[C_in, E_in, T_out]):
    """A function of context and event that takes the scope."""

    def __call__(self, context: C_in, event: E_in, /, *, scope: Scope) -> T_out:
        """Call the function."""
        ...


class ScopedParams(Protocol[C_in, E_in, T_out]):
    """A function of context, event and params that takes the scope."""

    def __call__(self, context: C_in, event: E_in, params: Any, /, *, scope: Scope) -> T_out:
        """Call the function."""
        ...


# The forms besides `(context, event)`. They are apart because mypy reads the parameters of a lambda off
# its place only if exactly one kind of function may stand there.
Variant = (
    Callable[[C, E, Any], T]
    | Callable[[C], T]
    | Callable[[], T]
    | ScopedEvent[C, E, T]
    | ScopedParams[C, E, T]
    | ScopedContext[C, T]
    | Scoped[T]
)
Function = Callable[[C, E], T] | Variant[C, E, T]


class Ordered(Protocol):
    """Values that can be compared, such as numbers, strings and times; functions cannot."""

    def __lt__(self, other: Any, /) -> Any: ...


class DataclassInstance(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# A value in an `assign` that is not a function. Types cannot say "anything but a function", so they list
# what contexts hold; what is missing here can be given by a lambda.
Constant = Ordered | Sized | Enum | DataclassInstance | None
Assignment = Mapping[str, Function[C, E, Any] | Constant]


class PartialContext(Protocol):
    """A `TypedDict` with some keys of a context, all of them constants; a dict of functions is none.

    Checkers take a `TypedDict` for a mapping of objects, which may be functions of any kind, so `Assignment` does not
    take one. Its `setdefault` tells it from other mappings.
    """

    def setdefault(self, k: Never, default: object) -> object:
        """Return the value of a key."""
        ...


class Later(Generic[T]):
    """A type without values that keeps mypy from inferring `E` from an argument of `E | Later[Callable[[], E]]`.

    mypy infers from arguments that mention functions last, when the machine has already determined `E`.
    """

    if TYPE_CHECKING:

        def __getitem__(self, key: str, /) -> Any: ...
