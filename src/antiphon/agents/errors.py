"""Errors of agents: files that cannot be used."""

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.threads.errors import ThreadError


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong, or odd, in a file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class BadAgents(ThreadError):
    """Some agents cannot be used; `problems` has every reason, with file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))
