"""Values as JSON text: the same, whoever writes it."""

import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.runtime import encoding
from antiphon.runtime.encoding import Encoded, encode, encode_in_python
from antiphon.runtime.errors import Unstorable

texts = st.text(st.characters(codec=None), max_size=8)  # lone surrogates included
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


@dataclass
class Point:
    x: int


@given(values)
def test_a_value_is_the_same_after_it_was_written_with_orjson_or_without(value):
    assert json.loads(encode(value)) == json.loads(encode_in_python(value)) == value


@given(values)
@example(6.103515625e-05)  # which the two write differently
def test_what_is_written_can_be_stored_and_has_no_room_in_it(value):
    text = encode([value])
    text.encode()
    assert re.search(r"\s", STRING.sub("", text)) is None


@pytest.mark.parametrize("value", [2**70, "\ud800", {1: "one"}])
def test_what_orjson_refuses_is_written_by_python(value):
    assert encode(value) == encode_in_python(value)


def test_a_value_may_be_nested_as_deeply_as_python_can_follow():
    value = []
    for _ in range(500):
        value = [value]
    assert encode(value) == encode_in_python(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", Point(1), datetime.now(UTC), {(1, 2): 3}])
@pytest.mark.parametrize("write", [encode, encode_in_python])
def test_what_is_not_json_is_refused_by_both(value, write):
    with pytest.raises(Unstorable, match="not JSON"):
        write({"inside": value})


def test_what_holds_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(Unstorable, match="recursion"):
        encode(value)


def test_text_that_is_json_already_is_not_written_again():
    assert encode(Encoded('{"a": 1}')) == '{"a": 1}'


def test_without_orjson_python_writes_everything(monkeypatch):
    monkeypatch.setitem(sys.modules, "orjson", None)  # as if it were not installed
    assert encoding._fastest_encoder() is encode_in_python
