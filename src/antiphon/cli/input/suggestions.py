"""Suggestions for what is being typed."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Text that can replace the last `replaces` characters before the cursor."""

    text: str
    replaces: int
    about: str = ""


# Returns the suggestions for the text before the cursor.
Suggest = Callable[[str], Awaitable[Sequence[Suggestion]]]
