"""The command `antiphon keys`: set, list and remove API keys, in a file that only its owner can read."""

import argparse
import getpass
import json
import os
import sys
from urllib.parse import urlsplit

from antiphon.cli.config.files import read_text, write_private
from antiphon.cli.config.toml_edit import NotEditable, set_value, unset_value
from antiphon.cli.frame import DONE, FAILED, CliCommand, UsageError, print_error, print_lines, print_rows
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import OPTIONAL_VARIABLES, VARIABLES, Keys, make_secret, variables_of
from antiphon.providers.plugins import installed_names
from antiphon.settings import suggest

MOST_KEY = 10_000
SHOWN_END = 4
SHORTEST_SHOWN = 20  # of a shorter key, the end would be too much of it
NAME_HELP = f"{', '.join((*VARIABLES, *OPTIONAL_VARIABLES))}, a plug-in, or the base URL of a server"
EXAMPLES = """examples:
  antiphon keys set anthropic                  ask for the key, without showing it
  pass show anthropic | antiphon keys set anthropic   read it from standard input
  antiphon keys set http://127.0.0.1:8000/v1   the key of a server, by its base URL
  antiphon keys list                           list the keys, and where they come from
  antiphon keys remove anthropic               remove a key from the file

A key in the environment wins over that in the file.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    commands.add("list", _list, "list the keys that are set, and where (the default)", json=True)
    about = "store a key, read from a prompt that does not show it, or from standard input"
    commands.add("set", _set, about).add_argument("name", metavar="NAME", help=NAME_HELP)
    sub = commands.add("remove", _remove, "remove a key from the file")
    sub.add_argument("name", metavar="NAME", help="as antiphon keys list shows it")
    commands.add("path", _path, "print the path of the file")


def _list(options: argparse.Namespace) -> int:
    keys = Keys()
    stored = _stored(keys)
    names = [*VARIABLES, *OPTIONAL_VARIABLES]
    rows = [_row(name, stored.get(name), str(keys.path)) for name in (*names, *sorted(set(stored) - set(names)))]
    if options.json:
        return print_lines([json.dumps(rows, indent=2)])
    width = max(len(str(row["name"])) for row in rows)
    return print_rows(
        [f"{row['name']:<{width}}  {row['key'] or '-':<8}  {row['source'] or _hint(row)}" for row in rows]
    )


def _row(name: str, stored: object, path: str) -> dict[str, str | None]:
    """Return the name, the masked key, and the place that the key comes from."""
    for variable in variables_of(name):
        if value := os.environ.get(variable, "").strip():
            return {"name": name, "key": _mask(value), "source": variable}
    if isinstance(stored, str):
        return {"name": name, "key": _mask(stored.strip()), "source": path}
    return {"name": name, "key": None, "source": None}


def _hint(row: dict[str, str | None]) -> str:
    return f"not set; run: antiphon keys set {row['name']}"


def _mask(key: str) -> str:
    return f"…{key[-SHOWN_END:]}" if len(key) >= SHORTEST_SHOWN and key.isascii() else "set"


def _set(options: argparse.Namespace) -> int:
    keys = Keys()
    _check_name(options.name)
    _stored(keys)  # a file that is refused is not replaced
    try:
        secret = make_secret(_read_key(options.name), "the input")
        text = set_value(read_text(keys.path), (options.name,), secret.reveal())
    except ProviderError as error:
        raise UsageError(error.message) from None
    except NotEditable as error:
        raise UsageError(f"{keys.path}: {error}; add the key with an editor") from None
    write_private(keys.path, text)
    variable = next((name for name in variables_of(options.name) if os.environ.get(name, "").strip()), None)
    note = f"; {variable} is set too and wins" if variable else ""
    return print_lines([f"stored in {keys.path}{note}"])


def _read_key(name: str) -> str:
    if sys.stdin.isatty():
        return getpass.getpass(f"Key of {name} (not shown): ").strip()
    return sys.stdin.read(MOST_KEY).strip()


def _remove(options: argparse.Namespace) -> int:
    keys = Keys()
    if options.name not in _stored(keys):
        return print_error("keys", f"{keys.path} has no key of {options.name!r}", FAILED)
    try:
        text = unset_value(read_text(keys.path), (options.name,))
    except NotEditable as error:
        raise UsageError(f"{keys.path}: {error}; remove the key with an editor") from None
    write_private(keys.path, text)
    return DONE


def _path(options: argparse.Namespace) -> int:
    return print_lines([str(Keys().path)])


def _stored(keys: Keys) -> dict[str, object]:
    try:
        return dict(keys.read_file())
    except ProviderError as error:
        raise UsageError(error.message) from None


def _check_name(name: str) -> None:
    """Raise `UsageError` if a name is neither that of a provider nor a base URL."""
    providers = [*VARIABLES, *OPTIONAL_VARIABLES, *installed_names()]
    if name in providers:
        return
    parts = urlsplit(name)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"{name!r} is neither a provider nor the base URL of a server{suggest(name, providers)}")
    if parts.username or parts.password or parts.query or parts.fragment or name.endswith("/"):
        raise UsageError("a base URL has neither a password nor a query, and does not end in /")


COMMAND = CliCommand(
    "Set, list and remove API keys. Keys are stored in a file that only you can read, and are never shown.",
    add_options,
    run_subcommand,
    EXAMPLES,
    default="list",
    interrupted="interrupted; nothing changed",
)
