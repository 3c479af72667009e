"""The command `antiphon agents`: the agents of a folder written, listed and checked."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from antiphon.cli.background_app import Misuse
from antiphon.cli.render.plain import write
from antiphon.cli.render.text_width import clip, harmless, harmless_lines
from antiphon.cli.run.agents import FOLDER, default_team, shipped_files, team_in
from antiphon.threads.service_errors import ServiceError

DONE, FAILED, MISUSED = 0, 1, 2
MOST_USE = 90
EXAMPLES = f"""examples:
  antiphon agents init                 write the five that come with the package into {FOLDER}
  antiphon agents list                 who would work here, and when
  antiphon agents check                everything that is wrong or odd, with file and line
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code: 0 done, 1 something is wrong with the agents, 2 called wrongly."""
    options = parser().parse_args(argv)
    try:
        code: int = options.command(options)
    except Misuse as error:
        return _complain(str(error), MISUSED)
    except OSError as error:
        return _complain(f"{error.filename or options.folder}: {error.strerror or error}", FAILED)
    except ServiceError as error:
        return _told_problems(options.folder or FOLDER, error)
    return code


def parser() -> argparse.ArgumentParser:
    """What the command understands."""
    result = argparse.ArgumentParser(
        prog="antiphon agents",
        description="Look after the agents that work in a run: files in a folder, one for each.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = result.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], about: str) -> Any:
        sub = commands.add_parser(name, help=about, description=about)
        sub.set_defaults(command=command)
        sub.add_argument("folder", metavar="DIR", type=Path, nargs="?", help=f"the folder (default: {FOLDER})")
        return sub

    sub = add("init", _init, "write the agents that come with the package into a folder, to be changed")
    sub.add_argument("--force", action="store_true", help="overwrite files that are there")
    sub = add("list", _list, "list the agents of a folder, or those that come with the package if there is none")
    sub.add_argument("--json", action="store_true", help="say it in JSON, all of it")
    add("check", _check, "say what is wrong with the agents of a folder, and what is odd; ends with 1 if any is wrong")
    return result


def _init(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    files = shipped_files()
    there = [name for name in files if (folder / name).exists()]
    if there and not options.force:
        raise Misuse(f"{folder} has {', '.join(there)} already; nothing was written; --force overwrites them")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    _say(str(folder / name) for name in files)
    return _say(["change them as you like; antiphon agents check says whether they can be used"])


def _list(options: argparse.Namespace) -> int:
    is_shipped = options.folder is None and not FOLDER.is_dir()
    found = default_team() if is_shipped else team_in(options.folder or FOLDER)
    if options.json:
        return _say([json.dumps(list(found.agents.values()), indent=2)])
    rows = [_row(agent) for agent in found.agents.values()]
    if is_shipped:
        rows.append(f"these come with the package; antiphon agents init writes them into {FOLDER}")
    return _say(rows)


def _check(options: argparse.Namespace) -> int:
    folder: Path = options.folder or FOLDER
    found = team_in(folder)
    count = len(found.agents)
    lines = [f"{folder}/{warning.file}:{warning.line}: warning: {warning.message}" for warning in found.warnings]
    odd = f", {len(lines)} warning{'' if len(lines) == 1 else 's'}" if lines else ""
    names = ", ".join(found.agents)
    return _say([*lines, f"{count} agent{'' if count == 1 else 's'} can be used{odd}: {names}"])


def problem_lines(folder: Path, error: ServiceError) -> list[str]:
    """Everything that is wrong with some agents, each with its file and line."""
    problems = getattr(error, "problems", ())
    return [f"{folder}/{one.file}:{one.line}: {one.message}" for one in problems] or [str(error)]


def _told_problems(folder: Path, error: ServiceError) -> int:
    for line in problem_lines(folder, error):
        write(sys.stderr, harmless(line) + "\n")
    return FAILED


def _row(agent: Any) -> str:
    facts = [agent["model"]] if agent.get("model") else []
    facts += ["plans"] if agent.get("plans") else []
    said = f" ({', '.join(facts)})" if facts else ""
    return f"{agent['name']:<12}{clip(harmless(agent['whenToUse']), MOST_USE)}{harmless(said)}"


def _say(lines: Iterable[str]) -> int:
    for line in lines:
        write(sys.stdout, harmless_lines(line) + "\n")
    return DONE


def _complain(problem: str, code: int) -> int:
    write(sys.stderr, f"antiphon agents: {harmless(problem)}\n")
    return code
