"""Every tool has a name that providers take, and no two have the same."""

import re

from hypothesis import given
from hypothesis import strategies as st

from antiphon.tools.mcp.names import qualified_names

SERVERS = st.sampled_from(["a", "a_b", "a-b", "A", "files", "web-search_2", "x" * 32])
TOOLS = st.text(st.sampled_from("ab_-. ü🙂"), max_size=5) | st.text(max_size=80)
PAIRS = st.lists(st.tuples(SERVERS, TOOLS), max_size=12, unique=True)


def test_a_plain_name_is_kept():
    assert qualified_names([("files", "read_file")]) == {("files", "read_file"): "files__read_file"}


def test_of_names_that_become_alike_the_plain_one_is_kept():
    names = qualified_names([("a", "x.y"), ("a", "x_y"), ("a", "x y")])

    assert names["a", "x_y"] == "a__x_y"
    assert len(set(names.values())) == 3
    assert all(name.startswith("a__x_y") for name in names.values())


def test_a_long_name_is_cut_and_marked():
    names = qualified_names([("a", "x" * 100), ("a", "x" * 101)])

    assert {len(name) for name in names.values()} == {64}
    assert len(set(names.values())) == 2


@given(PAIRS)
def test_names_are_accepted_everywhere_unlike_each_other_and_independent_of_the_order(pairs):
    names = qualified_names(pairs)

    assert all(re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}", name) for name in names.values())
    assert len(set(names.values())) == len(pairs)
    assert qualified_names(reversed(pairs)) == names
