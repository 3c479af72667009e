"""Histories: ids that tell one past of a tree from another, and cursors, which are steps of a history.

A tree is created with an id of its history. Where the same past may be continued a second time, because a backup was
restored or the tree was imported, a random suffix is added to the id. What is stored names each change, such as
"3f6c@17.9a1b…": the steps up to 17 belong to the history "3f6c", those after it to "3f6c.9a1b…". So replaying a step
gives its tasks and timers the ids that they had, and a step that is taken in two pasts gives them different ones.
"""

import re
import secrets
from bisect import bisect_left

from antiphon.runtime.errors import OtherHistory

STORED = re.compile(r"(.*?)((?:@[0-9]+\.[0-9a-f]{16})*)", re.DOTALL)


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
        return self._ids[max(0, bisect_left(self._starts, seq) - 1)]

    def cursor(self, seq: int) -> str:
        """Return the cursor of a step."""
        return format_cursor(self.at(seq), seq)

    def resolve(self, root: str, cursor: str, last: int) -> int:
        """Return the step of a cursor of a tree at step `last`; raise `OtherHistory` if it is of another past."""
        id, colon, digits = cursor.rpartition(":")
        if not colon or not digits.isdecimal():
            raise ValueError(f"{cursor!r} is not a cursor; use that of a receipt, or `await runtime.cursor(root)`")
        seq = int(digits)
        ends = dict(zip(self._ids, [*self._starts[1:], last], strict=True))
        shared = ends.get(id, 0)
        if id not in ends or seq > shared:
            raise OtherHistory(root, cursor, self.current, shared, self.cursor(shared))
        return seq


def format_cursor(history: str, seq: int) -> str:
    """Return the cursor of a step."""
    return f"{history}:{seq}"


def new_suffix() -> str:
    """Return a suffix for the ids of the trees that a restore or an import continues."""
    return secrets.token_hex(8)


def change_history(stored: str, seq: int, suffix: str) -> str:
    """Return the stored history of a tree whose steps after `seq` belong to a new one."""
    return f"{stored}@{seq}.{suffix}"
