"""Options that several commands have in common."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from antiphon.cli.frame import Misuse
from antiphon.paths import store_path

Handler = Callable[[argparse.Namespace], int]


class Subcommands:
    """The subcommands of a command; `--store` may stand before or after the subcommand."""

    def __init__(self, parser: argparse.ArgumentParser, *, store: bool = True) -> None:
        self._parents: list[argparse.ArgumentParser] = []
        if store:
            add_store(parser)
            common = argparse.ArgumentParser(add_help=False)
            common.add_argument(
                "--store", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="the store's file"
            )
            self._parents = [common]
        self._commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(self, name: str, handler: Handler, about: str, *, json: bool = False) -> argparse.ArgumentParser:
        """Add a subcommand and return its parser."""
        parser = self._commands.add_parser(name, parents=self._parents, help=about, description=about)
        parser.set_defaults(handler=handler, parser=parser)
        if json:
            add_json(parser)
        return parser


def run_subcommand(options: argparse.Namespace) -> int:
    """Run the subcommand that was chosen."""
    handler: Handler = options.handler
    return handler(options)


def add_store(parser: argparse.ArgumentParser) -> None:
    """Add `--store`."""
    help = f"the store's file (default: {store_path()})"
    parser.add_argument("--store", type=Path, metavar="FILE", default=None, help=help)


def add_json(parser: argparse.ArgumentParser, help: str = "print JSON") -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=help)


def store_file(options: argparse.Namespace) -> Path:
    """The store's file, in a folder that exists."""
    path: Path = options.store or store_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"{path}: cannot be created: {error.strerror or error}; name another file with --store") from error
    return path


def existing_store(options: argparse.Namespace) -> Path:
    """The store's file; `Misuse` if there is none."""
    path: Path = options.store or store_path()
    if not path.is_file():
        raise Misuse(f"{path}: there is no such file; name the store with --store or ANTIPHON_STORE")
    return path


def count(text: str) -> int:
    """Parse a whole number from 1."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a count is a whole number from 1, not {text!r}")
    return int(text)


def amount(text: str) -> float:
    """Parse a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"it must be a number above 0, not {text!r}")
    return number


def given_flags(options: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    """The flags among some options that were given, as they are typed."""
    return [f"--{name.replace('_', '-')}" for name in names if _is_given(getattr(options, name))]


def _is_given(value: Any) -> bool:
    return value not in (None, False, [])
