"""One attack of the suite; each module of this folder lists those of a category as `ATTACKS`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack in a few words, the text that makes it, and whether a test shows that it works unprotected."""

    name: str
    payload: str
    works_unprotected: bool = True
