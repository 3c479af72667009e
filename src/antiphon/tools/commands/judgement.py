"""Judgement of a command: its risk, why, and what it would need."""

from dataclasses import dataclass

from antiphon.tools.risks import Risk


@dataclass(frozen=True, slots=True)
class CommandJudgement:
    """Judgement of a command line."""

    risk: Risk
    """`read` if it changes nothing, `destructive` if it may destroy something or cannot be analysed."""
    reason: str
    """Why it is not `read`, for the question to a person; empty for `read`."""
    parsed: bool
    """Whether the grammar of bash could read it."""
    network: bool
    """Whether it calls a program that uses the network."""
    paths: tuple[str, ...]
    """Literal words and targets of redirections that may be files it changes."""


def judge_command(command: str) -> CommandJudgement:
    """Judge a command line; what cannot be analysed is destructive."""
    return CommandJudgement("destructive", "the command cannot be analysed", False, False, ())
