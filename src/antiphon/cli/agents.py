"""The command `antiphon agents`: write, list and check the agents of a folder."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from antiphon.agents.errors import BadAgents
from antiphon.cli.frame import FAILED, CliCommand, UsageError, print_error, print_lines, print_rows
from antiphon.cli.options import Handler, Subcommands, run_subcommand
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, sanitize_line
from antiphon.cli.render.units import plural
from antiphon.cli.run.agents import FOLDER, default_agent_files, default_team, problem_lines, team_in

MOST_USE = 90
EXAMPLES = f"""examples:
  antiphon agents init                 write the five default agents to {FOLDER}
  antiphon agents list                 list the agents a run would use here
  antiphon agents check                report errors and warnings with file and line
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)

    def add(name: str, handler: Handler, about: str, *, json: bool = False) -> argparse.ArgumentParser:
        sub = commands.add(name, handler, about, json=json)
        sub.add_argument(
            "folder", metavar="DIR", type=Path, nargs="?", help=f"folder of the agents (default: {FOLDER})"
        )
        return sub

    sub = add("init", _init, "write the default agents to a folder, to be edited")
    sub.add_argument("--force", action="store_true", help="overwrite existing files")
    about = "list the agents of a folder, or the default agents if there is none"
    add("list", _list, about, json=True)
    add("check", _check, "report errors and warnings in the agents of a folder; exits with 1 if there are errors")


def run(options: argparse.Namespace) -> int:
    """Run a subcommand; print problems with agents one per line, each with its file and line."""
    try:
        return run_subcommand(options)
    except OSError as error:
        return print_error("agents", f"{error.filename or options.folder}: {error.strerror or error}", FAILED)
    except BadAgents as error:
        for line in problem_lines(options.folder or FOLDER, error):
            write(sys.stderr, sanitize_line(line) + "\n")
        return FAILED


def _init(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    files = default_agent_files()
    existing = [name for name in files if (folder / name).exists()]
    if existing and not options.force:
        raise UsageError(f"{folder}: files exist: {', '.join(existing)}; nothing written; overwrite them with --force")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    print_lines([str(folder / name) for name in files])
    return print_lines(["edit them as needed, then run: antiphon agents check"])


def _list(options: argparse.Namespace) -> int:
    is_default = options.folder is None and not FOLDER.is_dir()
    team = default_team() if is_default else team_in(options.folder or FOLDER)
    if options.json:
        return print_lines([json.dumps(list(team.agents.values()), indent=2)])
    rows = [_row(agent) for agent in team.agents.values()]
    if is_default:
        rows.append(f"these are the default agents; copy them to {FOLDER} with: antiphon agents init")
    return print_rows(rows)


def _check(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    team = team_in(folder)
    lines = [f"{folder}/{warning.file}:{warning.line}: warning: {warning.message}" for warning in team.warnings]
    warnings = f", {plural(len(lines), 'warning')}" if lines else ""
    names = ", ".join(team.agents)
    return print_lines([*lines, f"{plural(len(team.agents), 'usable agent')}{warnings}: {names}"])


def _row(agent: Any) -> str:
    facts = [agent["model"]] if agent.get("model") else []
    facts += ["plans"] if agent.get("plans") else []
    details = f" ({', '.join(facts)})" if facts else ""
    return f"{agent['name']:<12}{clip(sanitize_line(agent['whenToUse']), MOST_USE)}{sanitize_line(details)}"


COMMAND = CliCommand(
    "Write, list and check the agents of runs: files in a folder, one for each agent.",
    add_options,
    run,
    EXAMPLES,
    default="list",
)
