"""Files of tests that are written from paths."""

import ast
import asyncio
import inspect

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


def written(machine=DOOR, **options):
    return to_pytest(machine, get_transition_paths(machine).paths, **options)


def async_method(calls, name):
    async def method(self, *event):
        await asyncio.sleep(0)
        calls.append((name, *event))

    return method


def run(text, **changes):
    """What the tests of a file call, in order."""
    calls = []
    names = {}
    exec(text, names)
    for name, method in list(vars(names["System"]).items()):
        if inspect.iscoroutinefunction(method):
            setattr(names["System"], name, async_method(calls, name))
        elif name.startswith(("do_", "check_")):
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
    assert run(written(machine, is_async=True))


def test_the_methods_of_async_tests_are_awaited_in_the_same_order():
    calls = run(written(is_async=True))

    assert (calls[0], calls[-1]) == (("start",), ("finish",))
    assert [call for call in calls if call[0] not in ("start", "finish")] == run(written())


def test_async_tests_end_the_system_also_after_a_failure():
    names = {}
    exec(written(is_async=True), names)
    ended = []

    async def fail(self):
        raise AssertionError("not closed")

    async def finish(self):
        ended.append(self)

    names["System"].check_closed = fail
    names["System"].finish = finish
    with pytest.raises(AssertionError, match="not closed"):
        names["test_path_1"]()

    assert len(ended) == 1
