"""The command `antiphon`: one parser, and commands that are loaded when they are called."""

import argparse
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import import_module

from antiphon import __version__
from antiphon.cli.frame import Command, command_name, run_command

# Each command with its module, which has a `COMMAND`, and what it is for.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "chat": ("antiphon.cli.chat.command", "talk with a model; forks, rewinds, merges and keeps everything"),
    "run": ("antiphon.cli.run.command", "let agents work on a task in a folder, until it is done"),
    "runs": ("antiphon.cli.runs", "list, show and export what agents did"),
    "agents": ("antiphon.cli.agents", "write, list and check the agents that work in runs"),
    "debate": ("antiphon.cli.debate.command", "let models debate a topic in rounds, and a judge decide"),
    "debates": ("antiphon.cli.debates", "list, show and export debates"),
    "threads": ("antiphon.cli.threads", "list, show, search, export, import, archive and delete conversations"),
    "models": ("antiphon.cli.models", "list the models that can be used here, install the embedded one"),
    "db": ("antiphon.cli.db", "look after the file that holds everything"),
    "play": ("antiphon.cli.play.command", "play a chart: a demonstration, or one of yours"),
}
EXAMPLES = """examples:
  antiphon chat                          talk with the best model that can be used here
  antiphon chat -m scripted:chat         without a key and without a model
  antiphon chat -c                       go on with the last conversation
  git diff | antiphon chat "Review this"  one question, the answer on the standard output
  antiphon run "Fix the failing test"     agents at work in this folder, asking before they change it
  antiphon debate "Should cars leave our city?" two sides, rounds, a judge and a budget
  antiphon threads list                  what was talked about
  antiphon play --chart door.json        a chart, by events you type
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words[0] if words else ""
    if name not in COMMANDS:
        parser = root_parser()
        parser.parse_args(words or ["--help"])
        return 0
    command: Command = import_module(COMMANDS[name][0]).COMMAND
    if command.default is not None and (len(words) == 1 or _is_option(words[1])):
        words.insert(1, command.default)
    options, unknown = root_parser(name).parse_known_args(words)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return run_command(name, command, options)


def _is_option(word: str) -> bool:
    return word.startswith("-") and word not in ("-h", "--help")


def _wrap(text: str) -> str:
    # The formatter keeps lines as they are, for the examples below the options.
    return textwrap.fill(text, shutil.get_terminal_size().columns - 2)


def root_parser(name: str | None = None) -> argparse.ArgumentParser:
    """The parser of `antiphon`, with the options of one command; the others are only named."""
    parser = argparse.ArgumentParser(
        prog=command_name(),
        description="LLM conversations as statecharts.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"antiphon {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for each, (module, about) in COMMANDS.items():
        command = import_module(module).COMMAND if each == name else None
        added = commands.add_parser(
            each,
            help=about,
            description=_wrap(command.description if command else about),
            epilog=command.epilog if command else None,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command is not None:
            added.set_defaults(parser=added)
            command.add_options(added)
    return parser
