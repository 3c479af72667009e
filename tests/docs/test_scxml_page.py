"""The page on SCXML: its table of the suite, its limits, and the options of its command."""

import re
from collections import Counter

from antiphon.cli.chart.converting import SUFFIXES
from antiphon.scxml.budget import LONGEST_S, MOST_CHARACTERS, MOST_EVALUATIONS
from antiphon.scxml.realm import MEMORY_LIMIT, STACK_LIMIT, TIME_LIMIT_S
from antiphon.scxml.xml import DEEPEST_ELEMENT, LARGEST_DOCUMENT, LARGEST_TREE, MOST_ELEMENTS
from tests.fixtures.command import antiphon
from tests.paths import ROOT
from tests.scxml.suite import names

PAGE = (ROOT / "docs" / "scxml.md").read_text(encoding="utf-8")


def test_the_table_has_every_group_of_the_suite():
    groups = Counter(name.partition("/")[0] for name in names())
    rows = [f"| {group} | {count} | {count} | {count} |" for group, count in sorted(groups.items())]

    # That all pass is a test of the suite (tests/scxml/test_suite.py).
    assert re.findall(r"^\| [\w+-]+ \| \d+ \| \d+ \| \d+ \|$", PAGE, re.MULTILINE) == [
        *rows,
        "| all | 316 | 316 | 316 |",
    ]


def test_the_limits_are_those_of_the_code():
    assert f"after {TIME_LIMIT_S} s of computing, {MEMORY_LIMIT // 2**20} MB of memory" in PAGE
    assert f"{STACK_LIMIT // 2**10} KB of stack" in PAGE
    assert f"{LARGEST_DOCUMENT // 2**20} MB and {DEEPEST_ELEMENT} levels" in PAGE
    assert f"at most {MOST_ELEMENTS:,} elements" in PAGE
    assert f"at most {LARGEST_TREE:,} characters together" in PAGE
    assert f"{MOST_EVALUATIONS:,} evaluations" in PAGE
    assert f"{LONGEST_S} s of computing and {MOST_CHARACTERS:,} characters" in PAGE


def test_the_options_of_the_command_are_described():
    help = antiphon("chart", "convert", "--help").stdout
    options = set(re.findall(r"--[a-z]+", help)) - {"--help"}

    assert [option for option in options if option not in PAGE] == []
    assert [suffix for suffix in SUFFIXES if f"`{suffix}`" not in PAGE] == []
