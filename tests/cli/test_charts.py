"""A chart from a file can be played without its functions."""

import json

import pytest

from antiphon import initial_transition, transition
from antiphon.cli.charts import ChartFileError, load_machine

CHART = {
    "id": "m",
    "initial": {"target": "a", "actions": "begin"},
    "entry": ["one", {"type": "two"}],
    "states": {
        "a": {"on": {"GO": [{"target": "b", "guard": "first"}, {"target": "c", "guard": {"type": "second"}}]}},
        "b": {
            "always": {"guard": "never"},
            "after": {"soon": "c", "20": "c"},
            "invoke": [{"src": "load", "onDone": {"actions": "keep"}, "timeout": "long", "onTimeout": "c"}],
        },
        "c": None,
    },
}


def load(folder, chart, *denied):
    path = folder / "chart.json"
    path.write_text(json.dumps(chart))
    return load_machine(path, denied)


def test_every_name_gets_a_stand_in(tmp_path):
    names = load(tmp_path, CHART).implementations

    assert names.actions.keys() == {"begin", "one", "two", "keep"}
    assert names.guards.keys() == {"first", "second", "never"}
    assert names.actors.keys() == {"load"}
    assert names.delays == {"soon": 1000, "long": 1000}


def test_guards_hold_unless_they_are_denied(tmp_path):
    values = []
    for denied in ((), ("first",), ("first", "second")):
        machine = load(tmp_path, CHART, *denied)
        values.append(transition(machine, initial_transition(machine)[0], {"type": "GO"})[0].value)

    assert values == ["b", "c", "a"]


def test_what_is_wrong_with_a_chart_is_said_by_the_builder(tmp_path):
    with pytest.raises(ChartFileError, match="unknown key 'stats'"):
        load(tmp_path, {"stats": {}, "on": 5, "invoke": "x", "entry": [5], "states": {"a": 1}})


@pytest.mark.parametrize(("data", "problem"), [(b"\xff\xfe", "UTF-8"), (b"[" * 100_000, "nested too deeply|not JSON")])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, data, problem):
    path = tmp_path / "chart.json"
    path.write_bytes(data)

    with pytest.raises(ChartFileError, match=problem):
        load_machine(path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    path = tmp_path / "chart.json"
    path.write_bytes(b'\xef\xbb\xbf{"id": "m"}')

    assert load_machine(path).id == "m"
