"""Arguments as a text that a person edits: what is not changed comes back as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli.argument_edits import BadArguments, format_arguments, parse_arguments

NAMES = st.from_regex(r"[a-z_]{1,8}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=40)
LINES = st.lists(st.sampled_from(["=== a", "=== b", "==== a", "x", ""]), max_size=4).map("\n".join)
VALUES = TEXTS | LINES | st.integers() | st.booleans() | st.none() | st.lists(TEXTS, max_size=3)


@given(st.dictionaries(NAMES | st.sampled_from("ab"), VALUES, min_size=1, max_size=4))
def test_arguments_that_are_not_changed_come_back_as_they_were(arguments):
    assert parse_arguments(format_arguments(arguments), arguments) == arguments


def test_a_text_is_edited_as_it_is_and_other_values_as_json():
    original = {"content": "one\ntwo", "append": False}
    text = format_arguments(original)

    assert text == "=== content\none\ntwo\n=== append\nfalse\n"
    assert parse_arguments(text.replace("two", "3").replace("false", "true"), original) == {
        "content": "one\n3",
        "append": True,
    }


def test_a_value_that_is_not_json_is_named():
    with pytest.raises(BadArguments, match="append must be JSON"):
        parse_arguments("=== append\nperhaps\n", {"append": False})
