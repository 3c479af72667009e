"""Completion of a command line: the words that may stand in place of the last one.

Only the parser of the command that is typed is loaded, and values such as ids are looked up when one is asked for.
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from antiphon.cli.help.parsers import abouts, command_of, parser_of, subparsers
from antiphon.cli.help.values import values_of
from antiphon.cli.main import COMMANDS

FILES = ":files"  # the answer that leaves the word to the shell, which completes names of files
FILE_NAMES = ("FILE", "DIR", "PATH", "FOLDER", "SCHEMA", "CHART")
HELP = "help"
COUNTS = {None: 1, "?": 1, "+": 1, "*": 1}


class Candidate(NamedTuple):
    """A word that may be typed, and its explanation."""

    word: str
    about: str = ""


class _Place:
    """Place of the last word in a command line: its parser, and the argument that it would be a value of."""

    def __init__(self, command: str) -> None:
        self.path = [command]
        self.parser = parser_of(command)
        self.option: argparse.Action | None = None
        self.values = 0  # of the option, so far
        self.previous = ""  # the word before
        self.arguments = 0  # without options, so far

    def take(self, word: str) -> None:
        """Go on behind a word."""
        self.previous = word
        if self.option is not None:
            self.values += 1
            if self.values >= _count(self.option):
                self.option = None
        elif word.startswith("-"):
            option = self.parser._option_string_actions.get(word)
            self.values = 0
            self.option = option if option is not None and _count(option) else None
        elif word in subparsers(self.parser) and not self.arguments:
            self.parser = subparsers(self.parser)[word]
            self.path.append(word)
        else:
            self.arguments += 1

    @property
    def argument(self) -> argparse.Action | None:
        """The argument without option whose value comes next."""
        arguments = [
            action for action in self.parser._actions if not action.option_strings and not _is_commands(action)
        ]
        if self.arguments < len(arguments):
            return arguments[self.arguments]
        is_repeated = bool(arguments) and arguments[-1].nargs in ("*", "+")
        return arguments[-1] if is_repeated else None


def complete(words: list[str]) -> list[Candidate] | None:
    """Return what the last word may become; None if it is the name of a file."""
    *before, current = words or [""]
    if not before:
        return _filter_words(current, [*_commands(), *_options_of_root()])
    if before[0] == HELP:
        return _filter_words(current, _help_topics(before[1:]))
    if before[0] not in COMMANDS:
        return []
    place = _Place(before[0])
    for word in before[1:]:
        place.take(word)
    if place.option is not None:
        return _values(current, place, place.option)
    if current.startswith("--") and "=" in current:
        flag, _, value = current.partition("=")
        option = place.parser._option_string_actions.get(flag)
        values = None if option is None else _values(value, place, option)
        return values and [candidate._replace(word=f"{flag}={candidate.word}") for candidate in values]
    if current.startswith("-"):
        return _filter_words(current, _options(place))
    if subparsers(place.parser) and not place.arguments:
        return _filter_words(current, [Candidate(*item) for item in abouts(place.parser).items()])
    return [] if place.argument is None else _values(current, place, place.argument)


def _commands() -> list[Candidate]:
    return [Candidate(name, about) for name, (_, about) in COMMANDS.items()]


def _options_of_root() -> list[Candidate]:
    return [Candidate("--help", "show the commands"), Candidate("--version", "show the version")]


def _help_topics(path: list[str]) -> list[Candidate]:
    if not path:
        return _commands()
    if len(path) > 1 or path[0] not in COMMANDS:
        return []
    return [Candidate(*item) for item in abouts(parser_of(path[0])).items()]


def _options(place: _Place) -> Iterator[Candidate]:
    """Iterate over the long options of a command, and of the subcommand that runs when none is named."""
    parsers = [place.parser]
    default = command_of(place.path[0]).default
    if len(place.path) == 1 and default is not None:
        parsers.append(subparsers(place.parser)[default])
    for parser in parsers:
        for action in parser._actions:
            long = [name for name in action.option_strings if name.startswith("--")]
            yield from (Candidate(name, action.help or "") for name in long or action.option_strings)


def _values(current: str, place: _Place, action: argparse.Action) -> list[Candidate] | None:
    if action.choices is not None:
        return _filter_words(current, [Candidate(str(choice)) for choice in action.choices])
    name = _value_name(place, action)
    if action.type is Path or name in FILE_NAMES:
        return None
    values = values_of(place.path, action.dest, name, place.previous)
    return _filter_words(current, [Candidate(*value) for value in values])


def _value_name(place: _Place, action: argparse.Action) -> str:
    """Return the name of a value in help texts."""
    names = action.metavar
    return names[min(place.values, len(names) - 1)] if isinstance(names, tuple) else names or ""


def _count(action: argparse.Action) -> int:
    """Return how many values an option takes."""
    return action.nargs if isinstance(action.nargs, int) else COUNTS.get(action.nargs, 0)


def _is_commands(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)


def _filter_words(current: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    unique = {candidate.word: candidate for candidate in candidates if candidate.word.startswith(current)}
    return [*unique.values()]
