"""The page of the inspector: the options of its command are there."""

from pathlib import Path

from tests.fixtures.command import options_of, parser_of

PAGE = Path("docs/inspector.md").read_text(encoding="utf-8")


def test_the_options_of_the_command_are_on_the_page() -> None:
    options = options_of(parser_of("inspect")) - {"-h", "--help"}

    assert [option for option in options if f"| `{option}" not in PAGE] == []
