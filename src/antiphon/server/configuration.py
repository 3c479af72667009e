"""The settings of `antiphon serve`, in one table: keys of a file, environment variables and options.

An option wins over a variable, a variable over the file, and the file over the default.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.server.settings import ServerSettings
from antiphon.settings import Kind, SettingError, parse_value, read_toml, suggest

VARIABLE = "ANTIPHON_SERVER_"
# Variables with the same beginning that are no settings of the server.
OTHER_VARIABLES = frozenset({f"{VARIABLE}CONFIG", f"{VARIABLE}URL"})
OTHERS = 0o077  # permissions of the group and of others
MIB = 1024 * 1024
DAY_S = 86_400


class Setting(NamedTuple):
    """A setting: its name, the form of its value, its default, and the least and the greatest value of a number."""

    name: str
    kind: Kind
    default: Any
    about: str
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    other_variable: str = ""

    @property
    def variable(self) -> str:
        """The environment variable."""
        return self.other_variable or f"{VARIABLE}{self.name.upper()}"

    @property
    def option(self) -> str | None:
        """The option of the command; a secret has none, because other users of a machine see the options."""
        return None if self.kind == "secret" else f"--{self.name.replace('_', '-')}"


def _limit(name: str, kind: Kind, low: float, high: float, about: str) -> Setting:
    """Return a setting that is a limit of `ServerSettings`, with its default."""
    return Setting(name, kind, ServerSettings.__dataclass_fields__[name].default, about, low, high)


SETTINGS: tuple[Setting, ...] = (
    Setting("host", "text", "127.0.0.1", "address to listen on"),
    Setting("port", "whole", 8787, "port; 0 is any free one", 0, 65_535),
    Setting("store", "path", None, "store file", other_variable="ANTIPHON_STORE"),
    Setting("allow_host", "texts", (), "name by which clients reach the server; may be repeated"),
    Setting("tls_cert", "path", None, "certificate, in PEM format"),
    Setting("tls_key", "path", None, "private key of the certificate"),
    Setting("behind_proxy", "flag", False, "a proxy in front of the server ends TLS"),
    Setting("workspace", "path", None, "let threads use tools in this folder: files, commands, pages"),
    Setting("any_model", "flag", False, "let clients name models by files of this host and by addresses"),
    Setting("token", "secret", None, "token of the operator, at least 32 characters; random without it"),
    Setting("verbose", "flag", False, "log each request to standard error"),
    Setting("log_format", "choice", "text", "form of the log", choices=("text", "json")),
    Setting("window_ms", "whole", None, "milliseconds for which the words of a reply are joined", 0, 1000),
    Setting("resume_interrupted", "flag", False, "resume threads that ran when the last process ended"),
    Setting("usd_per_day", "number", None, "most USD that all threads of a user cost in a day", 0.000001, 1e6),
    Setting("model_requests_at_once", "whole", None, "most requests to models at once, of a user", 1, 10_000),
    Setting("model_requests_per_minute", "whole", None, "most requests to models in a minute, of a user", 1, 1e6),
    Setting("model_tokens_per_minute", "whole", None, "most tokens of models in a minute, of a user", 1, 1e9),
    _limit("most_body_bytes", "whole", 1024, 1024 * MIB, "largest body of a request"),
    _limit("most_header_bytes", "whole", 1024, MIB, "largest headers of a request"),
    _limit("deepest_json", "whole", 4, 500, "deepest JSON of a request, in levels"),
    _limit("most_requests", "whole", 1, 100_000, "most requests at once"),
    _limit("most_streams", "whole", 1, 100_000, "most streams at once"),
    _limit("most_followed", "whole", 1, 1000, "most threads on one stream"),
    _limit("most_user_requests", "whole", 1, 100_000, "most requests at once, of a user"),
    _limit("most_user_streams", "whole", 1, 100_000, "most streams at once, of a user"),
    _limit("token_requests_per_minute", "whole", 1, 10_000_000, "most requests in a minute, of a user's token"),
    _limit("failed_logins_per_minute", "whole", 1, 100_000, "most wrong tokens in a minute, of an address"),
    _limit("header_s", "number", 0.1, 600, "seconds in which the headers of a request must arrive"),
    _limit("body_s", "number", 0.1, DAY_S, "seconds in which the body of a request must arrive"),
    _limit("stall_s", "number", 0.1, DAY_S, "seconds after which a client that accepts nothing is cut off"),
    _limit("keep_alive_s", "whole", 1, 3600, "seconds that an idle connection is kept"),
    _limit("shutdown_s", "whole", 0, 3600, "seconds that requests have to finish when the server stops"),
    _limit("heartbeat_s", "number", 0.1, 3600, "quiet seconds after which a stream has a heartbeat"),
    _limit("retry_ms", "whole", 0, 600_000, "milliseconds after which a browser connects a stream again"),
    _limit("token_check_s", "number", 0.01, 60, "seconds within which streams of a revoked token end"),
    _limit("idle_s", "number", 0.1, DAY_S, "idle seconds after which a server that a terminal has started ends"),
    _limit("audit_bytes", "whole", 4096, 10_240 * MIB, "largest file of the audit log"),
    _limit("audit_files", "whole", 1, 1000, "most files of the audit log"),
)  # fmt: skip
BY_NAME: Mapping[str, Setting] = {setting.name: setting for setting in SETTINGS}
LIMITS = tuple(setting.name for setting in SETTINGS if setting.name in ServerSettings.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting as it holds, and where its value comes from: `default`, a file, a variable or an option."""

    setting: Setting
    value: Any
    source: str

    @property
    def shown(self) -> Any:
        """The value for people and programs; a secret is hidden."""
        if self.setting.kind == "secret":
            return None if self.value is None else "hidden"
        return str(self.value) if isinstance(self.value, Path) else self.value


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an option for each setting; one that is not used is missing in the result."""
    for setting in SETTINGS:
        option = setting.option
        if option is None or setting.name == "store":
            continue
        default = "" if setting.default in (None, (), False) else f" (default: {setting.default})"
        help = f"{setting.about}{default}"
        if setting.kind == "flag":
            parser.add_argument(option, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=help)
        else:
            action = "append" if setting.kind == "texts" else "store"
            name = {"path": "PATH", "texts": "NAME", "text": "NAME", "choice": "FORM"}.get(setting.kind, "N")
            parser.add_argument(option, metavar=name, action=action, default=argparse.SUPPRESS, help=help)


def load_settings(
    options: Mapping[str, Any], environment: Mapping[str, str], file: Path | None
) -> dict[str, Effective]:
    """Return all settings as they hold; raise `SettingError` for an unknown one or a wrong value."""
    in_file = {} if file is None else read_file(file)
    in_environment = _read_variables(environment)
    result = {}
    for setting in SETTINGS:
        name = setting.name
        if options.get(name) is not None:
            source = setting.option or name
            value = parse_value(setting, options[name], source)
        elif name in in_environment:
            source = setting.variable
            value = parse_value(setting, in_environment[name], source)
        elif name in in_file:
            source = str(file)
            value = parse_value(setting, in_file[name], f"{file}: {name}")
        else:
            source = "default"
            value = setting.default
        result[name] = Effective(setting, value, source)
    return result


def read_file(file: Path) -> dict[str, Any]:
    """Read a file of settings; raise `SettingError` if it cannot be used."""
    value = read_toml(file)
    mode = file.stat().st_mode
    for name in value:
        if name not in BY_NAME:
            raise SettingError(f"{file}: there is no setting {name!r}{suggest(name, [*BY_NAME])}")
    if "token" in value and mode & OTHERS:
        raise SettingError(f"{file}: has a token, and others can read it; run: chmod 600 {file}")
    return value


def _read_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in the environment; an empty variable is not set, but an empty secret is an error."""
    variables = {setting.variable: setting for setting in SETTINGS}
    for name in environment:
        if name.startswith(VARIABLE) and name not in variables and name not in OTHER_VARIABLES:
            raise SettingError(f"there is no setting {name}{suggest(name, [*variables])}")
    return {
        setting.name: environment[name]
        for name, setting in variables.items()
        if name in environment and (environment[name] or setting.kind == "secret")
    }
