"""Debates judged by a plain function."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.errors import Code
from antiphon.threads.roles import call_role


@dataclass(frozen=True, slots=True)
class Hearing:
    """Debate as a judge hears it: its transcript, the ids of the participants, and the criteria."""

    transcript: str
    participants: tuple[str, ...]
    criteria: tuple[str, ...]


Ruling = Mapping[str, Any]
"""Scores from 0 to 100 by participant; or `scores`, with `reasoning`, `criteria` and `references`.

Each criterion has a text, or a score or a text for each participant.
"""
Judge = Callable[[Hearing], Ruling | Awaitable[Ruling]]
"""Function that judges debates, async or not."""


def judge_by_function(function: Judge, *, clock: Clock = REAL_CLOCK) -> AsyncLogic:
    """Return the logic to provide as `judge` that calls a function; a wrong ruling is an error of the judge."""

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        verdict = error = None
        transcript = "".join(part["text"] for part in input["messages"][-1]["parts"])
        hearing = Hearing(transcript, tuple(input["participants"]), tuple(input["criteria"]))
        try:
            verdict = _verdict(await call_role(function, hearing), hearing.participants)
        except Exception as failed:
            message = f"the judge failed: {type(failed).__name__}: {failed}"
            error = {"code": Code.INVALID_OUTPUT.value, "message": message, "recoverable": False}
        return {"verdict": verdict, "error": error, "at": round(clock.now()), "usage": None, "costUsd": None}

    return from_task(run)


def _verdict(ruling: Ruling, participants: Sequence[str]) -> dict[str, Any]:
    if not isinstance(ruling, Mapping):
        raise TypeError(f"it returned {ruling!r}; expected the scores by participant")
    facts = dict(ruling) if "scores" in ruling else {"scores": dict(ruling)}
    scores = facts["scores"]
    if not isinstance(scores, Mapping) or set(scores) != set(participants):
        raise ValueError(f"the scores are {scores!r}; expected one for each of {', '.join(participants)}")
    for name, score in scores.items():
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 100:
            raise ValueError(f"the score of {name} is {score!r}; expected a number from 0 to 100")
    criteria = facts.get("criteria")
    if criteria is not None and not _are_criteria(criteria):
        raise ValueError(f"the criteria are {criteria!r}; expected a text or the scores by participant for each name")
    return {"reasoning": "", **facts, "scores": dict(scores)}


def _are_criteria(criteria: object) -> bool:
    if not isinstance(criteria, Mapping):
        return False
    return all(isinstance(name, str) and _is_mark(mark) for name, mark in criteria.items())


def _is_mark(mark: object) -> bool:
    marks = mark.values() if isinstance(mark, Mapping) else [mark]
    return all(isinstance(value, str | int | float) for value in marks)
