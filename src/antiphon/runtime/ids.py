"""Unique ids; as texts they sort in the order in which they were made."""

import uuid
from collections.abc import Callable
from hashlib import blake2b
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


class StepNumbers:
    """Ids and random numbers for the functions of a step: the same ones whenever the step is replayed."""

    __slots__ = ("_count", "_start")

    def __init__(self, start: str, seq: int) -> None:
        self._start = f"{start}/{seq}/"
        self._count = 0

    def new_id(self) -> str:
        """Return another id."""
        return self._next(16).hex()

    def random(self) -> float:
        """Return another number from 0 up to, but not including, 1, of 53 random bits."""
        return (int.from_bytes(self._next(8)) >> 11) / 2**53

    def _next(self, size: int) -> bytes:
        self._count += 1
        return blake2b(f"{self._start}{self._count}".encode(), digest_size=size).digest()
