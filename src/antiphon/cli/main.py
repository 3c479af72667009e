"""The command `antiphon`: one parser, and commands that are imported when they are called."""

import argparse
import difflib
import gc
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib import import_module

from antiphon import __version__
from antiphon.cli.frame import (
    BAD_USAGE,
    DONE,
    CliCommand,
    command_name,
    end_on_signals,
    guard,
    open_missing_streams,
    print_error,
    run_command,
)
from antiphon.cli.help.command_parser import NARROWEST, CommandParser
from antiphon.cli.render.gate import install_gates

# Each command with the module of its `COMMAND`, and its help text.
COMMANDS: Mapping[str, tuple[str, str]] = {
    "chat": ("antiphon.cli.chat.command", "chat with a model; fork, rewind and merge conversations"),
    "run": ("antiphon.cli.run.command", "let agents work on a task in a folder until it is done"),
    "runs": ("antiphon.cli.runs", "list, show and export runs of agents"),
    "agents": ("antiphon.cli.agents", "write, list and check agent files"),
    "trust": ("antiphon.cli.trust", "trust what a folder brings: agents, MCP servers, git settings"),
    "debate": ("antiphon.cli.debate.command", "let models debate a topic in rounds, decided by a judge"),
    "debates": ("antiphon.cli.debates", "list, show and export debates"),
    "ps": ("antiphon.cli.ps", "list what runs or waits now, with the command that continues it"),
    "attach": ("antiphon.cli.attach", "watch a chat, a run or a debate that another terminal or a page has started"),
    "resume": ("antiphon.cli.resume", "continue a chat, a run or a debate where it was"),
    "threads": ("antiphon.cli.threads", "list, show, search, export, import, archive and delete conversations"),
    "usage": ("antiphon.cli.usage.command", "show tokens and costs by day, model, kind or thread"),
    "serve": ("antiphon.cli.serve.command", "serve the store over HTTP, for browsers and programs"),
    "mcp": ("antiphon.cli.serve.mcp", "serve the store to MCP clients over standard input and output"),
    "tokens": ("antiphon.cli.serve.tokens", "let users into a server: add, list and revoke tokens, read the audit log"),
    "models": ("antiphon.cli.models", "list usable models, install the embedded model, add models of your own"),
    "config": (
        "antiphon.cli.config.command",
        "show, set and remove your settings: models, aliases, limits",
    ),
    "keys": ("antiphon.cli.config.keys", "set, list and remove API keys of providers and servers"),
    "templates": ("antiphon.cli.config.templates_command", "list, show, edit and remove templates of questions"),
    "help": ("antiphon.cli.help.command", "show a full page on a command"),
    "completion": ("antiphon.cli.help.completion", "print a script that completes commands in bash, zsh or fish"),
    "db": ("antiphon.cli.db.command", "check, back up, export and import the store"),
    "doctor": ("antiphon.cli.doctor", "show what protects this machine from commands, and prove it by trying"),
    "machines": ("antiphon.cli.machines", "list machines and their events, and print events as JSON Schema"),
    "chart": ("antiphon.cli.chart.command", "check and draw charts: pictures, diagrams, tables"),
    "inspect": ("antiphon.cli.inspect", "open a machine of yours in the inspector, in a browser"),
    "play": ("antiphon.cli.play.command", "run a chart interactively: a demo, or your own"),
}
SERVE = "serve"
CHAT = "chat"  # the command of a question without a command
STORE = "--store"  # the option that may stand before a subcommand
EXAMPLES = """examples:
  antiphon chat                           chat with the best model that is usable here
  antiphon chat -m scripted:chat          try it without a key or a model
  antiphon chat -c                        continue the last conversation
  antiphon "What is a monad?"             ask one question, as antiphon chat "What is a monad?" does
  git diff | antiphon chat "Review this"  ask about what is piped in; the answer goes to standard output
  antiphon run "Fix the failing test"     let agents work in this folder; they ask before changes
  antiphon debate "Should cars leave our city?"  hold a debate of two sides with a judge
  antiphon ps                             list what runs or waits now; attach and resume open it
  antiphon threads                        list conversations
  antiphon play --chart door.json         run a chart by typing events
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    open_missing_streams()
    install_gates()
    if arguments is None:  # it is the command of a process
        end_on_signals()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and _is_question(words[0]):
        words.insert(0, CHAT)
    name = words[0] if words and words[0] in COMMANDS else "--help"
    if name == SERVE:
        gc.disable()  # until it listens: what loading creates stays, and a window may be waiting
    try:
        return guard(name, lambda: _main(name, words))
    finally:
        gc.enable()


def _main(name: str, words: list[str]) -> int:
    if name in COMMANDS:
        return dispatch(name, words)
    if words and not words[0].startswith("-"):
        return print_error("", _unknown_command(words[0]), BAD_USAGE)
    root_parser().parse_args(words or [name])
    return DONE


def _is_question(word: str) -> bool:
    """Return whether a first word is a question for a model: no option, and several words in quotes."""
    return not word.startswith("-") and len(word.split()) > 1


def _unknown_command(name: str) -> str:
    matches = difflib.get_close_matches(name, COMMANDS, 1)
    if matches:
        return f"unknown command {name!r}; did you mean: antiphon {matches[0]}? antiphon --help lists all"
    return f'unknown command {name!r}; antiphon --help lists all, antiphon chat "…" asks a question'


def dispatch(name: str, words: list[str]) -> int:
    """Run the command of a name with its words, which begin with the name; return its exit code."""
    command: CliCommand = import_module(COMMANDS[name][0]).COMMAND
    if command.default is not None and _lacks_subcommand(words):
        words.insert(1, command.default)
    options, unknown = root_parser(name).parse_known_args(words)
    if unknown:
        options.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return run_command(name, command, options)


def _lacks_subcommand(words: Sequence[str]) -> bool:
    """Return whether a command is called without a subcommand, before which `--store` may stand."""
    place = 1
    while place < len(words) and words[place].partition("=")[0] == STORE:
        place += 1 if "=" in words[place] else 2
    return place >= len(words) or (words[place].startswith("-") and words[place] not in ("-h", "--help"))


def _wrap(text: str) -> str:
    # The formatter does not wrap, so that the examples keep their lines.
    return textwrap.fill(text, max(NARROWEST, shutil.get_terminal_size().columns - 2))


def root_parser(name: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of `antiphon` with the options of one command; the others are only listed."""
    parser = CommandParser(
        prog=command_name(),
        description="Run LLM conversations as statecharts: chats, agents and debates.",
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
