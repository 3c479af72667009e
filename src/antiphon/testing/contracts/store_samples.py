"""Records to try stores with: the smallest that show a fact, and JSON values that stores get wrong."""

from typing import Any

from antiphon.runtime.records import Commit, Entry, Letter, Origin, Task

VALUES: dict[str, Any] = {
    "unicode": "naïve – 日本語 🦜 \u0000\u001f\u2028\u202e",
    "empty": ["", {}, [], {"": ""}, None],
    "nested": {"a": [{"b": [[[{"c": {}}]]]}]},
    "integers": [0, -1, 2**53 + 1, 2**63, -(2**64), 10**100],
    "floats": [0.1, -0.0, 1e-320, 1.7976931348623157e308, 3.0],
    "words": [True, False, None, "true", "null", "1"],
    "quotes": "\"'\\ \n\r\t '' \" ; drop table actor; --",
    "long": "x" * 70_000,
    "deep": "[" * 50,
}


def make_origin(**others: Any) -> Origin:
    """The beginning of a tree."""
    return Origin(**{"id": "i1", "machine": "toggle", "version": "1", "hash": "h1", **others})


def first_commit(root: str, **others: Any) -> Commit:
    """The commit that makes a tree, with its first entry."""
    first = Entry(root, 1, 10, "", {"type": "xstate.init"}, value="off", status="active")
    return Commit(root, 0, 10, "active", **{"origin": make_origin(id=f"i-{root}"), "entries": (first,), **others})


def step(root: str, seq: int, letter: str | None = None, **others: Any) -> Entry:
    """An entry of a journal."""
    return Entry(root, seq, 10 + seq, "", **{"event": {"type": "TOGGLE", "n": seq}, "letter": letter, **others})


def steps(root: str, expected: int, count: int = 1, **others: Any) -> Commit:
    """A commit of some steps."""
    entries = tuple(step(root, seq) for seq in range(expected + 1, expected + count + 1))
    return Commit(root, expected, 20 + expected, **{"status": "active", "entries": entries, **others})


def letter(root: str, id: str, due: int = 100, **others: Any) -> Letter:
    """A letter from outside."""
    return Letter(id, root, due=due, **{"event": {"type": "TOGGLE"}, "at": 50, **others})


def task(root: str, id: str, **others: Any) -> Task:
    """A task that is running."""
    return Task(id, root, **{"to": "reply", "src": "reply", "input": {"n": 1}, "safety": "report", "boot": 1, **others})
