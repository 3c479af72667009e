"""The page on runs has a line for every option, command, mark, key and kind, and says what the code does."""

import re
from pathlib import Path

import pytest

from antiphon.agents.machine import reports
from antiphon.cli.permission_prompt import SCOPE_KEYS
from antiphon.cli.run.dashboard import MARKS
from antiphon.threads.consent import TIMEOUT_MS
from antiphon.threads.machine.permission_rules import MODES
from tests.fixtures.charts import load_chart
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "runs.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `")]


def test_every_option_of_run_has_its_line():
    told = {word for row in ROWS for word in re.findall(r"`(-[\w-]*)`", row.split(" | ")[0])}

    assert options_of(parser_of("run")) - told == set()
    assert options_of(parser_of("trust")) - told == set()


@pytest.mark.parametrize(("name", "heading"), [("agents", "## Agents"), ("runs", "## Stored runs")])
def test_every_command_and_option_is_named(name, heading):
    commands = subparsers(parser_of(name))
    table = PAGE.partition(heading)[2]
    options = {option for parser in commands.values() for option in options_of(parser)}

    assert [name for name in commands if not re.search(rf"`{name}[ `]", table)] == []
    assert [option for option in options - {"-h", "--help"} if f"`{option}`" not in table] == []


@pytest.mark.parametrize("name", ["agents", "run", "runs", "trust"])
def test_the_help_has_examples(name):
    help = parser_of(name).format_help()
    examples = [line.strip() for line in help.partition("examples:")[2].splitlines() if "antiphon " in line]

    assert len(examples) >= 3


def test_every_kind_of_activity_has_its_line():
    source = Path(reports.__file__).read_text("utf-8")
    orchestrator = Path(reports.__file__).with_name("orchestrator.py").read_text("utf-8")
    kinds = set(re.findall(r'line\(\s*"(\w+)"', source + orchestrator))
    kinds |= set(re.findall(r'"type": "([a-z_]+)"', source + orchestrator)) - {"silent"}
    kinds |= {"text", "thinking", "tool_ended", "status"}
    told = {kind for row in ROWS for kind in re.findall(r"`(\w+)`", row.split(" | ")[0])}

    assert len(kinds) > 15
    assert kinds - told == set()


def test_every_mark_mode_and_key_is_explained():
    keys = ["a", *SCOPE_KEYS.values(), "o", "d", "e"]

    assert [one for one in (*MARKS.values(), *keys, *MODES) if f"| `{one}` | " not in PAGE] == []


def test_the_limits_are_those_of_the_machine():
    context = load_chart("orchestrator")["context"]

    assert f"maximum turns of agents: {context['maxIterations']}" in PAGE
    assert f"maximum failures in a row: {context['maxFailures']}" in PAGE
    assert (TIMEOUT_MS, "within five minutes" in PAGE) == (300_000, True)
