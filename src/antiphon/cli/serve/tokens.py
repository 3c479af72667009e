"""The command `antiphon tokens`: tokens of the users of a server, and its audit log."""

import argparse
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from antiphon.cli.db.roots import confirm
from antiphon.cli.frame import DONE, FAILED, CliCommand, UsageError, print_error, print_lines
from antiphon.cli.options import Subcommands, positive_int, run_subcommand, store_file
from antiphon.cli.render.units import format_time
from antiphon.paths import server_folder
from antiphon.server.audit import read_audit
from antiphon.server.tokens import SCOPES, TokenError, TokenFile, TokenRecord

UNITS_MS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
LONGEST_MS = 3650 * UNITS_MS["d"]
EXAMPLES = """examples:
  antiphon tokens add ann                         a token that reads and changes the threads of the user ann
  antiphon tokens add ann-ci --user ann --scope read --expires 30d
  antiphon tokens revoke ann-ci                   it is of no use any more, and its streams end
  antiphon tokens audit                           list what was done with tokens

A token is printed once. A running server needs no restart.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser)
    sub = commands.add("add", _add, "add a token, and print it once", json=True)
    sub.add_argument("name", metavar="NAME", help="name of the token")
    sub.add_argument("--user", metavar="USER", help="user whose threads it opens (default: the name of the token)")
    sub.add_argument("--scope", choices=SCOPES, default="write", help="each includes those before it (default: write)")
    sub.add_argument("--expires", metavar="TIME", type=_duration, help="time after which it ends: 90m, 12h, 30d, 8w")
    commands.add("list", _list, "list tokens, without the tokens themselves", json=True)
    sub = commands.add("revoke", _revoke, "revoke a token, after asking; its streams end", json=True)
    sub.add_argument("name", metavar="NAME", help="name of the token")
    sub.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    sub = commands.add("audit", _audit, "list changes by tokens and refused attempts, the newest first", json=True)
    sub.add_argument("--limit", metavar="N", type=positive_int, default=50, help="most lines (default: 50)")


def _duration(text: str) -> int:
    match = re.fullmatch(r"(\d{1,6})([mhdw])", text)
    duration_ms = int(match[1]) * UNITS_MS[match[2]] if match else 0
    if not 0 < duration_ms <= LONGEST_MS:
        raise argparse.ArgumentTypeError(f"must be a time such as 90m, 12h, 30d or 8w, at most 3650d, not {text!r}")
    return duration_ms


def _now() -> int:
    return int(datetime.now(UTC).timestamp() * 1000)


def _tokens(options: argparse.Namespace) -> TokenFile:
    return TokenFile(server_folder(store_file(options)))


def _add(options: argparse.Namespace) -> int:
    now = _now()
    expires = None if options.expires is None else now + options.expires
    user = options.user or options.name
    record, token = _tokens(options).add(options.name, user=user, scope=options.scope, expires=expires, now=now)
    lines = [token, f"{_describe(record, now)}; the token is not shown again"]
    return _print(options, lines, {**record.to_json(now), "token": token})


def _list(options: argparse.Namespace) -> int:
    now = _now()
    records = _tokens(options).list()
    lines = [f"{_describe(record, now)}, last used {format_time(record.used)}" for record in records]
    return _print(options, lines or ["no tokens"], [record.to_json(now) for record in records])


def _describe(record: TokenRecord, now: int) -> str:
    state = "expired" if record.is_expired(now) else "expires"
    end = "does not expire" if record.expires is None else f"{state} {format_time(record.expires)}"
    return f"{record.name}: user {record.user}, scope {record.scope}, {end}"


def _revoke(options: argparse.Namespace) -> int:
    tokens = _tokens(options)
    record = next((each for each in tokens.list() if each.name == options.name), None)
    if record is None:
        return print_error("tokens revoke", f"there is no token {options.name!r}; see: antiphon tokens list", FAILED)
    if not options.yes and not confirm(_describe(record, _now()), "revoke this token?"):
        _print(options, ["nothing changed"], {"name": options.name, "revoked": False})
        return DONE
    is_revoked = tokens.revoke(options.name)
    line = f"{options.name} is revoked; the threads of the user {record.user} are kept"
    return _print(options, [line], {"name": options.name, "revoked": is_revoked})


def _audit(options: argparse.Namespace) -> int:
    events = list(islice(read_audit(server_folder(store_file(options))), options.limit))
    return _print(options, [_line(event) for event in events] or ["nothing was written yet"], events)


def _line(event: dict[str, Any]) -> str:
    name = f"{event['user'] or '-'} ({event['token'] or 'no token'})"
    thread = f" thread {event['thread']}" if event["thread"] else ""
    code = f" {event['code']}" if event["code"] else ""
    request = f"{event['method']} {event['route']}{thread}"
    return f"{format_time(event['at'])}  {name}  {request}  {event['status']}{code}  request {event['request']}"


def _print(options: argparse.Namespace, lines: Sequence[str], value: Any) -> int:
    return print_lines([json.dumps(value, indent=2)] if options.json else lines)


def _run(options: argparse.Namespace) -> int:
    try:
        return run_subcommand(options)
    except TokenError as error:
        raise UsageError(str(error)) from error


COMMAND = CliCommand(
    "Let users into a server: each token opens the threads of one user.", add_options, _run, EXAMPLES, default="list"
)
