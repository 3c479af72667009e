"""The command `antiphon config`: show, read, set and remove the user's settings."""

import argparse
import json
import os
from typing import Any

from antiphon.cli.config.files import edit_file, read_text, write_private
from antiphon.cli.config.settings import (
    BY_KEY,
    SETTINGS,
    Configured,
    UserConfig,
    check_model,
    is_alias,
    load_config,
    parse_setting,
)
from antiphon.cli.config.toml_edit import NotEditable, Place, set_value, unset_value
from antiphon.cli.frame import DONE, FAILED, CliCommand, UsageError, print_error, print_lines, print_rows
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.paths import config_path
from antiphon.settings import SettingError, suggest

KEY_HELP = "a key, as antiphon config lists them, or alias.NAME"
EXAMPLES = """examples:
  antiphon config                                          show all settings, and where they come from
  antiphon config set model anthropic:claude-sonnet-5-5    the model of new chats, runs and debates
  antiphon config set alias.fast google:gemini-3.8-flash   then: antiphon chat -m fast
  antiphon config set max-cost 0.50                        stop a message or a run at 0.50 USD
  antiphon config unset model                              use the best model that is usable
  antiphon config edit                                     open the file in EDITOR

Options win over environment variables, and these over the file.
"""
NEW_FILE = """# Settings of antiphon; the keys are listed by: antiphon config
# model = "anthropic:claude-sonnet-5-5"
# max-cost = 0.50
# [alias]
# fast = "google:gemini-3.8-flash"
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    commands.add("show", _show, "show all settings, and where their values come from (the default)", json=True)
    sub = commands.add("get", _get, "print the value of a setting; exits with 1 if it is not set")
    sub.add_argument("key", metavar="KEY", help=KEY_HELP)
    sub = commands.add("set", _set, "set a value in the file")
    sub.add_argument("key", metavar="KEY", help=KEY_HELP)
    sub.add_argument("value", metavar="VALUE", help="the value")
    sub = commands.add("unset", _unset, "remove a value from the file")
    sub.add_argument("key", metavar="KEY", help=KEY_HELP)
    commands.add("path", _path, "print the path of the file")
    commands.add("edit", _edit, "open the file in the editor that VISUAL or EDITOR names")


def _show(options: argparse.Namespace) -> int:
    config = load_config()
    values = {setting.key: config.find(setting.key) for setting in SETTINGS}
    values |= {f"alias.{name}": config.find(f"alias.{name}") for name in config.aliases}
    if options.json:
        rows = [
            {"key": key, "value": each and each.value, "source": each and each.source} for key, each in values.items()
        ]
        return print_lines([json.dumps({"path": str(config.path), "settings": rows}, indent=2)])
    width = max(map(len, values))
    missing = "" if config.path.exists() else " (not written yet)"
    lines = [f"{key:<{width}}  {_describe(key, value, config)}" for key, value in values.items()]
    return print_rows([f"{config.path}{missing}", *lines])


def _describe(key: str, value: Configured | None, config: UserConfig) -> str:
    if value is None:
        return f"-  ({BY_KEY[key].about})"
    source = "" if value.source == str(config.path) else f"  (from {value.source})"
    return f"{_format(value.value)}{source}"


def _format(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _get(options: argparse.Namespace) -> int:
    config = load_config()
    _check_key(options.key)
    value = config.find(options.key)
    if value is None:
        return print_error("config", f"{options.key} is not set; set it with: antiphon config set", FAILED)
    return print_lines([_format(value.value)])


def _set(options: argparse.Namespace) -> int:
    config = load_config()  # a broken file is not made worse
    try:
        value = parse_setting(options.key, options.value)
        check_model(options.key, value, config)
    except SettingError as error:
        raise UsageError(str(error)) from error
    path = config_path()
    try:
        text = set_value(read_text(path), _place(options.key), value)
    except NotEditable as error:
        raise UsageError(f"{path}: {error}; use: antiphon config edit") from error
    write_private(path, text)
    if (setting := BY_KEY.get(options.key)) is not None and os.environ.get(setting.variable):
        return print_lines([f"set in {path}, but {setting.variable} is set too and wins"])
    return DONE


def _unset(options: argparse.Namespace) -> int:
    load_config()
    _check_key(options.key)
    path = config_path()
    text = read_text(path)
    try:
        write_private(path, unset_value(text, _place(options.key)))
    except KeyError:
        return print_error("config", f"{options.key} is not set in {path}", FAILED)
    except NotEditable as error:
        raise UsageError(f"{path}: {error}; use: antiphon config edit") from error
    return DONE


def _path(options: argparse.Namespace) -> int:
    return print_lines([str(config_path())])


def _edit(options: argparse.Namespace) -> int:
    edit_file(config_path(), NEW_FILE)
    load_config()
    return DONE


def _check_key(key: str) -> None:
    if key not in BY_KEY and not is_alias(key):
        raise UsageError(f"there is no setting {key!r}{suggest(key, [*BY_KEY, 'alias.NAME'])}")


def _place(key: str) -> Place:
    """Return the names of a key in the file; the name of an alias may have dots."""
    table, _, name = key.partition(".")
    return (table, name) if name else (table,)


COMMAND = CliCommand(
    "Show, read, set and remove settings of yours: default models, aliases, limits.",
    add_options,
    run_subcommand,
    EXAMPLES,
    default="show",
)
