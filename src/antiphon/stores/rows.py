"""Letters and entries as the texts that stores keep."""

import json
from typing import Any

from antiphon.runtime.records import Entry, Letter

_dumps = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def letter_body(letter: Letter) -> str:
    """What a letter says, without what has a column of its own."""
    named = {
        "to": letter.to,
        "sender": letter.sender,
        "timer": letter.timer,
        "task": letter.task,
        "attempt": letter.attempt,
    }
    return _dumps({"event": letter.event, **{key: value for key, value in named.items() if value}})


def letter_from(root: str, id: str, at: int, due: int, body: str) -> Letter:
    """A letter from its row."""
    said: dict[str, Any] = json.loads(body)
    return Letter(
        id,
        root,
        said["event"],
        at,
        due,
        said.get("to", ""),
        said.get("sender", ""),
        said.get("timer"),
        said.get("task"),
        said.get("attempt", 0),
    )


def entry_body(entry: Entry) -> str:
    """What an entry says, without what has a column of its own."""
    body: dict[str, Any] = {"event": entry.event}
    if entry.value is not None:
        body["value"] = entry.value
    if entry.status is not None:
        body["status"] = entry.status
    if entry.emitted:
        body["emitted"] = entry.emitted
    if entry.timer is not None:
        body["timer"] = entry.timer
    return _dumps(body)


def entry_from(root: str, seq: int, at: int, to: str, letter: str | None, body: str) -> Entry:
    """An entry from its row."""
    said: dict[str, Any] = json.loads(body)
    emitted = tuple(said.get("emitted", ()))
    return Entry(
        root, seq, at, to, said["event"], letter, said.get("value"), said.get("status"), emitted, said.get("timer")
    )
