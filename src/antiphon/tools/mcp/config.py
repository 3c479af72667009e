"""Which MCP servers there are: a TOML file, checked when it is read.

    [servers.files]
    command = "mcp-files"
    args = ["--root", "notes"]
    env = { TOKEN = "${FILES_TOKEN}" }
    [servers.search]
    url = "https://search.example/mcp"
    headers = { Authorization = "Bearer ${SEARCH_TOKEN}" }

`${NAME}` stands for a variable of the environment. It is looked up when a server is started and kept nowhere,
so that a configuration can be shown; what such values are is hidden wherever a server repeats them.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from antiphon.tools.errors import ConfigError

# Joined to the name of a tool by two underscores, so that no two pairs can look the same.
NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*(_[A-Za-z0-9-]+)*")
MOST_OF_A_NAME = 32
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
NO_VALUES: Mapping[str, str] = {}

Shape = Literal["text", "texts", "table", "count"]
LIMIT_KEYS: Mapping[str, Shape] = dict.fromkeys(("start_ms", "call_ms", "restarts", "most_characters"), "count")
COMMAND_KEYS: Mapping[str, Shape] = {"command": "text", "args": "texts", "env": "table", "cwd": "text", **LIMIT_KEYS}
ADDRESS_KEYS: Mapping[str, Shape] = {"url": "text", "headers": "table", **LIMIT_KEYS}
SHAPES: Mapping[Shape, str] = {
    "text": "text",
    "texts": "a list of texts",
    "table": "a table of texts",
    "count": "a whole number that is not negative",
}


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """How long a server may take, how often it is started again, and how much of a result is kept."""

    start_ms: int = 30_000
    call_ms: int = 120_000
    # In a row, without a call that went well in between.
    restarts: int = 3
    most_characters: int = 100_000


@dataclass(frozen=True, slots=True)
class CommandServer:
    """A server that is started as a process of this machine."""

    name: str
    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=lambda: NO_VALUES, repr=False)
    cwd: str | None = None
    limits: ServerLimits = ServerLimits()


@dataclass(frozen=True, slots=True)
class AddressServer:
    """A server that runs somewhere and is spoken to over streamable HTTP."""

    name: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=lambda: NO_VALUES, repr=False)
    limits: ServerLimits = ServerLimits()


Server = CommandServer | AddressServer


def load_servers(path: Path | str) -> tuple[Server, ...]:
    """The servers of a TOML file; `ConfigError` says what is wrong, and where."""
    try:
        value = tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        raise ConfigError(str(path), "", f"cannot be read: {error.strerror}") from None
    except ValueError:
        # The parser's message may quote the line, and with it something secret.
        raise ConfigError(str(path), "", "is not valid TOML") from None
    return parse_servers(value, str(path))


def parse_servers(value: Mapping[str, Any], file: str = "configuration") -> tuple[Server, ...]:
    """The servers of a configuration that has been read already."""
    unknown = sorted(value.keys() - {"servers"})
    if unknown:
        raise ConfigError(file, unknown[0], "is unknown; a configuration has [servers.<name>] tables")
    tables = value.get("servers", {})
    if not isinstance(tables, Mapping):
        raise ConfigError(file, "servers", "must be a table of servers")
    return tuple(_server(file, name, table) for name, table in tables.items())


def fill_variables(template: str, environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """A text with its variables filled in, and the values that went into it; `KeyError` for one that is not set."""
    values = [environment[name] for name in VARIABLE.findall(template)]
    return VARIABLE.sub(lambda match: environment[match[1]], template), values


def _server(file: str, name: str, table: Any) -> Server:
    place = f"servers.{name}"
    if not NAME.fullmatch(name) or len(name) > MOST_OF_A_NAME:
        raise ConfigError(
            file, place, f"a name has up to {MOST_OF_A_NAME} letters, digits, - and single _, and begins with a letter"
        )
    if not isinstance(table, Mapping):
        raise ConfigError(file, place, "must be a table")
    if ("command" in table) == ("url" in table):
        raise ConfigError(file, place, "needs either a command or a url")
    known = COMMAND_KEYS if "command" in table else ADDRESS_KEYS
    for key, item in table.items():
        _check(file, f"{place}.{key}", item, known.get(key), known)
    limits = ServerLimits(**{each.name: table[each.name] for each in fields(ServerLimits) if each.name in table})
    if "command" in table:
        return CommandServer(
            name, table["command"], tuple(table.get("args", ())), table.get("env", {}), table.get("cwd"), limits
        )
    _check_url(file, f"{place}.url", table["url"])
    return AddressServer(name, table["url"], table.get("headers", {}), limits)


def _check(file: str, place: str, item: Any, shape: Shape | None, known: Mapping[str, Shape]) -> None:
    match shape:
        case None:
            raise ConfigError(file, place, f"is unknown; known: {', '.join(known)}")
        case "text":
            is_valid = isinstance(item, str) and item != ""
        case "texts":
            is_valid = isinstance(item, list) and all(isinstance(each, str) for each in item)
        case "table":
            is_valid = isinstance(item, Mapping) and all(isinstance(each, str) for each in item.values())
        case "count":
            is_valid = isinstance(item, int) and not isinstance(item, bool) and item >= 0
    if not is_valid:
        # The value is not quoted: it may be what someone took for a place to keep a key.
        raise ConfigError(file, place, f"must be {SHAPES[shape]}")


def _check_url(file: str, place: str, url: str) -> None:
    try:
        parts = urlsplit(VARIABLE.sub("x", url))
    except ValueError:
        raise ConfigError(file, place, "is no address") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(file, place, "must begin with http:// or https:// and name a host")
    if parts.username is not None or parts.password is not None:
        raise ConfigError(file, place, "must not hold a password; use headers and a variable of the environment")
