"""JSON is found in what a model said, whatever words are around it, in time linear in the text."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.answers import find_json, json_values

SIZE = 1_000_000
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
WORDS = st.text(st.characters(exclude_characters="{}[]"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1]", [1]),
        (' {"a": 1} ', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ('I say {"a": {"b": 2}} to that', {"a": {"b": 2}}),
        ("it is [1, 2]!", [1, 2]),
        ("7", 7),
    ],
)
def test_json_is_found_between_words(text, value):
    assert find_json(text) == value


@pytest.mark.parametrize("text", ["", "none at all", "{broken", "} {"])
def test_no_json_is_an_error(text):
    with pytest.raises(ValueError):
        find_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('Decision: {"type": "RETRY"} because {x} failed', {"type": "RETRY"}),
        ('As [1] says: {"a": 1}', {"a": 1}),
        ('Not {}, but {"a": 1}.', {"a": 1}),
        ('{"a": 1} is shorter than {"a": 1, "b": 2}', {"a": 1, "b": 2}),
        ('The numbers [1, 2, 3, 4, 5] give {"a": 1}', {"a": 1}),
        ('All of them: [{"a": 1}, {"b": 2}].', [{"a": 1}, {"b": 2}]),
        ('[Note 1: the answer is {"a": 1}]', {"a": 1}),
        ('In a template: {{"a": 1}}', {"a": 1}),
        ('{"a": "} {"} stands } alone {', {"a": "} {"}),
        ('```json\n{"code": "```x```"}\n```', {"code": "```x```"}),
        ('{"a": 1}\n```\n{"b": 2}\n```', {"b": 2}),
        ("```\n7\n```", 7),
        ("```python\n{}\n```\n[1, 2]", {}),
        (f"{'[' * 5_000}{']' * 5_000} {{}}", {}),
        (f"[{'1' * 5_000}] or [2]", [2]),
    ],
)
def test_the_likeliest_value_is_found_first(text, value):
    assert find_json(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "RETRY", reason: "x", "fallback": {"type": "COMPLETE"}}',
        '{"steps": [{"id": 1}, {"id": 2}], "why": "cut of',
        '[{"id": 1,}, {"id": 2}]',
    ],
)
def test_parts_of_a_broken_value_are_no_answers(text):
    with pytest.raises(ValueError, match="no JSON"):
        find_json(text)


def test_every_value_can_be_tried():
    assert list(json_values('Either [1], {"a": 1} or {"bb": 2}')) == [{"bb": 2}, {"a": 1}, [1]]


@given(WORDS, st.dictionaries(st.text(), JSON, max_size=4), WORDS)
@example('"', {"a": '"'}, '"')
@example("0", {}, "")
@example("```\n7\n```", {}, "```\n")
def test_an_object_among_words_without_brackets_is_found(before, value, after):
    assert find_json(f"{before} {json.dumps(value)} {after}") == value


@given(st.text(st.sampled_from('{}[]",:`\n\\1ae ')))
def test_any_text_gives_values_or_none(text):
    values = list(json_values(text))

    assert all(json.loads(json.dumps(value)) == value for value in values)


@pytest.mark.parametrize(
    "piece",
    ["{", "[", '{"', '["', "[1 ", "[1,", '{"a":', '{"a":{},', f"[{'0,' * 500}", "[1 x]", "```\n", '["\\', "[" * 2_000],
)
def test_a_megabyte_of_beginnings_is_read_in_linear_time(piece):
    """Quadratic time would be minutes, where this is a fraction of a second."""
    with pytest.raises(ValueError, match="no JSON"):
        find_json(piece * (SIZE // len(piece)))


def test_a_code_block_that_never_ends_is_read_in_linear_time():
    with pytest.raises(ValueError, match="no JSON"):
        find_json("```" + "\n" * SIZE)
