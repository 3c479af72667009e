"""Files of tests that are written from paths."""

import ast

import pytest

from antiphon import create_machine, get_transition_paths
from antiphon.chart.explore.written_tests import to_pytest

DOOR = create_machine(
    {
        "id": "door",
        "initial": "closed",
        "states": {
            "closed": {"on": {"OPEN": "open", "open": "locked"}},
            "open": {"initial": "wide", "states": {"wide": {}}, "after": {"5000": "closed"}},
            "locked": {"type": "final"},
        },
    }
)


def written(machine=DOOR):
    return to_pytest(machine, get_transition_paths(machine).paths)


def run(text, **changes):
    """What the tests of a file call, in order."""
    calls = []
    names = {}
    exec(text, names)
    for name in [name for name in vars(names["System"]) if name.startswith(("do_", "check_"))]:
        setattr(names["System"], name, lambda self, *event, name=name: calls.append((name, *event)))
    for name in [name for name in names if name.startswith("test_")]:
        names[name]()
    return calls


def test_a_test_takes_the_steps_of_a_path():
    assert run(written())[:7] == [
        ("check_closed",),
        ("do_open", {"type": "OPEN"}),
        ("check_open_wide",),
        ("do_after_5000_ms", {"type": "xstate.after.5000.door.open"}),
        ("check_closed",),
        ("do_open_2", {"type": "open"}),
        ("check_locked",),
    ]


def test_a_path_stands_above_its_steps():
    assert "    # closed -- OPEN --> open.wide -- after 5000 ms --> closed" in written()


@pytest.mark.parametrize("name", ['a"""b', "a\\", "a\nimport os", "ä\x07ö", "", "# x"])
def test_whatever_names_a_chart_has_the_file_is_python(name):
    machine = create_machine({"id": name or "m", "initial": "a", "states": {"a": {"on": {name or "*": "b"}}, "b": {}}})
    tree = ast.parse(written(machine))

    assert not any(isinstance(node, ast.Import) for node in ast.walk(tree))
    assert run(written(machine))
