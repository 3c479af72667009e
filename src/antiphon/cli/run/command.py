"""The command `antiphon run`: agents at work on a task, in a folder, until it is done."""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from antiphon.cli.agents import problem_lines
from antiphon.cli.background_app import Misuse, Serving
from antiphon.cli.chat.terminal import Problem, told
from antiphon.cli.db import default_store
from antiphon.cli.default_model import choose
from antiphon.cli.interruptible import Patience, Quit
from antiphon.cli.lookup import Ambiguous
from antiphon.cli.loop import Background
from antiphon.cli.readline_sigint import heard
from antiphon.cli.render.plain import PlainView, write
from antiphon.cli.run.agents import FOLDER, default_team, team_in
from antiphon.cli.run.environment import GRACE_MS, RULES, Order, kept_order, plan_in, workbench
from antiphon.cli.run.flow import Begin, GoOn, attended, dry_run, lost_run, prepared
from antiphon.cli.run.output import CANCELLED, MISUSED, NOT_REACHED, Stage, leave
from antiphon.providers.errors import Code, ProviderError
from antiphon.threads.machine.permission_rules import MODES
from antiphon.threads.service_errors import ServiceError
from antiphon.tools.errors import ToolsError

FOR_NEW = (
    "model",
    "arbiter",
    "agents",
    "mode",
    "mcp",
    "max_iterations",
    "max_failures",
    "max_cost",
    "max_time",
    "plan",
)
MOST_TASK = 100_000
SCRIPT = "scripted:agents"  # where no model can be used
EXAMPLES = f"""examples:
  antiphon run "Write greet.py with tests"          in this folder, asking before anything is changed
  antiphon run -m scripted:agents "Write greet.py"  without a key and without a model
  antiphon run --mode auto-edit --max-cost 0.50 "Fix the failing test"
  antiphon run --dry-run "Split app.py in two"      only the plan, as JSON
  antiphon run --resume last                        go on after a crash
  cat task.md | antiphon run --json --mode auto     for programs

exit codes: 0 the task is done, 1 it is not, 2 called wrongly, 130 cancelled.
Agents are files in {FOLDER} of the workspace; antiphon agents init writes some.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code: 0 done, 1 not reached, 2 called wrongly, 130 cancelled."""
    options = parser().parse_args(argv)
    options.store = options.store or default_store()
    try:
        if options.resume is not None:
            return _resume(options)
        task = _task(options)
        order = _order(options)
        plan = plan_in(options.plan, order.agents) if options.plan is not None else None
        return dry_run(options, order, task) if options.dry_run else _run(options, order, Begin(task, plan))
    except (Misuse, Ambiguous, ToolsError) as error:
        return _complain(str(error), MISUSED)
    except ServiceError as error:
        return _complain("the agents cannot be used:\n" + "\n".join(problem_lines(_folder(options), error)), MISUSED)
    except ProviderError as error:
        is_misuse = error.code in (Code.BAD_REQUEST, Code.NOT_FOUND)
        return _complain(error.message, MISUSED if is_misuse else NOT_REACHED)
    except Problem as error:
        return _complain(told(error), NOT_REACHED)
    except KeyboardInterrupt:
        return _complain("interrupted; antiphon run --resume last goes on with what was begun", CANCELLED)
    except BrokenPipeError:
        # Nobody reads our output any more, and the task is not done; the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_REACHED


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    result = argparse.ArgumentParser(
        prog="antiphon run",
        description="Let agents work on a TASK in a folder: an arbiter says who works next, until it is done.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = result.add_argument
    add("task", metavar="TASK", nargs="*", help="what is to be done; what is piped in comes after it")
    add("-m", "--model", metavar="MODEL", help="who answers for agents without a model of their own, and decides")
    add("--arbiter", metavar="rules|MODEL", help="who says who works next: rules, or another model")
    add("--agents", type=Path, metavar="DIR", help=f"the agents (default: {FOLDER} of the workspace, if it is there)")
    add("--workspace", type=Path, metavar="DIR", help="the folder that agents work in, and never leave (default: .)")
    add("--mode", choices=MODES, help="what tools may do unasked (default: ask)")
    add("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file, too")
    add("--max-iterations", type=_count, metavar="N", help="how many turns agents may take (default: 50)")
    add("--max-failures", type=_count, metavar="N", help="how many failures in a row end it (default: 3)")
    add("--max-cost", type=_amount, metavar="USD", help="what it may cost")
    add("--max-time", type=_amount, metavar="SECONDS", help="how long it may take")
    add("--plan", type=Path, metavar="FILE", help="begin with the plan of a JSON file, as --dry-run prints it")
    add("--dry-run", action="store_true", help="only print the plan as JSON; ends with 1 if it is not to be relied on")
    add("--resume", metavar="ID", help="go on with a run that was lost; the start of its id is enough, or: last")
    add("-q", "--quiet", action="store_true", help="only the result")
    add("--json", action="store_true", help="a JSON object for everything that happens; the last is the result")
    add("--store", type=Path, metavar="FILE", help=f"where it is kept (default: {default_store()})")
    return result


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


def _amount(text: str) -> float:
    with suppress(ValueError):
        if 0 < (found := float(text)) < float("inf"):
            return found
    raise argparse.ArgumentTypeError(f"it must be a number above 0, not {text!r}")


def _task(options: argparse.Namespace) -> str:
    given = [" ".join(options.task)] if options.task else []
    if not sys.stdin.isatty():
        try:
            given += [text] if (text := sys.stdin.read(MOST_TASK + 1).strip()) else []
        except UnicodeDecodeError as error:
            raise Misuse("what is piped in is no text") from error
    task = "\n\n".join(given).encode(errors="replace").decode().strip()
    if len(task) > MOST_TASK:
        raise Misuse(f"the task has more than {MOST_TASK:,} characters; put it into a file that agents can read")
    if not task:
        raise Misuse('there is no task: antiphon run "what is to be done", or pipe it in; --resume ID goes on')
    return task


def _folder(options: argparse.Namespace) -> Path:
    found: Path = options.agents or (options.workspace or Path()) / FOLDER
    return found


def _order(options: argparse.Namespace) -> Order:
    workspace = (options.workspace or Path()).resolve()
    if not workspace.is_dir():
        raise Misuse(f"{options.workspace}: there is no such folder to work in")
    folder = _folder(options)
    found = team_in(folder) if options.agents is not None or folder.is_dir() else default_team()
    if not options.quiet and not options.json:
        for warning in found.warnings:
            write(sys.stderr, f"{folder}/{warning.file}:{warning.line}: warning: {warning.message}\n")
    mcp = options.mcp.resolve() if options.mcp is not None else None
    choice = choose(options.model, last_resort=SCRIPT)
    settings = {
        "model": choice.reference,
        "arbiter": _arbiter(options.arbiter),
        "consent": {"mode": "plan" if options.dry_run else options.mode or "ask"},
        "maxIterations": options.max_iterations,
        "maxFailures": options.max_failures,
        "maxCostUsd": options.max_cost,
        "maxWallMs": round(options.max_time * 1000) if options.max_time is not None else None,
        "graceMs": GRACE_MS,
        "workspace": str(workspace),
        "mcp": str(mcp) if mcp is not None else None,
    }
    known = {key: value for key, value in settings.items() if value is not None}
    return Order(found.agents, known, workspace, mcp, choice)


def _arbiter(named: str | None) -> dict[str, str]:
    if named is None:
        return {}
    return {"kind": RULES} if named == RULES else {"model": named}


def _resume(options: argparse.Namespace) -> int:
    given = [f"--{name.replace('_', '-')}" for name in FOR_NEW if getattr(options, name) is not None]
    given += ["TASK"] if options.task else []
    given += ["--dry-run"] if options.dry_run else []
    given += ["--workspace"] if options.workspace is not None else []
    if given:
        raise Misuse(f"--resume goes on with everything as it was: leave out {', '.join(given)}")
    found = lost_run(options.store, options.resume)
    return _run(options, kept_order(found.config), GoOn(found.id))


def _run(options: argparse.Namespace, order: Order, start: Begin | GoOn) -> int:
    stage = Stage.of(options)
    # The first Ctrl-C cancels the run, and any further one leaves.
    with Background() as background, Serving(background, workbench(options.store, order)) as bench:
        work = background.call(prepared(bench, order, start, stage))
        stage.greet(work.id, order, bench.problems)
        patience = Patience(background, work.cancel, twice_s=float("inf"))
        try:
            with heard(stage.prompt):
                status = attended(work, start, patience, stage.answerer)
            result = background.call(work.outcome())
        except Quit:
            leave(stage, work.id)
        return stage.end(work.id, status, result)


def _complain(problem: str, code: int) -> int:
    PlainView(sys.stderr).line(f"antiphon run: {problem}")
    return code
