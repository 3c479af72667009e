"""Ids that nobody else makes, in any store; as texts they sort in the order in which they were made."""

import uuid
from collections.abc import Callable
from itertools import count


def new_ids() -> Callable[[], str]:
    """Ids of trees, incarnations and letters: a random prefix of this process, then a count."""
    prefix, numbers = uuid.uuid4().hex, count()
    return lambda: f"{prefix}{next(numbers):010x}"


def token(incarnation: str, seq: int, number: int) -> str:
    """The id of something that a step asked for: the same whenever the step is taken again."""
    return f"{incarnation}/{seq:010d}/{number:04d}"
