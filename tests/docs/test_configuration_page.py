"""The page on configuration has a line for every setting, command and option."""

import re

import pytest

from antiphon.cli.config.settings import SETTINGS, UserSetting
from antiphon.cli.config.templates import FORMS
from antiphon.providers.keys import OPTIONAL_VARIABLES, VARIABLES
from antiphon.threads.usage import GROUPINGS
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.paths import DOCS

PAGE = (DOCS / "configuration.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


def form_of(setting: UserSetting) -> str:
    """Return the form of a value as the page writes it."""
    if setting.is_model:
        return "model or alias"
    if setting.kind == "flag":
        return "`true`, `false`"
    if setting.kind == "choice":
        return ", ".join(f"`{choice}`" for choice in setting.choices)
    return f"{'whole ' if setting.kind == 'whole' else ''}number from {setting.low:,g} to {setting.high:,g}"


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.key)
def test_every_setting_has_its_line_in_the_words_of_the_code(setting):
    assert f"| `{setting.key}` | `{setting.variable}` | {form_of(setting)} | {setting.about} |" in ROWS


def test_no_line_is_about_a_setting_that_there_is_not():
    variables = {variable for row in ROWS for variable in re.findall(r"^\| `[\w.-]+` \| `(ANTIPHON_\w+)`", row)}

    assert variables == {setting.variable for setting in SETTINGS}


@pytest.mark.parametrize("name", ["config", "keys", "templates", "completion"])
def test_every_command_and_option_is_named(name):
    commands = subparsers(parser_of(name))
    table = PAGE.partition(f"| `antiphon {name}` |")[2].partition("\n\n")[0]
    options = {option for parser in commands.values() for option in options_of(parser)}

    assert [command for command in commands if not re.search(rf"`{command}[ `]", table)] == []
    assert [option for option in options - {"-h", "--help"} if f"`{option}`" not in table] == []


def test_every_option_of_usage_has_its_line():
    table = PAGE.partition("| `antiphon usage` |")[2].partition("\n\n")[0]
    documented = {option for row in table.splitlines() for option in re.findall(r"`(-[\w-]+)`", row.split(" | ")[0])}

    assert documented == options_of(parser_of("usage"))
    assert [name for name in GROUPINGS if f"`{name}`" not in table] == []


def test_every_option_of_help_has_its_line():
    table = PAGE.partition("| `antiphon help` |")[2].partition("\n\n")[0]

    assert [option for option in options_of(parser_of("help")) if f"`{option}`" not in table] == []


def test_every_key_of_a_template_has_its_line():
    table = PAGE.partition("| key | meaning |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == [*FORMS]


def test_every_provider_that_takes_a_key_is_named():
    assert [name for name in (*VARIABLES, *OPTIONAL_VARIABLES) if f"`{name}`" not in PAGE] == []
