"""Sample records for tests of stores, and JSON values that are easily stored wrongly."""

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


def make_origin(**fields: Any) -> Origin:
    """Return the origin of a tree."""
    return Origin(**{"history": "i1", "machine": "toggle", "version": "1", "hash": "h1", **fields})


def first_commit(root: str, **fields: Any) -> Commit:
    """Return the commit that creates a tree, with its first entry."""
    first = Entry(root, 1, 10, "", {"type": "xstate.init"}, value="off", status="active")
    return Commit(root, 0, 10, "active", **{"origin": make_origin(history=f"i-{root}"), "entries": (first,), **fields})


def step(root: str, seq: int, letter: str | None = None, **fields: Any) -> Entry:
    """Return an entry of a journal."""
    return Entry(root, seq, 10 + seq, "", **{"event": {"type": "TOGGLE", "n": seq}, "letter": letter, **fields})


def steps(root: str, expected: int, count: int = 1, **fields: Any) -> Commit:
    """Return a commit of some steps."""
    entries = tuple(step(root, seq) for seq in range(expected + 1, expected + count + 1))
    return Commit(root, expected, 20 + expected, **{"status": "active", "entries": entries, **fields})


def letter(root: str, id: str, due: int = 100, **fields: Any) -> Letter:
    """Return a letter from outside."""
    return Letter(id, root, due=due, **{"event": {"type": "TOGGLE"}, "at": 50, **fields})


def task(root: str, id: str, **fields: Any) -> Task:
    """Return a running task."""
    return Task(id, root, **{"to": "reply", "src": "reply", "input": {"n": 1}, "safety": "report", "boot": 1, **fields})
