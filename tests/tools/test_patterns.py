"""Patterns of tools, calls and commands mean the same everywhere."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.tools.patterns import escape_pattern, matches


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("git *", "git status", True),
        ("git *", "git", False),
        ("*", "", True),
        ("mcp_*", "mcp_x_y", True),
        (r"ls \*", "ls *", True),
        (r"ls \*", "ls a", False),
        ("ls ?", "ls a", False),
        ("ls [ab]", "ls a", False),
        ("ls [ab]", "ls [ab]", True),
        ("git *", "git log\n--all", True),
    ],
)
def test_a_star_means_anything_and_everything_else_itself(pattern, text, expected):
    assert matches(pattern, text) is expected


@pytest.mark.parametrize("second", ["; rm a", " && rm a", " | sh", " > f", " $(rm a)", " `rm a`", "\nrm a", " & rm a"])
def test_a_careful_pattern_reaches_over_no_second_command(second):
    assert matches("git *", f"git log{second}")
    assert not matches("git *", f"git log{second}", careful=True)


@given(st.text(), st.text())
@example("a*", "ab")
@example("\\*", "\\b")
def test_a_quoted_text_means_itself_and_nothing_else(text, other):
    assert matches(escape_pattern(text), text, careful=True)
    assert matches(escape_pattern(text), other) is (text == other)
