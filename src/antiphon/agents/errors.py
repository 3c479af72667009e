"""Errors in agents."""

from collections.abc import Iterable
from dataclasses import dataclass

from antiphon.threads.errors import ThreadError


@dataclass(frozen=True, slots=True)
class FileProblem:
    """An error or a warning at a line of a file."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


class BadAgents(ThreadError):
    """Some agents cannot be used; `problems` has every error, with file and line."""

    def __init__(self, problems: Iterable[FileProblem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class InvalidAgent(ThreadError):
    """An agent that is defined in Python cannot be used; `problem` is the reason."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"the agent {name!r} cannot be used: {problem}")
        self.name = name
        self.problem = problem
