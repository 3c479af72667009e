"""Records as rows: the texts and numbers that stores keep.

Text is UTF-8 and numbers have 64 bits. Lone surrogates in ids, which have columns of their own, are refused.
"""

import json
from collections.abc import Callable
from typing import Any

from antiphon.runtime import encoding
from antiphon.runtime.encoding import encode, encode_body
from antiphon.runtime.errors import StoreCorrupt, Undecodable
from antiphon.runtime.records import (
    Entry,
    Incident,
    Letter,
    Origin,
    Receipt,
    Rejection,
    Task,
    TreeFailure,
    problem_from_json,
    problem_to_json,
)

Row = tuple[Any, ...]
Read = Callable[[str, str], Any]
RESTORE = "restore a backup, or run `antiphon db check` for details"


def decode(text: str | bytes, name: str) -> Any:
    """Decode a stored JSON text, with coded values in their stored form; `name` describes it in the error."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise _corrupt(name, str(error)) from error


def decode_values(text: str, name: str) -> Any:
    """Decode a stored JSON text and the coded values in it; `name` describes it in the error."""
    try:
        return encoding.decode(text)
    except Undecodable as error:
        raise Undecodable(f"{name} cannot be read: {error}") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise _corrupt(name, str(error)) from error


def origin_row(origin: Origin) -> Row:
    """Return an origin as columns."""
    version = encode(origin.version)
    input = encode(origin.input)
    return (origin.history, origin.machine, version, origin.hash, input, origin.forked_from, origin.forked_seq)


def origin_from(root: str, row: Row) -> Origin:
    """Return the origin in a row."""
    history, machine, version, hash, input, forked_from, forked_seq = row
    name = f"the beginning of {root!r}"
    input = decode_values(input, name)
    return Origin(history, machine, decode_values(version, name), hash, input, forked_from, forked_seq)


def letter_row(letter: Letter) -> Row:
    """Return a letter as columns; its body, the last one, leaves out defaults."""
    return (letter.id, letter.at, letter.due, letter.arrival, letter.starts, encode_body(_letter_body(letter)))


def letter_from(root: str, row: Row, read: Read = decode_values) -> Letter:
    """Return the letter in a row; `read` decodes it."""
    id, at, due, arrival, starts, text = row
    body = _decode_body(text, f"letter {id!r} to {root!r}", read)
    return Letter(
        id,
        root,
        body["event"],
        at,
        due,
        body.get("to", ""),
        body.get("sender", ""),
        body.get("timer"),
        body.get("task"),
        body.get("attempt", 0),
        arrival,
        starts,
    )


def entry_row(entry: Entry) -> Row:
    """Return an entry as columns; its body, the last one, leaves out defaults."""
    # By position, because this runs for every step of the benchmarks.
    _, seq, at, to, event, letter, value, status, emitted, timer, digest, release = entry
    body: dict[str, Any] = {"event": event}
    if value is not None:
        body["value"] = value
    if status is not None:
        body["status"] = status
    if emitted:
        body["emitted"] = emitted
    if timer is not None:
        body["timer"] = timer
    if digest is not None:
        body["digest"] = digest
    if release is not None:
        body["release"] = release
    return (seq, at, to, letter, encode_body(body))


def entry_from(root: str, row: Row) -> Entry:
    """Return the entry in a row."""
    seq, at, to, letter, text = row
    body = _decode_body(text, f"step {seq} of {root!r}")
    emitted = tuple(body.get("emitted", ()))
    return Entry(
        root,
        seq,
        at,
        to,
        body["event"],
        letter,
        body.get("value"),
        body.get("status"),
        emitted,
        body.get("timer"),
        body.get("digest"),
        body.get("release"),
    )


def task_row(task: Task) -> Row:
    """Return a task as columns."""
    input = "null" if task.input is None else encode(task.input)  # None unless the task may be repeated
    return (task.id, task.to, task.src, input, task.safety, task.attempt, task.boot, task.starts)


def task_from(root: str, row: Row) -> Task:
    """Return the task in a row."""
    id, to, src, input, safety, attempt, boot, starts = row
    return Task(id, root, to, src, decode_values(input, f"task {id!r} of {root!r}"), safety, attempt, boot, starts)


def dead_row(letter: Letter, error: str, at: int) -> Row:
    """Return a dead letter as columns; lone surrogates in the error are escaped."""
    body = {"at": letter.at, "due": letter.due, **_letter_body(letter)}
    return (letter.id, at, encode_body(body), error.encode("utf-8", "backslashreplace").decode())


def dead_from(root: str, row: Row, read: Read = decode_values) -> tuple[Letter, str]:
    """Return the dead letter in a row, and its error; `read` decodes it."""
    id, at, text, error = row
    body = _decode_body(text, f"dead letter {id!r} to {root!r}", read)
    row = (id, body.get("at", at), body.get("due", at), 0, 0, text)
    return letter_from(root, row, read), error


def rejection_row(rejection: Rejection, at: int) -> Row:
    """Return a rejection as columns."""
    problem = None if rejection.problem is None else encode(problem_to_json(rejection.problem))
    return (rejection.letter, at, rejection.seq, encode(list(rejection.can)), problem)


def rejection_from(row: Row) -> Receipt:
    """Return the outcome of the rejected letter in a row."""
    id, _, seq, can, text = row
    name = f"the rejection of letter {id!r}"
    try:
        problem = None if text is None else problem_from_json(decode(text, name))
    except TypeError as error:
        raise _corrupt(name, str(error)) from error
    error_text = None if problem is None else problem.text
    return Receipt("rejected", id, seq, tuple(decode(can, name)), error_text, problem=problem)


def incident_row(incident: Incident) -> Row:
    """Return an incident as columns; lone surrogates in its detail are escaped."""
    return (incident.seq, incident.at, incident.kind, incident.detail.encode("utf-8", "backslashreplace").decode())


def failure_from(attempts: int, reason: str | None) -> TreeFailure | None:
    """Return the failed attempts to load a tree, or None."""
    return TreeFailure(attempts, reason or "") if attempts else None


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


def _decode_body(text: str, name: str, read: Read = decode_values) -> dict[str, Any]:
    body = read(text, name)
    if not isinstance(body, dict) or "event" not in body:
        raise _corrupt(name, "it has no event")
    return body


def _corrupt(name: str, reason: str) -> StoreCorrupt:
    return StoreCorrupt(f"{name} is damaged: {reason}; {RESTORE}")
