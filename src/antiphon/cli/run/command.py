"""The command `antiphon run`: agents work on a task in a folder until it is done."""

import argparse
import asyncio
from pathlib import Path

from antiphon.cli.frame import INTERRUPTED, CliCommand, UsageError, print_error
from antiphon.cli.input.opening import open_lines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import InterruptibleWait, WaitAbandoned
from antiphon.cli.options import store_file, used_flags
from antiphon.cli.run.dry_run import dry_run
from antiphon.cli.run.flow import NewRun, ResumedRun, find_resumable_run, mode_in_force, open_run, run_to_end
from antiphon.cli.run.options import (
    EXAMPLES,
    FOR_FOREIGN,
    FOR_NEW,
    LOCAL,
    add_options,
    foreign_spec,
    run_plan,
    run_spec,
    run_task,
    stored_spec,
)
from antiphon.cli.run.output import RunOutput, leave
from antiphon.cli.run.remote import open_run_environment, remote_spec
from antiphon.cli.run.spec import RunSpec
from antiphon.cli.windows.remote import explain_loss, refuse_local_options


def run(options: argparse.Namespace) -> int:
    """Start a run, resume one, or only plan."""
    refuse_local_options(options, LOCAL)
    if options.resume is not None:
        return _resume(options)
    try:
        task = run_task(options)
        # A folder of this machine may have to be trusted first.
        spec = run_spec(options) if options.server is None else remote_spec(options)
        plan = run_plan(options, spec)
    except (KeyboardInterrupt, EOFError):
        return print_error("run", "interrupted; nothing was started", INTERRUPTED)
    store = store_file(options)
    if options.dry_run:
        return dry_run(options, store, spec, task)
    return asyncio.run(_run(options, store, spec, NewRun(task, plan)))


def _resume(options: argparse.Namespace) -> int:
    task = ["TASK"] if options.task else []
    if task or used_flags(options, [name for name in FOR_NEW if name not in FOR_FOREIGN]):
        _refuse([*used_flags(options, FOR_NEW), *task])
    stored = find_resumable_run(options, store_file(options))
    if stored.is_from_file:
        # What reaches this machine is named by a person, not by a file.
        spec = foreign_spec(options, stored.config)
    else:
        _refuse(used_flags(options, FOR_FOREIGN))
        spec = stored_spec(options, stored.config)
    return asyncio.run(
        _run(options, store_file(options), spec, ResumedRun(stored.id, options.mode, stored.is_from_file))
    )


def _refuse(flags: list[str]) -> None:
    if flags:
        raise UsageError(f"--resume keeps the original settings; remove {', '.join(flags)}")


async def _run(options: argparse.Namespace, store: Path, spec: RunSpec, start: NewRun | ResumedRun) -> int:
    output = RunOutput.of(options)
    async with open_run_environment(options, store, spec) as environment:
        client = await open_run(environment, spec, start, output)
        mode = mode_in_force(spec, start)
        output.greet(client.id, spec, mode, environment.problems, environment.undo_problem(mode))
        # The first Ctrl-C cancels the run, any other leaves at once.
        try:
            with explain_loss(options, f"run --resume {client.id}"):
                with Signals() as signals, open_lines(signals, is_plain=output.is_plain) as lines:
                    interruptible = InterruptibleWait(signals, lines, client.cancel)
                    status = await run_to_end(client, start, interruptible, output.answerer(lines))
                result = await client.outcome()
        except WaitAbandoned:
            leave(output, client.id)
        return output.end(client.id, status, result)


COMMAND = CliCommand(
    "Let agents work on a TASK in a folder until it is done; an arbiter selects the next agent.",
    add_options,
    run,
    EXAMPLES,
    interrupted="interrupted; continue with: antiphon run --resume last",
    works=True,
)
