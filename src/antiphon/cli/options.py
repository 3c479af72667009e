"""Options that several commands have in common."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from antiphon.cli.frame import UsageError
from antiphon.paths import store_path

LAST = "last"
ID_HELP = "an id, a prefix of it, or: last"
TREE_HELP = "a tree: its id, or: last"
Handler = Callable[[argparse.Namespace], int]


class Subcommands:
    """The subcommands of a command; `--store` is accepted before and after the subcommand."""

    def __init__(self, parser: argparse.ArgumentParser, *, store: bool = True) -> None:
        self._parents: list[argparse.ArgumentParser] = []
        if store:
            add_store(parser)
            common = argparse.ArgumentParser(add_help=False)
            common.add_argument("--store", type=Path, metavar="FILE", default=argparse.SUPPRESS, help="store file")
            self._parents = [common]
        self._commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(self, name: str, handler: Handler, about: str, *, json: bool = False) -> argparse.ArgumentParser:
        """Add a subcommand and return its parser."""
        description = f"{about[0].upper()}{about[1:]}."
        parser = self._commands.add_parser(name, parents=self._parents, help=about, description=description)
        parser.set_defaults(handler=handler, parser=parser)
        if json:
            add_json(parser)
        return parser


def run_subcommand(options: argparse.Namespace) -> int:
    """Run the selected subcommand."""
    handler: Handler = options.handler
    return handler(options)


def add_store(parser: argparse._ActionsContainer) -> None:
    """Add `--store`."""
    help = f"store file (default: {store_path()})"
    parser.add_argument("--store", type=Path, metavar="FILE", default=None, help=help)


def add_no_server(parser: argparse._ActionsContainer) -> None:
    """Add the option that uses no server."""
    parser.add_argument("--no-server", action="store_true", help="do everything in this process")


def add_server(parser: argparse._ActionsContainer) -> None:
    """Add the options that choose a server."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--server", metavar="URL", help="use the threads of a server; ANTIPHON_TOKEN is its token")
    add_no_server(group)
    parser.add_argument("--token-file", type=Path, metavar="FILE", help="a private file with the token of --server")


def add_json(parser: argparse._ActionsContainer, help: str = "print as JSON") -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help=help)


def store_file(options: argparse.Namespace) -> Path:
    """Return the path of the store, and create its folder."""
    path: Path = options.store or store_path()
    _check_kind(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot create {path}: {error.strerror or error}; choose another file with --store"
        ) from error
    return path


def existing_store(options: argparse.Namespace) -> Path:
    """Return the path of the store; `UsageError` if it does not exist."""
    path: Path = options.store or store_path()
    _check_kind(path)
    if not path.is_file():
        raise UsageError(
            f"{path}: store not found; choose another with --store or ANTIPHON_STORE, or begin with: antiphon chat"
        )
    return path


def _check_kind(path: Path) -> None:
    """Raise `UsageError` for a folder, a device or a pipe."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise UsageError(f"{path} is {kind}, not a store; choose another with --store or ANTIPHON_STORE")


def positive_int(text: str) -> int:
    """Parse a positive integer."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a positive integer, not {text!r}")
    return int(text)


def positive_number(text: str) -> float:
    """Parse a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a positive number, not {text!r}")
    return number


def used_flags(options: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return the flags for those of the named options that were used."""
    return [f"--{name.replace('_', '-')}" for name in names if _is_set(getattr(options, name))]


def _is_set(value: Any) -> bool:
    return value not in (None, False, [])
