"""Answers of agents are held against a schema, and the complaint says where."""

import pytest

from antiphon.agents.machine.version_1.answer_schema import problems
from tests.fixtures.schemas import PERSON


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"name": "Ada"}, None),
        ({"name": "Ada", "age": None, "tags": ["a", "b"], "friend": {"name": "Eve", "other": 1}}, None),
        ({"name": "Ada", "age": 3.0}, None),
        ([], "$ is not of type object"),
        ({}, "$ lacks 'name'"),
        ({"name": ""}, "$.name has 0 characters"),
        ({"name": "ada"}, "$.name does not match"),
        ({"name": "Adaaaaa"}, "$.name has 7 characters"),
        ({"name": "Ada", "age": True}, "$.age is not of type"),
        ({"name": "Ada", "age": 3.5}, "$.age is not of type"),
        ({"name": "Ada", "age": -1}, "$.age is out of range"),
        ({"name": "Ada", "age": 200}, "$.age is out of range"),
        ({"name": "Ada", "tags": ["c"]}, "$.tags[0] is none of"),
        ({"name": "Ada", "tags": ["a", "a"]}, "$.tags repeats"),
        ({"name": "Ada", "tags": ["a", "b", "a"]}, "$.tags has 3 items"),
        ({"name": "Ada", "friend": {"name": "Bob"}}, "$.friend.name is not 'Eve'"),
        ({"name": "Ada", "other": 1}, "$ has 'other'"),
    ],
)
def test_a_value_fits_or_the_first_problem_says_where_not(value, place):
    found = problems(value, PERSON)

    assert found == [] if place is None else found[0].startswith(place)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1),
        ({"oneOf": [{"type": "number"}, {"minimum": 5}]}, 4, 6),
        ({"allOf": [{"type": "number"}, {"minimum": 5}]}, 6, 4),
        ({"not": {"type": "string"}}, 1, "1"),
        ({"multipleOf": 3}, 9, 10),
        ({"exclusiveMinimum": 0}, 1, 0),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "number"}}, ["a", 1], [1, 1]),
        ({"additionalProperties": {"type": "number"}}, {"a": 1}, {"a": "1"}),
        ({"minProperties": 1}, {"a": 1}, {}),
        ({"properties": {"a": False}}, {}, {"a": 1}),
        ({"$ref": "#/definitions/x", "definitions": {"x": {"type": "array"}}}, [], {}),
        ({"type": "boolean"}, True, 1),
        ({"minItems": 1}, [1], []),
    ],
)
def test_keywords_ask_for_what_they_say(schema, good, bad):
    assert problems(good, schema) == []
    assert problems(bad, schema) != []


def test_an_empty_schema_asks_for_nothing():
    assert problems({"a": [1]}, {}) == []
