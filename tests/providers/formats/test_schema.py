"""Schemas adapted for servers: closed, without bounds, strict where all properties are required."""

from antiphon.providers.formats.schema import close_schema, is_strict
from tests.fixtures.schemas import PERSON


def test_a_closed_schema_takes_no_other_properties_and_has_no_bounds():
    sent = close_schema(PERSON)

    assert sent["properties"]["name"] == {"type": "string"}
    assert sent["$defs"]["person"]["additionalProperties"] is False
    assert sent["required"] == ["name"]
    assert close_schema({"type": "object", "additionalProperties": {"type": "string"}}) == {
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    assert close_schema({"anyOf": [PERSON["properties"]["age"]], "enum": [{"minimum": 1}]}) == {
        "anyOf": [{"type": ["integer", "null"]}],
        "enum": [{"minimum": 1}],
    }


def test_a_property_may_be_called_like_a_keyword():
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}, "items": {"type": "string"}}}

    assert set(close_schema(schema)["properties"]) == {"pattern", "items"}


def test_strict_means_that_everything_is_required():
    assert is_strict({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    assert not is_strict(PERSON)
    assert not is_strict({"type": "array", "items": {"type": "object"}})
    assert not is_strict({"anyOf": [{"type": "object", "properties": {"a": {}}}]})
    assert not is_strict({"properties": {"a": {}}, "required": ["a"], "additionalProperties": True})


def test_an_object_that_may_be_null_is_closed_too():
    assert close_schema({"type": ["object", "null"], "properties": {}})["additionalProperties"] is False
