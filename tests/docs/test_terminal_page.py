"""The page on many terminals has every option, key and exit code of the commands that it describes."""

import re

import pytest

from antiphon.cli.frame import EXIT_CODES, TRACEBACK
from antiphon.cli.input.watching import LEAVE, STOP
from antiphon.cli.ps import HEADINGS
from tests.fixtures.command import options_of, parser_of
from tests.paths import DOCS

PAGE = (DOCS / "terminal.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["ps", "attach", "resume"])
def test_every_option_is_named(command: str) -> None:
    assert [option for option in options_of(parser_of(command)) - {"-h", "--help"} if f"`{option}`" not in PAGE] == []


def test_the_exit_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", PAGE.partition("## Exit codes")[2], re.MULTILINE)

    assert {int(code): text for code, text in rows} == EXIT_CODES


@pytest.mark.parametrize("page", ["chat.md", "runs.md", "debates.md"])
def test_other_pages_use_these_codes_alone(page: str) -> None:
    table = (DOCS / page).read_text(encoding="utf-8").partition("| exit code | means |")[2].partition("\n\n")[0]
    codes = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}

    assert codes
    assert codes <= set(EXIT_CODES)


def test_keys_headings_and_the_variable_are_named() -> None:
    assert f"`{LEAVE[0]}`, Ctrl-D, Ctrl-C" in PAGE
    assert f"| `{STOP}` | stops it |" in PAGE
    assert [heading for heading in HEADINGS if heading not in PAGE] == []
    assert f"`{TRACEBACK}=1`" in PAGE
