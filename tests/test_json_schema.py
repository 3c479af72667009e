"""Values are held to a JSON Schema: what is wrong is said with its place, and no schema can fetch, hang or crash."""

import json
import socket
import subprocess
import sys
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.agents.machine.version_1 import answer_schema
from antiphon.json_schema import MAX_DEPTH, MAX_PROBLEMS, Checker, SchemaError
from tests.fixtures.schemas import PERSON

TREE = {"properties": {"next": {"$ref": "#"}}, "items": {"$ref": "#"}}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "$ must be of type object, not []"),
        ({}, "$.name is missing"),
        ({"name": ""}, "$.name must have at least 1 characters, not 0"),
        ({"name": "ada"}, '$.name must match the pattern "^[A-Z]", not "ada"'),
        ({"name": "Adaaaaa"}, "$.name must have at most 5 characters, not 7"),
        ({"name": "Ada", "age": True}, "$.age must be of type null or integer, not true"),
        ({"name": "Ada", "age": 3.5}, "$.age must be of type null or integer, not 3.5"),
        ({"name": "Ada", "age": -1}, "$.age must be at least 0, not -1"),
        ({"name": "Ada", "age": 200}, "$.age must be less than 200, not 200"),
        ({"name": "Ada", "tags": ["c"]}, '$.tags[0] must be one of "a", "b", not "c"'),
        ({"name": "Ada", "tags": ["a", "a"]}, "$.tags must not repeat an item"),
        ({"name": "Ada", "tags": ["a", "b", "a"]}, "$.tags must have at most 2 items, not 3"),
        ({"name": "Ada", "friend": {"name": "Bob"}}, '$.friend.name must be "Eve", not "Bob"'),
        ({"name": "Ada", "an other": 1}, '$["an other"] is unknown; known: name, age, tags, friend'),
    ],
)
def test_a_problem_has_its_place_and_says_what_must_hold(value, problem):
    assert problem in Checker(PERSON).problems(value)


@pytest.mark.parametrize(
    "value",
    [
        {"name": "Ada"},
        {"name": "Ada", "age": None, "tags": ["a", "b"], "friend": {"name": "Eve", "other": 1}},
        {"name": "Ada", "age": 3.0},
    ],
)
def test_a_value_that_fits_has_no_problems(value):
    assert Checker(PERSON).problems(value) == []


@pytest.mark.parametrize(
    ("schema", "good", "bad", "problem"),
    [
        ({"enum": [1]}, 1, True, "$ must be one of 1, not true"),
        ({"multipleOf": 0.1}, 0.3, 0.35, "$ must be a multiple of 0.1, not 0.35"),
        ({"$ref": "#/anyOf/0", "anyOf": [{"type": "string"}]}, "a", 1, "$ matches none of the 1 `anyOf` schemas"),
        ({"patternProperties": {"^x": {"type": "string"}}}, {"xa": "1"}, {"xa": 1}, "$.xa must be of type string"),
        ({"if": {"type": "string"}, "then": {"minLength": 2}}, 1, "a", "$ must have at least 2 characters, not 1"),
        ({"contains": {"type": "string"}}, [1, "a"], [1], "$ has too few or too many items that match"),
        ({"dependentRequired": {"a": ["b"]}}, {"b": 1}, {"a": 1}, "$.b is missing"),
        ({"propertyNames": {"maxLength": 1}}, {"a": 1}, {"ab": 1}, 'the name "ab" in $ must have at most 1 characters'),
        ({"unevaluatedProperties": False, "properties": {"a": {}}}, {"a": 1}, {"b": 1}, "$.b is unknown; known: a"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None, 1, "$ matches none of the 2 `anyOf` schemas: $ must"),
        ({"oneOf": [{"type": "number"}, {"minimum": 5}]}, 4, 6, "$ matches 2 of the 2 `oneOf` schemas instead of one"),
        ({"oneOf": [{"required": ["a"]}]}, {"a": 1}, {}, "$ matches none of the 1 `oneOf` schemas: $.a is missing"),
        ({"allOf": [{"type": "number"}, {"minimum": 5}]}, 6, 4, "$ must be at least 5, not 4"),
        ({"not": {"type": "string"}}, 1, "1", '$ must not match the schema under `not`: {"type": "string"}'),
        ({"exclusiveMinimum": 0}, 1, 0, "$ must be more than 0, not 0"),
        ({"maximum": 0}, 0, 1, "$ must be at most 0, not 1"),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "number"}}, ["a", 1], [1, 1], "$[0] must be of type"),
        ({"prefixItems": [{}], "items": False}, [1], [1, 2], "$[1] is not allowed"),
        ({"prefixItems": [{}], "unevaluatedItems": False}, [1], [1, 2], "$ has items that no schema allows"),
        ({"additionalProperties": {"type": "number"}}, {"a": 1}, {"a": "1"}, "$.a must be of type number"),
        ({"additionalProperties": False}, {}, {"a": 1}, "$ must have no properties"),
        ({"minProperties": 1}, {"a": 1}, {}, "$ must have at least 1 properties, not 0"),
        ({"maxProperties": 0}, {}, {"a": 1}, "$ must have at most 0 properties, not 1"),
        ({"properties": {"a": False}}, {}, {"a": 1}, "$.a is not allowed"),
        ({"$ref": "#/definitions/x", "definitions": {"x": {"type": "array"}}}, [], {}, "$ must be of type array"),
        ({"type": "boolean"}, True, 1, "$ must be of type boolean, not 1"),
        ({"minItems": 1}, [1], [], "$ must have at least 1 items, not 0"),
        ({"const": "é"}, "é", "e", '$ must be "é", not "e"'),
        (MappingProxyType({"items": MappingProxyType({"type": "null"})}), [None], [1], "$[0] must be of type null"),
    ],
)
def test_keywords_ask_for_what_they_say(schema, good, bad, problem):
    checker = Checker(schema)

    assert checker.problems(good) == []
    assert checker.problems(bad)[0].startswith(problem)


def test_an_empty_schema_asks_for_nothing():
    assert Checker({}).problems({"a": [1]}) == []


def test_formats_are_remarks_in_every_draft():
    for draft in ("http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"):
        assert Checker({"$schema": draft, "format": "date"}).problems("today") == []


def test_the_first_few_problems_are_told_and_long_values_are_cut():
    problems = Checker({"items": {"type": "null"}}).problems(["x" * 1_000] * 100)

    assert len(problems) == MAX_PROBLEMS
    assert all(len(problem) < 150 for problem in problems)


def test_long_lists_of_choices_are_cut():
    names = [f"name {number}" for number in range(1_000)]
    closed = {"properties": {name: {} for name in names}, "additionalProperties": False}

    assert len(Checker({"enum": names}).problems(1)[0]) < 500
    assert len(Checker(closed).problems({"x": 1})[0]) < 500


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "strin"}, "$.type matches none of the 2 `anyOf` schemas: $.type must be one of"),
        ({"required": "a"}, '$.required must be of type array, not "a"'),
        ({"properties": {"a": {"pattern": "("}}}, "$.properties.a.pattern must be a regex without look"),
        ({"$ref": "#/nowhere"}, "into the schema itself: Pointer '/nowhere' does not exist"),
        ({"$schema": "https://schemas.invalid/mine"}, "Unknown meta-schema"),
        ({"const": "\ud800"}, "hex escape"),
        ({"const": {1}}, "{1} is not JSON"),
        ({"const": object}, "<class 'object'> is not JSON"),
        ([], "must be of type boolean or object"),
    ],
)
def test_an_invalid_schema_is_an_error_that_says_where(schema, problem):
    with pytest.raises(SchemaError) as caught:
        Checker(schema).problems(1)

    assert problem in str(caught.value)


def test_a_schema_that_is_nested_too_deep_is_an_error():
    schema = {"type": "string"}
    for _ in range(100_000):
        schema = {"items": schema}

    with pytest.raises(SchemaError, match="not valid"):
        Checker(schema).problems(1)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "{address}"},
        {"$dynamicRef": "{address}#x"},
        {"$id": "{address}", "$ref": "other"},
        {"$schema": "{address}"},
        {"properties": {"a": {"$ref": "{address}#/a"}}},
    ],
)
def test_nothing_is_fetched_from_an_address(schema):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
        with pytest.raises(SchemaError, match="nothing is fetched"):
            Checker(json.loads(json.dumps(schema).replace("{address}", address))).problems({"a": 1})

        with pytest.raises(BlockingIOError):
            listener.accept()


def test_no_file_is_read(tmp_path):
    path = tmp_path / "schema.json"
    path.write_text('{"type": "string"}')

    for reference in (path.as_uri(), str(path)):
        with pytest.raises(SchemaError, match="nothing is fetched"):
            Checker({"$ref": reference}).problems(1)


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "(a*)*b$", "^(a?){50}a{50}$"])
def test_a_pattern_takes_linear_time(pattern):
    """Backtracking would take longer than anyone waits."""
    assert len(Checker({"pattern": pattern}).problems("a" * 100_000 + "!")) == 1


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?!a)b", "(?<=a)b", r"(a+)\1"])
def test_a_pattern_that_cannot_run_in_linear_time_is_an_error(pattern):
    for schema in ({"pattern": pattern}, {"patternProperties": {pattern: {}}}):
        with pytest.raises(SchemaError, match="must be a regex without look-around and back-references"):
            Checker(schema).problems("a")


def test_a_value_that_is_nested_too_deep_does_not_fit():
    value = 1
    for _ in range(50_000):
        value = [value]

    assert Checker(TREE).problems(value) == [f"$ must not be nested deeper than {MAX_DEPTH} levels"]


def test_a_value_may_be_nested_deep():
    value = []
    for _ in range(MAX_DEPTH // 2 - 1):
        value = {"next": [value]}

    assert Checker(TREE).problems(value) == []


def test_half_a_surrogate_pair_is_a_character():
    assert Checker({"minLength": 2}).problems("\ud800") == ["$ must have at least 2 characters, not 1"]
    assert Checker({"maxLength": 1}).problems("\ud800") == []


def test_without_the_package_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)

    with pytest.raises(SchemaError, match=r"antiphon\[models\]"):
        Checker({}).problems(1)


def test_the_package_is_loaded_by_the_first_check_only():
    script = (
        "import sys, antiphon.providers.structured, antiphon.tools.toolbox\n"
        "from antiphon.json_schema import Checker\n"
        "checker = Checker({}); print('jsonschema_rs' in sys.modules)\n"
        "checker.problems(1); print('jsonschema_rs' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout

    assert printed.split() == ["False", "True"]


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "abc"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
)
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["object", "array", "string", "integer", "number", "boolean", "null"]),
            "minimum": st.integers(-1, 1),
            "maxLength": st.integers(0, 2),
            "minItems": st.integers(0, 2),
            "required": st.lists(st.sampled_from("ab"), unique=True),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "items": inner,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_the_checker_of_machines_agrees_on_plain_schemas(schema, value):
    assert (answer_schema.problems(value, schema) == []) == (Checker(schema).problems(value) == [])
