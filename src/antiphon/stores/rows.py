"""Records as rows: the texts and numbers that stores keep.

Text is UTF-8 and numbers have 64 bits. Lone surrogates in ids, which have columns of their own, are refused.
"""

import json
from typing import Any

from antiphon.runtime.encoding import encoded
from antiphon.runtime.errors import Conflict, StoreCorrupt
from antiphon.runtime.records import Birth, Commit, Entry, Letter, Task

Row = tuple[Any, ...]
RESTORE = "restore a backup, or see what `antiphon db check` finds"


def decoded(text: str | bytes, what: str) -> Any:
    """The value of a stored JSON text."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(what, str(error)) from error


def birth_row(birth: Birth) -> Row:
    """A birth as columns."""
    version, input = encoded(birth.version), encoded(birth.input)
    return (birth.incarnation, birth.machine, version, birth.hash, input, birth.forked_from, birth.forked_seq)


def birth_from(root: str, row: Row) -> Birth:
    """A birth from its columns."""
    incarnation, machine, version, hash, input, forked_from, forked_seq = row
    what = f"the beginning of {root!r}"
    return Birth(incarnation, machine, decoded(version, what), hash, decoded(input, what), forked_from, forked_seq)


def letter_row(letter: Letter) -> Row:
    """A letter as columns; what has its default is left out of the last, its body."""
    return (letter.id, letter.at, letter.due, encoded(_letter_body(letter)))


def letter_from(root: str, row: Row) -> Letter:
    """A letter from its columns."""
    id, at, due, body = row
    said = _said(body, f"letter {id!r} to {root!r}")
    to, sender, attempt = said.get("to", ""), said.get("sender", ""), said.get("attempt", 0)
    return Letter(id, root, said["event"], at, due, to, sender, said.get("timer"), said.get("task"), attempt)


def entry_row(entry: Entry) -> Row:
    """An entry as columns; what has its default is left out of the last, its body."""
    _, seq, at, to, event, letter, value, status, emitted, timer = entry
    body: dict[str, Any] = {"event": event}
    if value is not None:
        body["value"] = value
    if status is not None:
        body["status"] = status
    if emitted:
        body["emitted"] = emitted
    if timer is not None:
        body["timer"] = timer
    return (seq, at, to, letter, encoded(body))


def entry_from(root: str, row: Row) -> Entry:
    """An entry from its columns."""
    seq, at, to, letter, body = row
    said = _said(body, f"step {seq} of {root!r}")
    emitted = tuple(said.get("emitted", ()))
    return Entry(
        root, seq, at, to, said["event"], letter, said.get("value"), said.get("status"), emitted, said.get("timer")
    )


def task_row(task: Task) -> Row:
    """A task as columns."""
    input = "null" if task.input is None else encoded(task.input)  # as of most that are not to be repeated
    return (task.id, task.to, task.src, input, task.safety, task.attempt, task.epoch)


def task_from(root: str, row: Row) -> Task:
    """A task from its columns."""
    id, to, src, input, *others = row
    return Task(id, root, to, src, decoded(input, f"task {id!r} of {root!r}"), *others)


def dead_row(letter: Letter, error: str, at: int) -> Row:
    """A dead letter as columns; an error's text may quote anything, so what is no text in it is escaped."""
    body = {"at": letter.at, "due": letter.due, **_letter_body(letter)}
    return (letter.id, at, encoded(body), error.encode("utf-8", "backslashreplace").decode())


def dead_from(root: str, row: Row) -> tuple[Letter, str]:
    """A dead letter and its error from their columns."""
    id, at, body, error = row
    said = _said(body, f"dead letter {id!r} to {root!r}")
    return letter_from(root, (id, said.get("at", at), said.get("due", at), body)), error


def check_order(commit: Commit) -> None:
    """Refuse a commit whose entries do not follow on each other and on what is stored."""
    root, seq = commit.root, commit.expected
    for entry in commit.entries:
        seq += 1
        if entry.seq != seq or entry.root != root:
            raise Conflict(f"step {entry.seq} of {entry.root!r} cannot be stored as step {seq} of {commit.root!r}")


def _letter_body(letter: Letter) -> dict[str, Any]:
    body: dict[str, Any] = {"event": letter.event}
    if letter.to:
        body["to"] = letter.to
    if letter.sender:
        body["sender"] = letter.sender
    if letter.timer is not None:
        body["timer"] = letter.timer
    if letter.task is not None:
        body["task"] = letter.task
    if letter.attempt:
        body["attempt"] = letter.attempt
    return body


def _said(body: str, what: str) -> dict[str, Any]:
    said = decoded(body, what)
    if not isinstance(said, dict) or "event" not in said:
        raise _damaged(what, "it names no event")
    return said


def _damaged(what: str, how: str) -> StoreCorrupt:
    return StoreCorrupt(f"{what} is damaged: {how}; {RESTORE}")
