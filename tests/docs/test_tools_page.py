"""The page of tools has every option of `antiphon chart`."""

import pytest

from antiphon.cli.chart.drawing import FORMATS
from tests.fixtures.command import options_of, parser_of, subparsers
from tests.paths import DOCS

PAGE = (DOCS / "tools.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(subparsers(parser_of("chart"))))
def test_every_option_is_named(name):
    options = options_of(subparsers(parser_of("chart"))[name]) - {"-h", "--help"}

    assert f"antiphon chart {name}" in PAGE
    assert [option for option in sorted(options) if f"`{option}" not in PAGE] == []


def test_every_format_of_drawings_has_its_line():
    rows = [line for line in PAGE.splitlines() if line.startswith("| `")]

    assert [form for form in FORMATS if not any(f"`{form}`" in row.split("|")[1] for row in rows)] == []
