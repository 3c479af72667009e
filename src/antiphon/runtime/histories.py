"""Histories: ids that tell one past of a tree from another, and cursors, which are places in a history.

A tree is created with an id of its history. Where the same past may be continued a second time, because a backup was
restored or the tree was imported, a random suffix is added to the id. What is stored names each change, such as
"3f6c@17.9a1b…": the steps up to 17 belong to the history "3f6c", those after it to "3f6c.9a1b…". So replaying a step
gives its tasks and timers the ids that they had, and a step that is taken in two pasts gives them different ones.

A cursor is the place of a reader: "3f6c:17" after step 17, "3f6c:17.2" within it, after the second of its parts. The
parts of a step are the letter, and the events that it emitted (`threads/activity.py`).
"""

import re
import secrets
from bisect import bisect_left
from typing import NamedTuple

from antiphon.runtime.errors import OtherHistory

CURSOR = re.compile(r"(.*):([0-9]+)(?:\.([0-9]+))?", re.DOTALL)
TOKEN = re.compile(r"(.*)/[0-9]{10,}/[0-9]{4,}", re.DOTALL)
STORED = re.compile(r"(.*?)((?:@[0-9]+\.[0-9a-f]{16})*)", re.DOTALL)


class Cursor(NamedTuple):
    """Place in a history: after a step or, with a position, within it."""

    history: str
    seq: int
    position: int | None = None  # the last part of the step that was read, or None if all of them were

    @property
    def before(self) -> int:
        """The last step that was read completely."""
        return self.seq if self.position is None else self.seq - 1


class HistoryIds:
    """The ids of the history of a tree, by step."""

    __slots__ = ("_ids", "_starts", "current")

    def __init__(self, stored: str) -> None:
        match = STORED.fullmatch(stored)
        assert match is not None  # any text is an id
        first, changes = match.groups()
        pairs = [change.split(".") for change in changes.split("@")[1:]]
        self._ids = [first, *(f"{first}.{suffix}" for _, suffix in pairs)]
        self._starts = [0, *(int(seq) for seq, _ in pairs)]  # the last step before each id
        self.current = self._ids[-1]

    def at(self, seq: int) -> str:
        """Return the id that the history had at a step."""
        if len(self._ids) == 1:
            return self.current
        return self._ids[max(0, bisect_left(self._starts, seq) - 1)]

    def cursor(self, seq: int) -> str:
        """Return the cursor of a step."""
        return format_cursor(self.at(seq), seq)

    def resolve(self, root: str, cursor: str, last: int) -> int:
        """Return the last whole step of a cursor of a tree at step `last`.

        Raise `OtherHistory` if the cursor is of another past.
        """
        place = parse_cursor(cursor)
        ends = dict(zip(self._ids, [*self._starts[1:], last], strict=True))
        shared = ends.get(place.history, 0)
        if place.history not in ends or place.seq > shared:
            raise OtherHistory(root, cursor, self.current, shared, self.cursor(shared))
        return place.before


def format_cursor(history: str, seq: int, position: int | None = None) -> str:
    """Return the cursor of a step, or of a part of it."""
    return f"{history}:{seq}" if position is None else f"{history}:{seq}.{position}"


def parse_cursor(cursor: str) -> Cursor:
    """Return the place that a cursor stands for; raise `ValueError` if the text is not a cursor."""
    match = CURSOR.fullmatch(cursor)
    if match is None:
        raise ValueError(f"{cursor!r} is not a cursor; use that of a receipt, or `await runtime.cursor(root)`")
    history, seq, position = match.groups()
    return Cursor(history, int(seq), None if position is None else int(position))


def history_of_token(token: str | None) -> str | None:
    """Return the history that the id of a durable task or timer belongs to; None for any other id."""
    match = None if token is None else TOKEN.fullmatch(token)
    return None if match is None else match.group(1)


def is_continued(history: str | None) -> bool:
    """Return whether a history continues a past from a file: an import, a restored backup, or a fork of one."""
    return history is not None and "." in history


def new_suffix() -> str:
    """Return a suffix for the ids of the trees that a restore or an import continues."""
    return secrets.token_hex(8)


def change_history(stored: str, seq: int, suffix: str) -> str:
    """Return the stored history of a tree whose steps after `seq` belong to a new one."""
    return f"{stored}@{seq}.{suffix}"
