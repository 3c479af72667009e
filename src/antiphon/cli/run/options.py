"""What `antiphon run` is given: a task, a folder, agents and limits, from flags and from what is piped in."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antiphon.agents.errors import BadAgents
from antiphon.agents.plans import BadPlan, load_plan
from antiphon.cli.default_model import choose
from antiphon.cli.frame import Misuse
from antiphon.cli.options import add_json, add_store, amount, count
from antiphon.cli.render.plain import write
from antiphon.cli.run.agents import FOLDER, default_team, problem_lines, team_in
from antiphon.cli.run.environment import GRACE_MS, RULES, RunSpec
from antiphon.threads import MODES

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
    "dry_run",
    "workspace",
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


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("task", metavar="TASK", nargs="*", help="what is to be done; what is piped in comes after it")
    add("-m", "--model", metavar="MODEL", help="who answers for agents without a model of their own, and decides")
    add("--arbiter", metavar="rules|MODEL", help="who says who works next: rules, or another model")
    add("--agents", type=Path, metavar="DIR", help=f"the agents (default: {FOLDER} of the workspace, if it is there)")
    add("--workspace", type=Path, metavar="DIR", help="the folder that agents work in, and never leave (default: .)")
    add("--mode", choices=MODES, help="what tools may do unasked (default: ask)")
    add("--mcp", type=Path, metavar="FILE", help="offer the tools of the MCP servers in a TOML file, too")
    add("--max-iterations", type=count, metavar="N", help="how many turns agents may take (default: 50)")
    add("--max-failures", type=count, metavar="N", help="how many failures in a row end it (default: 3)")
    add("--max-cost", type=amount, metavar="USD", help="what it may cost")
    add("--max-time", type=amount, metavar="SECONDS", help="how long it may take")
    add("--plan", type=Path, metavar="FILE", help="begin with the plan of a JSON file, as --dry-run prints it")
    add("--dry-run", action="store_true", help="only print the plan as JSON; ends with 1 if it is not to be relied on")
    add("--resume", metavar="ID", help="go on with a run that was lost; the start of its id is enough, or: last")
    add("-q", "--quiet", action="store_true", help="only the result")
    add_json(parser, "a JSON object for everything that happens; the last is the result")
    add_store(parser)


def run_task(options: argparse.Namespace) -> str:
    """The task, from the words and from what is piped in."""
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


def run_spec(options: argparse.Namespace) -> RunSpec:
    """What a new run works with; `Misuse` says what is wrong with its agents or its folder."""
    workspace = (options.workspace or Path()).resolve()
    if not workspace.is_dir():
        raise Misuse(f"{options.workspace}: there is no such folder to work in")
    folder = _folder(options)
    try:
        found = team_in(folder) if options.agents is not None or folder.is_dir() else default_team()
    except BadAgents as error:
        raise Misuse("\n".join(["the agents cannot be used:", *problem_lines(folder, error)])) from error
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
    return RunSpec(found.agents, known, workspace, mcp, choice)


def _arbiter(named: str | None) -> dict[str, str]:
    if named is None:
        return {}
    return {"kind": RULES} if named == RULES else {"model": named}


def run_plan(options: argparse.Namespace, spec: RunSpec) -> Mapping[str, Any] | None:
    """The plan of the file that was named, if one was."""
    try:
        return load_plan(options.plan, list(spec.agents)) if options.plan is not None else None
    except BadPlan as error:
        raise Misuse(str(error)) from error
