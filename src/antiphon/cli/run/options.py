"""Options of `antiphon run`, and the task, specification and plan they describe."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from antiphon.agents.plans import BadPlan, load_plan
from antiphon.cli.config.settings import load_config
from antiphon.cli.default_model import ModelChoice, choose_model, resolve_model
from antiphon.cli.frame import UsageError, print_note
from antiphon.cli.input.typed_text import REPLACED, read_piped, replace_unreadable
from antiphon.cli.options import ID_HELP, add_json, add_server, add_store, positive_int, positive_number
from antiphon.cli.render.plain import PlainView
from antiphon.cli.render.text_width import sanitize_line
from antiphon.cli.run.agents import FOLDER
from antiphon.cli.run.folder import RunFolder, stored_servers
from antiphon.cli.run.spec import GRACE_MS, RULES, RunSpec, models_by_place, run_models, stored_workspace
from antiphon.threads import MODES

FOR_NEW = (
    "model",
    "fallback",
    "arbiter",
    "agents",
    "mcp",
    "max_iterations",
    "max_failures",
    "max_cost",
    "max_time",
    "plan",
    "dry_run",
    "workspace",
)
# Settings that an imported or restored run does not bring along.
FOR_FOREIGN = ("workspace", "mcp", "model", "fallback")
# Options of this machine, which a server elsewhere does not take.
LOCAL = ("store", "workspace", "mcp")
MOST_TASK = 100_000
SCRIPT = "scripted:agents"  # the fallback where no model is usable
EXAMPLES = f"""examples:
  antiphon run "Write greet.py with tests"          work in this folder; ask before changes
  antiphon run -m scripted:agents "Write greet.py"  try it without a key or a model
  antiphon run --mode auto-edit --max-cost 0.50 "Fix the failing test"
  antiphon run --dry-run "Split app.py in two"      print only the plan, as JSON
  antiphon run --resume last                        continue after a crash
  cat task.md | antiphon run --json --mode auto     use it from a program

exit codes: 0 task done, 1 task not done, 2 wrong usage, 130 cancelled.
Agents are files in {FOLDER} of the workspace; create them with: antiphon agents init
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("task", metavar="TASK", nargs="*", help="the task; piped input is appended")
    add("-m", "--model", metavar="MODEL", help="model of the arbiter, and of agents that name none")
    add("--fallback", action="append", metavar="MODEL", help="model to ask if another fails; repeat it for more")
    add("--arbiter", metavar="rules|MODEL", help="what selects the next agent: rules, or another model")
    add(
        "--agents",
        type=Path,
        metavar="DIR",
        help=f"folder of agents (default: {FOLDER} of the workspace, if it exists)",
    )
    add("--workspace", type=Path, metavar="DIR", help="folder to which agents are confined (default: .)")
    add("--mode", choices=MODES, help="what tools may do without permission (default: ask)")
    add("--mcp", type=Path, metavar="FILE", help="also offer the tools of the MCP servers in a TOML file")
    add("--max-iterations", type=positive_int, metavar="N", help="maximum turns of agents (default: 50)")
    add("--max-failures", type=positive_int, metavar="N", help="maximum failures in a row (default: 3)")
    add("--max-cost", type=positive_number, metavar="USD", help="maximum cost")
    add("--max-time", type=positive_number, metavar="SECONDS", help="maximum duration")
    add("--plan", type=Path, metavar="FILE", help="start with the plan in a JSON file, as printed by --dry-run")
    add("--dry-run", action="store_true", help="print only the plan, as JSON; exits with 1 if the plan is uncertain")
    add("--resume", metavar="ID", help=f"continue an interrupted run: {ID_HELP}")
    add("-q", "--quiet", action="store_true", help="print only the result")
    add_json(parser, "print each activity as a JSON object, and the result as the last one")
    add_store(parser)
    add_server(parser)


def run_task(options: argparse.Namespace) -> str:
    """Return the task from the arguments and from piped input."""
    texts = [" ".join(options.task)] if options.task else []
    if not sys.stdin.isatty():
        texts += [text] if (text := read_piped(MOST_TASK + 1).strip()) else []
    words = "\n\n".join(texts).strip()
    task = replace_unreadable(words)
    if task != words:
        print_note(REPLACED)
    if len(task) > MOST_TASK:
        raise UsageError(f"the task is longer than {MOST_TASK:,} characters; put it into a file in the workspace")
    if not task:
        raise UsageError(
            'no task; pass one as in: antiphon run "TASK", pipe one in, or continue a run with --resume ID'
        )
    return task


def run_spec(options: argparse.Namespace) -> RunSpec:
    """Return the specification of a new run; `UsageError` if its agents or its workspace are invalid."""
    workspace = (options.workspace or Path()).resolve()
    if not workspace.is_dir():
        raise UsageError(f"{options.workspace}: no such folder")
    folder = RunFolder.read(workspace, options, options.agents, options.mcp)
    team = folder.team()
    if not options.quiet and not options.json:
        for warning in team.warnings:
            PlainView(sys.stderr).line(f"{folder.agents}/{warning.file}:{warning.line}: warning: {warning.message}")
    mcp = options.mcp.resolve() if options.mcp is not None else None
    choice = choose_model(options.model, last_resort=SCRIPT, command="run")
    places = {"workspace": str(workspace), **({} if mcp is None else {"mcp": str(mcp)})}
    return RunSpec(team.agents, {**run_settings(options, choice), **places}, workspace, folder.servers(), choice)


def run_settings(options: argparse.Namespace, choice: ModelChoice) -> dict[str, Any]:
    """Return the settings of a new run."""
    config = load_config()
    settings = {
        "model": choice.reference,
        "fallback": [resolve_model(name) for name in options.fallback or ()] or None,
        "arbiter": _arbiter(options.arbiter),
        "consent": {"mode": "plan" if options.dry_run else options.mode or config.get("run", "mode") or "ask"},
        "maxIterations": options.max_iterations,
        "maxFailures": options.max_failures,
        "maxCostUsd": options.max_cost or config.get("run", "max-cost"),
        "maxWallMs": round(options.max_time * 1000) if options.max_time is not None else None,
        "graceMs": GRACE_MS,
    }
    return {key: value for key, value in settings.items() if value is not None}


def stored_spec(options: argparse.Namespace, config: Mapping[str, Any]) -> RunSpec:
    """Return the specification of a run from its stored settings; its MCP servers are those of today."""
    if options.server is not None:
        return RunSpec(config["agents"], config, None)
    workspace = stored_workspace(config)
    mcp = Path(config["mcp"]) if config.get("mcp") else None
    return RunSpec(config["agents"], config, workspace, stored_servers(workspace, options, mcp))


def foreign_spec(options: argparse.Namespace, config: Mapping[str, Any]) -> RunSpec:
    """Return the specification of an imported or restored run: its folder and MCP servers are those of the options."""
    if options.workspace is None:
        stored = sanitize_line(str(config.get("workspace")))
        raise UsageError(
            f"this run was imported or restored, and its folder ({stored}) is not taken from a file; "
            "name the one to work in with --workspace DIR, and MCP servers with --mcp FILE"
        )
    workspace = options.workspace.resolve()
    if not workspace.is_dir():
        raise UsageError(f"{options.workspace}: no such folder")
    spec = RunSpec(config["agents"], config, workspace, stored_servers(workspace, options, options.mcp))
    named = {resolve_model(name) for name in (options.model, *(options.fallback or ())) if name is not None}
    unknown = sorted(named - set(run_models(spec)))
    if unknown:
        raise UsageError(f"this run does not use the model {unknown[0]}; start a new run to use it")
    for reference in models_by_place(spec):
        if reference not in named:
            raise UsageError(
                "this run was imported or restored, and a model by address or file is not taken from a file; "
                f"if you trust this one, name it with --model {sanitize_line(reference)}, others with --fallback"
            )
    return spec


def _arbiter(name: str | None) -> dict[str, str]:
    if name is None:
        return {}
    return {"kind": RULES} if name == RULES else {"model": resolve_model(name)}


def run_plan(options: argparse.Namespace, spec: RunSpec) -> Mapping[str, Any] | None:
    """Load the plan of `--plan`, if given."""
    try:
        return load_plan(options.plan, list(spec.agents)) if options.plan is not None else None
    except BadPlan as error:
        raise UsageError(str(error)) from error
