"""The user's settings, in one table: keys of the file, environment variables, and the commands that they are for.

An option wins over a variable, a variable over the file; of two keys in one place, that of the command wins.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from antiphon.cli.frame import UsageError
from antiphon.paths import config_path
from antiphon.providers.errors import ProviderError
from antiphon.providers.references import parse_reference
from antiphon.settings import Kind, SettingError, parse_value, read_toml, suggest
from antiphon.threads import MODES

ALIAS = "alias"
ALIAS_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
MODEL = "model"
EDITING_MODES = ("emacs", "vi")
LARGEST_USD = 100_000


class UserSetting(NamedTuple):
    """A setting: the key of the file, the form of its value, and the commands that it is for."""

    key: str
    kind: Kind
    about: str
    commands: tuple[str, ...]
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0

    @property
    def variable(self) -> str:
        """The environment variable."""
        return f"ANTIPHON_{re.sub('[.-]', '_', self.key).upper()}"

    @property
    def is_model(self) -> bool:
        """True if the value is a model reference or an alias."""
        return self.key.rpartition(".")[2] == MODEL


SETTINGS: tuple[UserSetting, ...] = (
    UserSetting("model", "text", "model of new chats, runs and debates", ("chat", "run", "debate")),
    UserSetting("chat.model", "text", "model of new chats", ("chat",)),
    UserSetting("run.model", "text", "model of new runs", ("run",)),
    UserSetting("debate.model", "text", "model of the debaters of new debates", ("debate",)),
    UserSetting("mode", "choice", "what tools of new chats and runs may do without permission", ("chat", "run"), MODES),
    UserSetting("max-cost", "number", "maximum cost in USD of a message of new chats, and of new runs",
                ("chat", "run"), low=0.0001, high=LARGEST_USD),
    UserSetting("editing-mode", "choice", "keys of the line editor (default: of ~/.inputrc)", ("chat",), EDITING_MODES),
    UserSetting("plain", "flag", "print plain text as it arrives", ("chat",)),
    UserSetting("thinking", "flag", "show the thinking of the model", ("chat",)),
)  # fmt: skip
BY_KEY: Mapping[str, UserSetting] = {setting.key: setting for setting in SETTINGS}


@dataclass(frozen=True, slots=True)
class Configured:
    """A value that is set, and where: a variable, or the file."""

    value: Any
    source: str


class UserConfig:
    """The settings that are set in the environment and in the file."""

    def __init__(self, environment: Mapping[str, str], path: Path, file: Mapping[str, Any]) -> None:
        self.path = path
        self._environment = environment
        self._file = file

    def find(self, key: str) -> Configured | None:
        """Return the value of a key, from its variable or from the file."""
        setting = BY_KEY.get(key)
        if setting is not None and (text := self._environment.get(setting.variable)):
            try:
                return Configured(parse_value(setting, text, setting.variable), setting.variable)
            except SettingError as error:
                raise UsageError(f"{error}; correct or unset it") from error
        return Configured(self._file[key], str(self.path)) if key in self._file else None

    def get(self, command: str, name: str) -> Any:
        """Return the value of a setting for a command, or None."""
        keys = [key for key in (f"{command}.{name}", name) if key in BY_KEY]
        configured = [value for key in keys if (value := self.find(key)) is not None]
        in_environment = [value for value in configured if value.source != str(self.path)]
        return next((value.value for value in (*in_environment, *configured)), None)

    @property
    def aliases(self) -> dict[str, str]:
        """Model references by their aliases."""
        return {key.partition(".")[2]: value for key, value in self._file.items() if is_alias(key)}

    def resolve(self, model: str) -> str:
        """Return the reference that an alias stands for, or the model itself."""
        return self.aliases.get(model, model)


def load_config(environment: Mapping[str, str] = os.environ) -> UserConfig:
    """Read the settings; raise `UsageError` if the file cannot be used, or has an unknown key or a wrong value."""
    path = config_path(environment)
    try:
        table = read_toml(path) if path.exists() else {}
        values = {key: _check(key, value, f"{path}: {key}") for key, value in _flatten(table)}
    except SettingError as error:
        raise UsageError(f"{error}; correct it with: antiphon config edit") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    return UserConfig(environment, path, values)


def is_alias(key: str) -> bool:
    """Return whether a key is that of an alias."""
    return key.startswith(f"{ALIAS}.")


def parse_setting(key: str, text: str) -> Any:
    """Return the value of a key from a text; raise `SettingError` if the key is unknown or the value is wrong."""
    return _check(key, text, key)


def check_model(key: str, value: Any, config: UserConfig) -> None:
    """Raise `SettingError` if the setting is a model, and the value neither a reference nor an alias."""
    setting = BY_KEY.get(key)
    if setting is not None and setting.is_model and value not in config.aliases:
        _check_reference(value, key)


def _check(key: str, value: Any, place: str) -> Any:
    if is_alias(key):
        return _check_alias(key.partition(".")[2], value, place)
    setting = BY_KEY.get(key)
    if setting is None:
        where = "" if place == key else f"{place.removesuffix(f': {key}')}: "
        raise SettingError(f"{where}there is no setting {key!r}{suggest(key, [*BY_KEY, 'alias.NAME'])}")
    checked = parse_value(setting, value, place)
    if setting.is_model and ":" in checked:
        _check_reference(checked, place)
    return checked


def _check_alias(name: str, value: Any, place: str) -> str:
    if not ALIAS_NAME.fullmatch(name):
        raise SettingError(f"{place}: an alias has letters, digits, '.', '-' and '_', at most 64")
    if not isinstance(value, str):
        raise SettingError(f"{place} must be a text")
    _check_reference(value, place)
    return value


def _check_reference(value: str, place: str) -> None:
    try:
        parse_reference(value)
    except ProviderError as error:
        raise SettingError(f"{place}: {error.message}") from error


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Iterate over the values of a table and of the tables in it, by dotted keys."""
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in BY_KEY and not is_alias(key):
            yield from _flatten(value, f"{key}.")
        else:
            yield key, value
