"""The command `antiphon run`: agents at work on a task, in a folder, until it is done."""

import argparse
from pathlib import Path

from antiphon.cli.frame import Command, Misuse
from antiphon.cli.interruptible import Patience, Quit
from antiphon.cli.loop import Background, OpenOnLoop
from antiphon.cli.options import given_flags, store_file
from antiphon.cli.readline_sigint import heard
from antiphon.cli.run.environment import RunSpec, open_environment, stored_spec
from antiphon.cli.run.flow import Begin, GoOn, attend, dry_run, lost_run, open_run
from antiphon.cli.run.options import EXAMPLES, FOR_NEW, add_options, run_plan, run_spec, run_task
from antiphon.cli.run.output import RunOutput, leave


def run(options: argparse.Namespace) -> int:
    """Begin a run, resume one, or only plan."""
    if options.resume is not None:
        return _resume(options)
    task = run_task(options)
    spec = run_spec(options)
    plan = run_plan(options, spec)
    store = store_file(options)
    return dry_run(options, store, spec, task) if options.dry_run else _run(options, store, spec, Begin(task, plan))


def _resume(options: argparse.Namespace) -> int:
    flags = [*given_flags(options, FOR_NEW), *(["TASK"] if options.task else [])]
    if flags:
        raise Misuse(f"--resume keeps the original settings; remove {', '.join(flags)}")
    store = store_file(options)
    lost = lost_run(store, options.resume)
    return _run(options, store, stored_spec(lost.config), GoOn(lost.id))


def _run(options: argparse.Namespace, store: Path, spec: RunSpec, start: Begin | GoOn) -> int:
    output = RunOutput.of(options)
    # The first Ctrl-C cancels the run, and any further one leaves.
    with Background() as background, OpenOnLoop(background, open_environment(store, spec)) as environment:
        client = background.call(open_run(environment, spec, start, output))
        output.greet(client.id, spec, environment.problems)
        patience = Patience(background, client.cancel, twice_s=float("inf"))
        try:
            with heard(output.prompt):
                status = attend(client, start, patience, output.answerer)
            result = background.call(client.outcome())
        except Quit:
            leave(output, client.id)
        return output.end(client.id, status, result)


COMMAND = Command(
    "Let agents work on a TASK in a folder: an arbiter says who works next, until it is done.",
    add_options,
    run,
    EXAMPLES,
    interrupted="interrupted; antiphon run --resume last goes on with what was begun",
    works=True,
)
