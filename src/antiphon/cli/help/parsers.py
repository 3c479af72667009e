"""The parsers of commands and subcommands, looked at."""

import argparse
from collections.abc import Mapping
from importlib import import_module

from antiphon.cli.frame import CliCommand
from antiphon.cli.main import COMMANDS, root_parser


def command_of(name: str) -> CliCommand:
    """Return a command by its name."""
    command: CliCommand = import_module(COMMANDS[name][0]).COMMAND
    return command


def parser_of(name: str) -> argparse.ArgumentParser:
    """Return the parser of a command."""
    return subparsers(root_parser(name))[name]


def subparsers(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Return the parsers of the subcommands by name; none if there are no subcommands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def abouts(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the help texts of the subcommands by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return {choice.dest: choice.help or "" for choice in action._choices_actions}
    return {}
