"""The page on the terminal has a line for every command, option and kind, and says what the code does."""

import argparse
import re
from typing import get_args

import pytest

from antiphon.chat.activity import Kind
from antiphon.cli import threads
from antiphon.cli.chat import command as chat
from antiphon.cli.chat.slash_commands import COMMANDS
from antiphon.cli.default_model import DEFAULTS, LOCAL, SCRIPTED
from antiphon.threads.machine.permission_rules import MODES
from tests.paths import DOCS

PAGE = (DOCS / "chat.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_line_in_the_words_of_the_code(name):
    found = COMMANDS[name]

    assert f"| `{found.usage.replace('|', chr(92) + '|')}` | {found.about} |" in ROWS


def test_every_option_of_chat_has_its_line():
    options = {option for action in chat.parser()._actions for option in action.option_strings}
    told = {word for row in ROWS for word in re.findall(r"`(-[\w-]*)", row.split(" | ")[0])}

    assert options - told == set()


def test_every_command_and_option_of_threads_is_named():
    (commands,) = [a for a in threads.parser()._actions if isinstance(a, argparse._SubParsersAction)]
    table = PAGE.partition("## Conversations that were had")[2]
    options = {o for sub in commands.choices.values() for a in sub._actions for o in a.option_strings}

    assert [name for name in commands.choices if not re.search(rf"`{name}[ `]", table)] == []
    assert [option for option in options - {"-h", "--help"} if f"`{option}`" not in table] == []


def test_every_kind_of_happening_has_its_line():
    # Nothing in the journal says when a tool starts; its end is told.
    assert [kind for kind in get_args(Kind) if kind != "tool_started" and f"`{kind}`" not in PAGE] == []


def test_the_models_that_answer_by_themselves_and_the_modes_are_named():
    references = [f"{provider}:{name}" for provider, name in DEFAULTS.items()]

    assert [name for name in (*references, LOCAL, SCRIPTED, *MODES) if f"`{name}`" not in PAGE] == []
