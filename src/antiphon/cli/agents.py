"""The command `antiphon agents`: the agents of a folder written, listed and checked."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from antiphon.agents.errors import BadAgents
from antiphon.cli.frame import FAILED, Command, Misuse, complain, say
from antiphon.cli.options import Handler, Subcommands, run_subcommand
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, harmless
from antiphon.cli.run.agents import FOLDER, default_team, problem_lines, shipped_files, team_in

MOST_USE = 90
EXAMPLES = f"""examples:
  antiphon agents init                 write the five that come with the package into {FOLDER}
  antiphon agents list                 who would work here, and when
  antiphon agents check                everything that is wrong or odd, with file and line
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)

    def add(name: str, handler: Handler, about: str, *, json: bool = False) -> argparse.ArgumentParser:
        sub = commands.add(name, handler, about, json=json)
        sub.add_argument("folder", metavar="DIR", type=Path, nargs="?", help=f"the folder (default: {FOLDER})")
        return sub

    sub = add("init", _init, "write the agents that come with the package into a folder, to be changed")
    sub.add_argument("--force", action="store_true", help="overwrite files that are there")
    about = "list the agents of a folder, or those that come with the package if there is none"
    add("list", _list, about, json=True)
    add("check", _check, "say what is wrong with the agents of a folder, and what is odd; ends with 1 if any is wrong")


def run(options: argparse.Namespace) -> int:
    """Run a subcommand; problems with agents are printed one a line, each with its file and line."""
    try:
        return run_subcommand(options)
    except OSError as error:
        return complain("agents", f"{error.filename or options.folder}: {error.strerror or error}", FAILED)
    except BadAgents as error:
        for line in problem_lines(options.folder or FOLDER, error):
            write(sys.stderr, harmless(line) + "\n")
        return FAILED


def _init(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    files = shipped_files()
    there = [name for name in files if (folder / name).exists()]
    if there and not options.force:
        raise Misuse(f"{folder} has {', '.join(there)} already; nothing was written; --force overwrites them")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    say([str(folder / name) for name in files])
    return say(["change them as you like; antiphon agents check says whether they can be used"])


def _list(options: argparse.Namespace) -> int:
    is_shipped = options.folder is None and not FOLDER.is_dir()
    found = default_team() if is_shipped else team_in(options.folder or FOLDER)
    if options.json:
        return say([json.dumps(list(found.agents.values()), indent=2)])
    rows = [_row(agent) for agent in found.agents.values()]
    if is_shipped:
        rows.append(f"these come with the package; antiphon agents init writes them into {FOLDER}")
    return say(rows)


def _check(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    found = team_in(folder)
    count = len(found.agents)
    lines = [f"{folder}/{warning.file}:{warning.line}: warning: {warning.message}" for warning in found.warnings]
    odd = f", {len(lines)} warning{'' if len(lines) == 1 else 's'}" if lines else ""
    names = ", ".join(found.agents)
    return say([*lines, f"{count} agent{'' if count == 1 else 's'} can be used{odd}: {names}"])


def _row(agent: Any) -> str:
    facts = [agent["model"]] if agent.get("model") else []
    facts += ["plans"] if agent.get("plans") else []
    said = f" ({', '.join(facts)})" if facts else ""
    return f"{agent['name']:<12}{clip(harmless(agent['whenToUse']), MOST_USE)}{harmless(said)}"


COMMAND = Command(
    "Look after the agents that work in a run: files in a folder, one for each.", add_options, run, EXAMPLES
)
