"""Start of a new debate, or continuation of a stored one."""

import argparse
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from antiphon.cli.debate.controller import RAISE_LIMIT, DebateController
from antiphon.cli.debate.environment import debate_models
from antiphon.cli.debate.plain_view import DebateOutput, next_step
from antiphon.cli.debate.state import DebateState
from antiphon.cli.foreign_models import allow_models
from antiphon.cli.frame import UsageError
from antiphon.cli.lookup import find_thread
from antiphon.cli.options import used_flags
from antiphon.cli.windows.access import open_records
from antiphon.cli.windows.types import AnyThreads, Window, as_client
from antiphon.threads.library import Library

StartDebate = Callable[[], Awaitable[object]]
DEBATE = "debate"


@dataclass(frozen=True, slots=True)
class StoredDebate:
    """A stored debate, whose models are not believed if it was imported or restored."""

    id: str
    is_from_file: bool


async def find_debate(options: argparse.Namespace) -> StoredDebate:
    """Find the debate to continue by a prefix of its id, also while a server runs it."""
    async with open_records(options) as library:
        id = await find_thread(library, options.resume, DEBATE)
        # A server elsewhere does not say so, and refuses what a debate from a file may not do.
        return StoredDebate(id, isinstance(library, Library) and await library.is_from_file(id))


async def prepare(
    window: Window, id: str, output: DebateOutput, options: argparse.Namespace, *, is_from_file: bool
) -> tuple[DebateController, StartDebate, int | str]:
    """Return the controller of a debate, a function that starts or continues it, and the place to show it from."""
    threads = window.threads
    is_resumed = options.resume is not None
    after: int | str
    if is_resumed:
        await _allow_models(window, id, options, is_from_file=is_from_file)
        debate, after = await read_debate_state(window, id)
    else:
        debate = DebateState.of(id, (await window.library.read(id, DEBATE)).content)
        after = 0
    debate.server = options.server
    controller = DebateController(window, debate, output, is_interactive=output.is_drawn and sys.stdin.isatty())
    if is_resumed:
        begin: StartDebate = _continue(threads, controller, options.limit)
    else:
        begin = partial(threads.start, id)
    output.begin(debate, is_resumed=is_resumed)
    return controller, begin, after


async def read_debate_state(window: Window, id: str) -> tuple[DebateState, str]:
    """Return the state of a debate as its journal tells it, and the cursor to follow it from."""
    debate = DebateState.of(id, (await window.library.read(id, DEBATE)).content)
    activities, after = await window.threads.history(id)
    for activity in activities:
        debate.apply(activity)
    return debate, after


def refuse_settings(flags: list[str]) -> None:
    """Raise `UsageError` if options are used that a resumed debate does not take."""
    if flags:
        raise UsageError(f"--resume keeps the original settings except --limit; remove {', '.join(flags)}")


async def _allow_models(window: Window, id: str, options: argparse.Namespace, *, is_from_file: bool) -> None:
    client = as_client(window)
    if client is not None:
        await client.join(id)
    if not is_from_file:
        refuse_settings(used_flags(options, ("model",)))
        return
    models = debate_models((await window.library.read(id, DEBATE)).content)
    await allow_models(window.threads, id, models, options.model or ())


def _continue(threads: AnyThreads, controller: DebateController, limit: float | None) -> StartDebate:
    """Return a function that continues a debate; `UsageError` if it cannot be continued."""
    debate = controller.debate
    id = debate.id
    if debate.is_over:
        raise UsageError(f"debate {id} has ended; {next_step(debate)}")
    if debate.is_at_cost_limit:
        if limit is None:
            raise UsageError(f"debate {id} has reached its cost limit; {next_step(debate)}")
        return lambda: threads.perform(id, RAISE_LIMIT, costLimit=limit)
    if debate.state == "error" and not debate.can_retry:
        raise UsageError(
            f"debate {id} failed and cannot be retried: {(debate.error or {}).get('message')}; {next_step(debate)}"
        )

    async def begin() -> None:
        if debate.status == "pending":
            await threads.start(id)
        if limit is not None:
            await threads.perform(id, RAISE_LIMIT, costLimit=limit)
        if debate.is_resting:
            await (threads.retry(id) if debate.state == "error" else threads.resume(id))

    # The runtime first settles what a lost process left running; then the debate is resumed.
    controller.resumes_interrupted = debate.status == "running"
    return begin
