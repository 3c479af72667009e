"""The page on the terminal has a line for every command, option and kind, and says what the code does."""

import re

import pytest

from antiphon.cli.chat.slash_commands import COMMANDS
from antiphon.cli.config.model_options import OPTIONS
from antiphon.cli.default_model import DEFAULTS, LOCAL, SCRIPTED
from antiphon.threads.machine.permission_rules import MODES
from tests.fixtures.charts import load_chart
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.paths import DOCS

PAGE = (DOCS / "chat.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_line_in_the_words_of_the_code(name):
    found = COMMANDS[name]

    assert f"| `{found.usage.replace('|', chr(92) + '|')}` | {found.help} |" in ROWS


def test_every_option_of_chat_has_its_line():
    told = {word for row in ROWS for word in re.findall(r"`(-[\w-]*)", row.split(" | ")[0])}

    assert options_of(parser_of("chat")) - told == set()


def test_every_option_of_the_model_has_its_line():
    forms = {name: form for name, (_, _, form) in OPTIONS.items()}

    assert [
        name for name, form in forms.items() if not any(row.startswith(f"| `{name}` | {form}") for row in ROWS)
    ] == []


def test_every_command_and_option_of_threads_is_named():
    commands = subparsers(parser_of("threads"))
    table = PAGE.partition("## Manage conversations")[2]
    options = {option for parser in commands.values() for option in options_of(parser)}

    assert [name for name in commands if not re.search(rf"`{name}[ `]", table)] == []
    assert [option for option in options - {"-h", "--help"} if f"`{option}`" not in table] == []


def test_every_kind_of_activity_has_its_line():
    emitted = set(re.findall(r"'event': '(\w+)'", str(load_chart("flow"))))
    read = {"text", "thinking", "tool_called", "tool_ended", "usage", "retrying", "replied", "status"}

    assert [kind for kind in sorted(emitted | read) if f"`{kind}`" not in PAGE] == []


def test_the_models_that_answer_by_themselves_and_the_modes_are_named():
    references = [f"{provider}:{name}" for provider, name in DEFAULTS.items()]

    assert [name for name in (*references, LOCAL, SCRIPTED, *MODES) if f"`{name}`" not in PAGE] == []
