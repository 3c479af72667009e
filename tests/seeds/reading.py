"""Readings of a document: what it says in a line, and what the code does there.

A passage is a generator of readings. Its function follows one example or table of a document, line by line.
The documents are called 000 to 004; a line is found by its number and a few characters of it.
"""

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from tests.seeds.differences import DIFFERENCES


class Reading(NamedTuple):
    """One line of a document: a few of its characters, what we do, and what the document says."""

    line: int
    words: str
    ours: Any
    theirs: Any


Passage = Callable[[], Iterator[Reading]]


def differences(readings: Iterable[Reading]) -> dict[int, Any]:
    """What we do, by line, where the document says something else."""
    return {reading.line: reading.ours for reading in readings if reading.ours != reading.theirs}


def listed(document: str, readings: Iterable[Reading]) -> dict[int, Any]:
    """What the list of differences says about the lines of some readings."""
    lines = {reading.line for reading in readings}
    return {line: entry.ours for line, entry in DIFFERENCES[document].items() if line in lines}


def outermost(snapshot: Any) -> str:
    """The outermost state of a machine."""
    value = snapshot.value
    return value if isinstance(value, str) else next(iter(value))


def readings_of(document: str) -> list[Reading]:
    """All readings of a document."""
    passages: list[Passage] = import_module(f"tests.seeds.test_seed_{document}").PASSAGES
    return [reading for passage in passages for reading in passage()]
