"""Unique ids; as texts they sort in the order in which they were made."""

import uuid
from collections.abc import Callable
from itertools import count


def new_ids() -> Callable[[], str]:
    """Return a generator of ids for trees, origins and letters: a random prefix of this process, then a count."""
    prefix = uuid.uuid4().hex
    numbers = count()
    return lambda: f"{prefix}{next(numbers):010x}"


def token(history: str, seq: int, number: int) -> str:
    """Return the id of a task or timer of a step: the same whenever the step is replayed."""
    return f"{history}/{seq:010d}/{number:04d}"


def token_order(id: str) -> list[str]:
    """Return a key that sorts the ids of timers of a tree in the order in which they were set."""
    return id.rsplit("/", 2)[1:]
