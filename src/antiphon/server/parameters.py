"""Parameters of endpoints, as data in their annotations: where a value comes from, and its limits.

`api.py` makes them those of FastAPI; `binding.py` reads them without it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A value of a request with its name, where that is not the one of the argument, and its limits."""

    alias: str | None = None
    description: str | None = None
    ge: int | None = None
    le: int | None = None
    max_length: int | None = None


class Query(Parameter):
    """A value of the query; so is that of an argument without an annotation of this module."""


class Header(Parameter):
    """A header."""


class Path(Parameter):
    """A part of the path."""


@dataclass(frozen=True, slots=True)
class Depends:
    """The result of a function, which has parameters of its own."""

    function: Callable[..., Any]
