"""Start of a new debate, or continuation of a stored one."""

import argparse
import sys
from collections.abc import Awaitable, Callable
from functools import partial

from antiphon.cli.debate.controller import DebateController
from antiphon.cli.debate.environment import debate_models
from antiphon.cli.debate.plain_view import DebateOutput, next_step
from antiphon.cli.debate.state import DebateState
from antiphon.cli.foreign_models import allow_models
from antiphon.cli.frame import UsageError
from antiphon.cli.options import used_flags
from antiphon.debate.service import Debates

StartDebate = Callable[[], Awaitable[object]]


async def prepare(
    debates: Debates, id: str, output: DebateOutput, options: argparse.Namespace
) -> tuple[DebateController, StartDebate, int | str]:
    """Return the controller of a debate, a function that starts or continues it, and the place to show it from."""
    debate = DebateState.of(id, await debates.read(id))
    controller = DebateController(debates, debate, output, is_interactive=output.is_drawn and sys.stdin.isatty())
    is_resumed = options.resume is not None
    after: int | str = 0
    if is_resumed:
        await _allow_models(debates, id, options)
        activities, after = await debates.history(id)
        for activity in activities:
            debate.apply(activity)
        begin: StartDebate = _continue(debates, controller, options.limit)
    else:
        begin = partial(debates.start, id)
    output.begin(debate, is_resumed=is_resumed)
    return controller, begin, after


def refuse_settings(flags: list[str]) -> None:
    """Raise `UsageError` if options are used that a resumed debate does not take."""
    if flags:
        raise UsageError(f"--resume keeps the original settings except --limit; remove {', '.join(flags)}")


async def _allow_models(debates: Debates, id: str, options: argparse.Namespace) -> None:
    if not await debates.library.is_from_file(id):
        refuse_settings(used_flags(options, ("model",)))
    await allow_models(debates, id, debate_models(await debates.read(id)), options.model or ())


def _continue(debates: Debates, controller: DebateController, limit: float | None) -> StartDebate:
    """Return a function that continues a debate; `UsageError` if it cannot be continued."""
    debate = controller.debate
    id = debate.id
    if debate.is_over:
        raise UsageError(f"debate {id} has ended; {next_step(debate)}")
    if debate.is_at_cost_limit:
        if limit is None:
            raise UsageError(f"debate {id} has reached its cost limit; {next_step(debate)}")
        return lambda: debates.raise_limit(id, limit)
    if debate.state == "error" and not debate.can_retry:
        raise UsageError(
            f"debate {id} failed and cannot be retried: {(debate.error or {}).get('message')}; {next_step(debate)}"
        )

    async def begin() -> None:
        if debate.status == "pending":
            await debates.start(id)
        if limit is not None:
            await debates.raise_limit(id, limit)
        if debate.is_resting:
            await (debates.retry(id) if debate.state == "error" else debates.resume(id))

    # The runtime first settles what a lost process left running; then the debate is resumed.
    controller.resumes_interrupted = debate.status == "running"
    return begin
