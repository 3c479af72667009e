"""Type hints become JSON Schemas, and values that fit them are read as the hinted types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any, Literal, NotRequired, Optional, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.json_schema import Checker
from antiphon.tools.hints import BadHint, Mismatch, compile_hint


class Unit(Enum):
    C = "celsius"
    F = "fahrenheit"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Options(TypedDict):
    deep: bool
    tags: NotRequired[list[str]]


class Loose(TypedDict, total=False):
    note: str


@dataclass
class Place:
    city: str
    zip: int | None = None
    unit: Unit = Unit.C
    tags: list[str] = field(default_factory=list)
    id: int = field(default=0, init=False)


@dataclass
class Node:
    next: "Node | None" = None


OPTIONS = {
    "type": "object",
    "properties": {"deep": {"type": "boolean"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["deep"],
    "additionalProperties": False,
}
SCHEMAS: list[tuple[Any, Any]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, {"type": "null"}),
    (Any, {}),
    (str | None, {"anyOf": [{"type": "string"}, {"type": "null"}]}),
    (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
    (Literal["a", 1, None], {"enum": ["a", 1, None]}),
    (Unit, {"enum": ["celsius", "fahrenheit"]}),
    (Level, {"enum": [1, 2]}),
    (list[int], {"type": "array", "items": {"type": "integer"}}),
    (Sequence[int], {"type": "array", "items": {"type": "integer"}}),
    (list, {"type": "array", "items": {}}),
    (dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
    (Mapping[str, Any], {"type": "object", "additionalProperties": {}}),
    (dict, {"type": "object", "additionalProperties": {}}),
    (Annotated[str, "a city"], {"type": "string", "description": "a city"}),
    (Annotated[str, {"not": "hashable"}], {"type": "string"}),
    (Options, OPTIONS),
    (
        Loose,
        {"type": "object", "properties": {"note": {"type": "string"}}, "required": [], "additionalProperties": False},
    ),
    (
        Place,
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "zip": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "unit": {"enum": ["celsius", "fahrenheit"], "default": "celsius"},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    ),
]


@pytest.mark.parametrize(("hint", "schema"), SCHEMAS, ids=[str(hint) for hint, _ in SCHEMAS])
def test_a_hint_has_its_schema(hint: Any, schema: Any) -> None:
    assert compile_hint(hint).schema == schema


READINGS: list[tuple[Any, Any, Any]] = [
    (float, 3, 3.0),
    (Unit, "fahrenheit", Unit.F),
    (Level, 2, Level.HIGH),
    (list[Unit], ["celsius"], [Unit.C]),
    (dict[str, Unit], {"a": "celsius"}, {"a": Unit.C}),
    (Place, {"city": "Bern"}, Place("Bern")),
    (Place, {"city": "Bern", "zip": 3000, "unit": "fahrenheit"}, Place("Bern", 3000, Unit.F)),
    (Place | None, None, None),
    (int | Place, {"city": "Bern"}, Place("Bern")),
    (list[Place] | Place, [{"city": "Bern"}], [Place("Bern")]),
    (Options, {"deep": True}, {"deep": True}),
    (bool | int, 1, 1),
    (int | bool, True, True),
]


@pytest.mark.parametrize(("hint", "value", "expected"), READINGS)
def test_a_value_is_read_as_its_type(hint: Any, value: Any, expected: Any) -> None:
    read = compile_hint(hint).read(value)

    assert (read, type(read)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, True),
        (int, 1.5),
        (str, 1),
        (float, True),
        (bool, 1),
        (Literal[1], True),
        (list[int], ["a"]),
        (dict[str, int], {"a": "b"}),
        (Place, {"zip": 1}),
        (Place, {"city": "Bern", "land": "CH"}),
        (Options, []),
        (int | str, None),
    ],
)
def test_a_value_of_another_type_does_not_fit(hint: Any, value: Any) -> None:
    with pytest.raises(Mismatch):
        compile_hint(hint).read(value)


@pytest.mark.parametrize(
    ("hint", "reason"),
    [
        (set[int], "has no JSON Schema; use str"),
        (bytes, "has no JSON Schema"),
        (complex | None, "has no JSON Schema"),
        (dict[int, str], "the keys of a dict must be str"),
        (Literal[b"a"], "can be chosen from"),
        (Enum("Empty", []), "has no members"),
        (Node, "contains itself"),
    ],
)
def test_a_hint_without_a_schema_is_refused(hint: Any, reason: str) -> None:
    with pytest.raises(BadHint, match=reason):
        compile_hint(hint)


SCALARS = st.sampled_from([str, int, float, bool, type(None), Unit, Literal["a", 2]])
HINTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(lambda hint: list[hint]),  # type: ignore[valid-type]
        inner.map(lambda hint: dict[str, hint]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1] if pair[0] != Literal["a", 2] else pair[0]),
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.sampled_from(["a", "celsius", "x", 1.5, 2])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=4,
)


@given(HINTS, VALUES)
def test_reading_accepts_the_values_that_the_schema_accepts(hint: Any, value: Any) -> None:
    compiled = compile_hint(hint)
    is_valid = not Checker(compiled.schema).problems(value)
    try:
        compiled.read(value)
        is_read = True
    except Mismatch:
        is_read = False

    assert is_read == is_valid
