"""Configuration of MCP servers: a TOML file, checked when it is read.

    [servers.files]
    command = "mcp-files"
    args = ["--root", "notes"]
    env = { TOKEN = "${FILES_TOKEN}" }
    trust = "hints"
    [servers.search]
    url = "https://search.example/mcp"
    headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }

`${NAME}` stands for an environment variable. It is looked up when a server is started and not stored,
so that a configuration can be shown; such values are redacted wherever a server repeats them.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from antiphon.tools.errors import ConfigError
from antiphon.tools.regular_files import UnreadableFile, read_file

# Joined to the name of a tool by two underscores, so that no two pairs can look the same.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
MAX_NAME = 32
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
NO_VALUES: Mapping[str, str] = {}
MAX_FILE = 64 * 1024
MAX_SERVERS = 50
Trust = Literal["ask", "hints"]
TRUSTS: tuple[Trust, ...] = get_args(Trust)
UNKNOWN_SERVER: Trust = "ask"

Shape = Literal["text", "texts", "table", "count", "trust"]
LIMIT_KEYS: Mapping[str, Shape] = {
    "trust": "trust",
    "start_ms": "count",
    "call_ms": "count",
    "restarts": "count",
    "most_characters": "count",
}
COMMAND_KEYS: Mapping[str, Shape] = {"command": "text", "args": "texts", "env": "table", "cwd": "text", **LIMIT_KEYS}
ADDRESS_KEYS: Mapping[str, Shape] = {"url": "text", "headers": "table", **LIMIT_KEYS}
SHAPES: Mapping[Shape, str] = {
    "text": "text",
    "texts": "a list of texts",
    "table": "a table of texts",
    "count": "a whole number that is not negative",
    "trust": '"ask" (every call needs permission) or "hints" (its tools say how risky they are)',
}


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """Limits of a server: time, restarts, and the size of a result."""

    start_ms: int = 30_000
    call_ms: int = 120_000
    # In a row, without a successful call in between.
    restarts: int = 3
    most_characters: int = 100_000


@dataclass(frozen=True, slots=True)
class CommandServer:
    """Server that is started as a process on this machine."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=lambda: NO_VALUES, repr=False)
    cwd: str | None = None
    limits: ServerLimits = ServerLimits()
    trust: Trust = UNKNOWN_SERVER
    """With "ask", every call needs permission; with "hints", the server's annotations say which calls only read."""


@dataclass(frozen=True, slots=True)
class AddressServer:
    """Server that is reached over streamable HTTP."""

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: NO_VALUES, repr=False)
    limits: ServerLimits = ServerLimits()
    trust: Trust = UNKNOWN_SERVER


Server = CommandServer | AddressServer


def load_servers(path: Path | str, *, may_trust: bool = True) -> tuple[Server, ...]:
    """Load the servers of a TOML file; raise `ConfigError` if it is not valid.

    A file that comes with a folder must not say how far its servers are trusted: `may_trust` is False for it.
    """
    try:
        data = read_file(Path(path), MAX_FILE, follow=True)
    except UnreadableFile as error:
        raise ConfigError(str(path), "", str(error).removeprefix("it ")) from None
    return decode_servers(data, str(path), may_trust=may_trust)


def decode_servers(data: bytes, file: str, *, may_trust: bool = True) -> tuple[Server, ...]:
    """Parse the content of a TOML file."""
    try:
        value = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        # The message of the parser may quote the line with a secret.
        raise ConfigError(file, "", "is not valid TOML") from None
    return parse_servers(value, file, may_trust=may_trust)


def parse_servers(
    value: Mapping[str, Any], file: str = "configuration", *, may_trust: bool = True
) -> tuple[Server, ...]:
    """Parse the servers of a configuration."""
    unknown = sorted(value.keys() - {"servers"})
    if unknown:
        raise ConfigError(file, unknown[0], "is unknown; a configuration has [servers.<name>] tables")
    tables = value.get("servers", {})
    if not isinstance(tables, Mapping):
        raise ConfigError(file, "servers", "must be a table of servers")
    if len(tables) > MAX_SERVERS:
        raise ConfigError(file, "servers", f"has {len(tables)} servers; at most {MAX_SERVERS} are started")
    servers = tuple(_server(file, name, table) for name, table in tables.items())
    for server in servers:
        if not may_trust and server.trust != UNKNOWN_SERVER:
            problem = "must not be set by a file of the folder; move the server to a file of your own"
            raise ConfigError(file, f"servers.{server.name}.trust", problem)
    return servers


def fill_variables(template: str, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """Replace the variables in a text; return it and the values used; raise `KeyError` if a variable is not set."""
    values = [environment[name] for name in VARIABLE.findall(template)]
    return VARIABLE.sub(lambda match: environment[match[1]], template), values


def _server(file: str, name: str, table: Any) -> Server:
    path = f"servers.{name}"
    if not NAME.fullmatch(name) or len(name) > MAX_NAME:
        raise ConfigError(
            file, path, f"a name has up to {MAX_NAME} letters, digits, - and single _, and begins with a letter"
        )
    if not isinstance(table, Mapping):
        raise ConfigError(file, path, "must be a table")
    if ("command" in table) == ("url" in table):
        raise ConfigError(file, path, "needs either a command or a url")
    shapes = COMMAND_KEYS if "command" in table else ADDRESS_KEYS
    for key, item in table.items():
        _check(file, f"{path}.{key}", item, shapes.get(key), shapes)
    limits = ServerLimits(**{each.name: table[each.name] for each in fields(ServerLimits) if each.name in table})
    if "command" in table:
        return CommandServer(
            name,
            table["command"],
            tuple(table.get("args", ())),
            table.get("env", {}),
            table.get("cwd"),
            limits,
            table.get("trust", UNKNOWN_SERVER),
        )
    _check_url(file, f"{path}.url", table["url"])
    return AddressServer(name, table["url"], table.get("headers", {}), limits, table.get("trust", UNKNOWN_SERVER))


def _check(file: str, path: str, item: Any, shape: Shape | None, shapes: Mapping[str, Shape]) -> None:
    match shape:
        case None:
            raise ConfigError(file, path, f"is unknown; known: {', '.join(shapes)}")
        case "text":
            is_valid = isinstance(item, str) and item != ""
        case "texts":
            is_valid = isinstance(item, list) and all(isinstance(each, str) for each in item)
        case "table":
            is_valid = isinstance(item, Mapping) and all(isinstance(each, str) for each in item.values())
        case "count":
            is_valid = isinstance(item, int) and not isinstance(item, bool) and item >= 0
        case "trust":
            is_valid = item in TRUSTS
    if not is_valid:
        # The value is not quoted, because it may contain a key.
        raise ConfigError(file, path, f"must be {SHAPES[shape]}")


def _check_url(file: str, path: str, url: str) -> None:
    try:
        parts = urlsplit(VARIABLE.sub("x", url))
    except ValueError:
        raise ConfigError(file, path, "is not a valid URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(file, path, "must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(file, path, "must not contain a password; use headers with an environment variable")
