"""Schemas as servers take them: closed, without bounds, strict where everything is required."""

from antiphon.providers.formats.schema import closed, is_strict
from tests.fixtures.schemas import PERSON


def test_a_closed_schema_takes_no_other_properties_and_has_no_bounds():
    sent = closed(PERSON)

    assert sent["properties"]["name"] == {"type": "string"}
    assert sent["$defs"]["person"]["additionalProperties"] is False
    assert sent["required"] == ["name"]
    assert closed({"type": "object", "additionalProperties": {"type": "string"}}) == {
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    assert closed({"anyOf": [PERSON["properties"]["age"]], "enum": [{"minimum": 1}]}) == {
        "anyOf": [{"type": ["integer", "null"]}],
        "enum": [{"minimum": 1}],
    }


def test_a_property_may_be_called_like_a_keyword():
    schema = {"type": "object", "properties": {"pattern": {"type": "string"}, "items": {"type": "string"}}}

    assert set(closed(schema)["properties"]) == {"pattern", "items"}


def test_strict_means_that_everything_is_required():
    assert is_strict({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
    assert not is_strict(PERSON)
    assert not is_strict({"type": "array", "items": {"type": "object"}})
    assert not is_strict({"anyOf": [{"type": "object", "properties": {"a": {}}}]})
    assert not is_strict({"properties": {"a": {}}, "required": ["a"], "additionalProperties": True})


def test_an_object_that_may_be_null_is_closed_too():
    assert closed({"type": ["object", "null"], "properties": {}})["additionalProperties"] is False
