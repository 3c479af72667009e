"""Timers and tasks that are open at a snapshot, as JSON that is stored with it.

Replaying a journal from its beginning yields them; replaying it from a snapshot does so only if they are known there.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from antiphon.runtime.records import Json, Letter, Task


class OpenWork(NamedTuple):
    """Timers and tasks that are open after a step, and the time of that step."""

    at: int = 0
    letters: tuple[Letter, ...] = ()
    tasks: tuple[Task, ...] = ()


def open_work_to_json(at: int, letters: Iterable[Letter], tasks: Iterable[Task]) -> Json:
    """Return open timers and tasks as JSON, without the inputs of the tasks, which may be large."""
    return {
        "at": at,
        "letters": [_fields(letter) for letter in letters],
        "tasks": [_fields(task._replace(input=None)) for task in tasks],
    }


def open_work_from_json(root: str, value: Json) -> OpenWork:
    """Return the timers and tasks of a tree that are in a JSON value; raise `ValueError` if it is not such a value."""
    try:
        letters = tuple(Letter(**{"root": root, **fields}) for fields in value["letters"])
        tasks = tuple(Task(**{"root": root, "input": None, **fields}) for fields in value["tasks"])
        return OpenWork(value["at"], letters, tasks)
    except (KeyError, TypeError) as error:
        raise ValueError(f"open timers and tasks cannot be read: {error!r}") from error


def _fields(record: Letter | Task) -> dict[str, Any]:
    """Return the fields of a record that differ from their defaults, without its tree."""
    defaults = {**record._field_defaults, "root": record.root, "input": None}
    return {name: value for name, value in record._asdict().items() if name not in defaults or value != defaults[name]}
