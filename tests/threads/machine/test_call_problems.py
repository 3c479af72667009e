"""Problems of calls: what is known to be wrong before a tool is called."""

import pytest

from antiphon.threads.machine.call_problems import problem_with_call

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS = {"read": {"name": "read", "parameters": SCHEMA}, "now": {"name": "now"}}


def problem(name, arguments):
    return problem_with_call({"id": "c1", "name": name, "arguments": arguments}, TOOLS)


@pytest.mark.parametrize(
    ("name", "arguments"), [("read", '{"path": "a"}'), ("read", {"path": "a"}), ("now", ""), ("now", '{"any": 1}')]
)
def test_a_call_that_can_be_made_has_no_problem(name, arguments):
    assert problem(name, arguments) is None


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("reed", "{}", "There is no tool 'reed'."),
        ("read", '{"path": ', "The arguments of read are not a JSON object."),
        ("read", '["a"]', "The arguments of read are not a JSON object."),
        ("read", "[" * 100_000, "The arguments of read are not a JSON object."),
        ("read", "{}", "The arguments of read are not valid: $.path is missing."),
        ("read", '{"path": "a", "x": 1}', "The arguments of read are not valid: $.x is unknown; known: path."),
        ("read", '{"path": 5}', "The arguments of read are not valid: $.path must be of type string."),
    ],
)
def test_a_problem_is_told_in_words_for_the_model(name, arguments, text):
    assert problem(name, arguments) == text


@pytest.mark.parametrize(
    ("type", "value", "fits"),
    [
        ("number", "1.5", True),
        ("integer", "3.0", True),
        ("integer", "true", False),
        ("boolean", "true", True),
        ("array", "{}", False),
        ("object", "{}", True),
        (["string", "null"], "5", True),
        ("null", "5", True),
    ],
)
def test_types_with_one_simple_name_are_checked(type, value, fits):
    tools = {"set": {"name": "set", "parameters": {"properties": {"x": {"type": type}}}}}
    call = {"id": "c1", "name": "set", "arguments": f'{{"x": {value}}}'}

    assert (problem_with_call(call, tools) is None) == fits


@pytest.mark.parametrize(
    "schema",
    [
        None,
        [],
        {"required": True},
        {"required": "path"},
        {"required": [["a"], None]},
        {"properties": ["path"], "required": []},
        {"properties": {"x": True}},
        {"properties": {"x": {"type": {"a": 1}}}},
    ],
)
def test_a_schema_that_is_none_is_left_to_the_tool(schema):
    call = {"id": "c1", "name": "odd", "arguments": '{"x": 1}'}

    assert problem_with_call(call, {"odd": {"name": "odd", "parameters": schema}}) is None


def test_names_that_a_pattern_may_allow_are_left_to_the_tool():
    schema = {"patternProperties": {"^x-": {}}, "additionalProperties": False}
    call = {"id": "c1", "name": "send", "arguments": '{"x-a": 1}'}

    assert problem_with_call(call, {"send": {"name": "send", "parameters": schema}}) is None
