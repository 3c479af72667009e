"""How a debate begins, or continues from where it is."""

import argparse
import sys
from collections.abc import Awaitable, Callable
from functools import partial

from antiphon.cli.debate.controller import Moderator
from antiphon.cli.debate.plain_view import DebateShow, next_step
from antiphon.cli.debate.state import Stage
from antiphon.cli.frame import Misuse
from antiphon.debate.service import Debates

Begin = Callable[[], Awaitable[object]]


async def prepare(
    debates: Debates, id: str, show: DebateShow, options: argparse.Namespace
) -> tuple[Moderator, Begin, int]:
    """The controller of a debate, how it begins or continues, and the step after which it is shown."""
    stage = Stage.of(id, await debates.read(id))
    moderator = Moderator(debates, stage, show, is_interactive=show.is_drawn and sys.stdin.isatty())
    is_resumed = options.resume is not None
    after = 0
    if is_resumed:
        past, after = await debates.history(id)
        for activity in past:
            stage.take(activity)
        begin: Begin = _continue(debates, moderator, options.limit)
    else:
        begin = partial(debates.start, id)
    show.begin(stage, is_resumed=is_resumed)
    return moderator, begin, after


def _continue(debates: Debates, moderator: Moderator, limit: float | None) -> Begin:
    """What makes a debate continue from where it is; `Misuse` if nothing can."""
    stage = moderator.stage
    id = stage.id
    if stage.is_over:
        raise Misuse(f"debate {id} is over; {next_step(stage)}")
    if stage.is_out_of_money:
        if limit is None:
            raise Misuse(f"debate {id} stands still for want of money; {next_step(stage)}")
        return lambda: debates.raise_limit(id, limit)
    if stage.state == "error" and not stage.can_retry:
        raise Misuse(f"debate {id} failed for good: {(stage.error or {}).get('message')}; {next_step(stage)}")

    async def begin() -> None:
        if stage.status == "pending":
            await debates.start(id)
        if limit is not None:
            await debates.raise_limit(id, limit)
        if stage.is_resting:
            await (debates.retry(id) if stage.state == "error" else debates.resume(id))

    # What a lost process left running is settled by the runtime; then it is resumed.
    moderator.resumes_lost = stage.status == "running"
    return begin
