"""The JSON Schema of charts knows the keys the builder knows, accepts charts that work and refuses others."""

import gzip
import json

import pytest

from antiphon.chart import build
from antiphon.chart.explore.schema import CHART_SCHEMA
from tests.paths import ROOT

DEFS = CHART_SCHEMA["$defs"]
CASES = json.loads(gzip.decompress((ROOT / "tests" / "xstate" / "golden.json.gz").read_bytes()))["cases"]
TYPES = {"string": str, "object": dict, "array": list, "boolean": bool, "null": type(None), "number": (int, float)}


def accepts(schema, value):
    """As much of JSON Schema as this schema uses."""
    if "$ref" in schema:
        return accepts(DEFS[schema["$ref"].removeprefix("#/$defs/")], value)
    checks = [
        "anyOf" not in schema or any(accepts(item, value) for item in schema["anyOf"]),
        "enum" not in schema or any(item is value or item == value for item in schema["enum"]),
        "type" not in schema or any(has_type(name, value) for name in as_list(schema["type"])),
        not isinstance(value, str) or len(value) >= schema.get("minLength", 0),
        not has_type("number", value) or value >= schema.get("minimum", value),
        not isinstance(value, dict) or accepts_members(schema, value),
        not isinstance(value, list) or all(accepts(schema.get("items", {}), item) for item in value),
    ]
    return all(checks)


def accepts_members(schema, value):
    properties = schema.get("properties", {})
    additional = schema.get("additionalProperties", {})
    names = all(accepts(schema.get("propertyNames", {}), name) for name in value)
    return names and all(
        accepts(properties[key], inner) if key in properties else additional is not False and accepts(additional, inner)
        for key, inner in value.items()
    ) and all(key in value for key in schema.get("required", ()))  # fmt: skip


def has_type(name, value):
    return isinstance(value, TYPES[name]) and (name != "number" or not isinstance(value, bool))


def as_list(value):
    return value if isinstance(value, list) else [value]


def with_names(value):
    """Return the chart with names where the cases have forms such as `{"$assign": ...}`."""
    if isinstance(value, list):
        return [with_names(item) for item in value]
    if not isinstance(value, dict):
        return value
    form = next((key for key in value if key.startswith("$")), None)
    return {"type": form} if form else {key: with_names(inner) for key, inner in value.items()}


def test_a_chart_has_the_keys_that_the_builder_accepts():
    assert CHART_SCHEMA["properties"].keys() == build.ROOT_KEYS


@pytest.mark.parametrize(
    ("name", "keys"),
    [("state", build.NODE_KEYS), ("transition", build.TRANSITION_KEYS), ("invoke", build.INVOKE_KEYS)],
)
def test_its_parts_have_the_keys_that_the_builder_accepts(name, keys):
    assert DEFS[name]["properties"].keys() == keys


def test_options_have_the_keys_that_the_builder_accepts():
    assert CHART_SCHEMA["properties"]["options"]["properties"].keys() == build.OPTION_KEYS


def test_every_reference_leads_somewhere():
    references = json.dumps(CHART_SCHEMA).split('"$ref": "')[1:]

    assert {item.split('"')[0].removeprefix("#/$defs/") for item in references} <= DEFS.keys()


def test_the_schema_is_json():
    assert json.loads(json.dumps(CHART_SCHEMA)) == CHART_SCHEMA


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['n']} {case['title']}")
def test_charts_that_work_are_accepted(case):
    assert accepts(CHART_SCHEMA, with_names(case["config"]))


@pytest.mark.parametrize(
    "chart",
    [
        {"stats": {}},
        {"states": {"a": {"context": {}}}},
        {"states": {"a": []}},
        {"type": "finale"},
        {"on": {"": "a"}},
        {"on": {"E": {"target": 1}}},
        {"on": {"E": {"guard": {"params": 1}}}},
        {"on": {"E": {"cond": "g"}}},
        {"invoke": {"id": "nameless"}},
        {"after": {"5": {"delay": 5}}},
        {"initial": {"actions": "x"}},
        {"options": {"maxIterations": 0}},
        {"options": {"maxIterations": True}},
        {"invoke": {"src": "s", "timeout": -1}},
        [],
    ],
    ids=json.dumps,
)
def test_charts_that_cannot_work_are_refused(chart):
    assert not accepts(CHART_SCHEMA, chart)
