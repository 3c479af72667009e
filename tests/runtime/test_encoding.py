"""Values as JSON text: the same, whoever writes it."""

import json
import re
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from uuid import UUID

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.chart.codecs import TAG
from antiphon.runtime import encoding
from antiphon.runtime.encoding import Encoded, decode, encode, encode_body, encode_in_python, encode_json
from antiphon.runtime.errors import Undecodable, Unstorable

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


@pytest.mark.parametrize("value", [2**70, "\ud800"])
def test_what_orjson_refuses_is_written_by_python(value):
    assert encode(value) == encode_in_python(value)


def test_a_value_may_be_nested_as_deeply_as_python_can_follow():
    value = []
    for _ in range(500):
        value = [value]
    assert encode(value) == encode_in_python(value)


class Shade(Enum):
    DARK = 1


class Rank(IntEnum):
    LOW = 1


NOT_JSON = [
    (object(), "value.inside: a object is not JSON"),
    ({1, 2}, "value.inside: a set is not JSON"),
    (b"bytes", "value.inside: a bytes is not JSON"),
    (Point(1), "value.inside: a Point is not JSON"),
    (Shade.DARK, "value.inside: a Shade is not JSON"),
    (float("nan"), "value.inside: nan is not JSON"),
    ([1.5, float("-inf")], r"value.inside\[1\]: -inf is not JSON"),
    ({1: "one"}, "value.inside: the key 1 is not a string"),
    ({(1, 2): 3}, r"value.inside: the key \(1, 2\) is not a string"),
    ({None: 3}, "value.inside: the key None is not a string"),
]


@pytest.fixture(params=["orjson", "python"])
def write(request, monkeypatch):
    """Encode with orjson, and without."""
    if request.param == "python":
        monkeypatch.setattr(encoding, "_encode_fast", encode_in_python)
    return encode


@pytest.mark.parametrize(("value", "problem"), NOT_JSON)
def test_values_that_are_not_json_are_refused_with_their_path(value, problem, write):
    with pytest.raises(Unstorable, match=problem):
        write({"inside": value})


@pytest.mark.parametrize("place", ["event", "emitted"])
@pytest.mark.parametrize(("value", "problem"), NOT_JSON)
def test_no_record_holds_values_that_are_not_json(value, problem, place, write):
    with pytest.raises(Unstorable, match=problem.replace("value.inside", f"record.{place}")):
        encode_body({"event": {"type": "E"}, place: value})


def test_values_with_codecs_are_read_back(write):
    value = {"at": datetime(2026, 1, 1, tzinfo=UTC), "id": UUID(int=7), TAG: {"n": [Decimal("1.0")]}, "rank": Rank.LOW}

    assert decode(write(value)) == value
    assert repr(decode(write(value))["rank"]) == "1"  # an IntEnum is an integer unless it has a codec


def test_the_stored_form_is_written_as_it_is(write):
    stored = {"at": {TAG: "date", "value": "2026-01-02"}}

    assert json.loads(encode_json(stored)) == stored
    assert decode(encode_json(stored)) == {"at": date(2026, 1, 2)}


@pytest.mark.parametrize("value", [UUID(int=7), Rank.LOW, Shade.DARK, float("nan"), {1: 2}, (1,), object()])
def test_only_the_stored_form_is_written_as_it_is(value, write):
    with pytest.raises(Unstorable, match="not JSON"):
        encode_json({"inside": [value]})


def test_a_text_with_an_unknown_tag_is_reported():
    with pytest.raises(Undecodable, match="no codec has the tag 'nobody'"):
        decode(f'[{{"{TAG}": "nobody", "value": 1}}]')


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


def test_white_space_around_a_stored_text_is_ignored():
    assert decode(' {"a": 1}\n') == {"a": 1}


@pytest.mark.parametrize("text", ["", '{"a": 1', '{"a": 1} 2', "nothing"])
def test_a_text_that_is_not_json_cannot_be_decoded(text):
    with pytest.raises(ValueError, match="line 1"):
        decode(text)
