"""The outline of a chart fits the space it is given and always shows what is active."""

import pytest

from antiphon import create_machine
from antiphon.cli.play.outline import outline

STATES = {
    "a": {"initial": "a1", "states": {"a1": {}, "a2": {}}},
    "b": {"initial": "b1", "states": {f"b{i}": {} for i in range(1, 9)}},
    "p": {"type": "parallel", "states": {"r": {}, "h": {"type": "history"}}},
    "end": {"type": "final"},
}


def shown(active, height):
    machine = create_machine({"id": "m", "initial": "a", "states": STATES})
    nodes = set(machine.nodes_at(active))
    return outline(machine.root, nodes, height)


def test_a_small_chart_is_shown_whole():
    lines = shown({"a": "a1"}, 30)

    assert [line.node.key for line in lines[:5]] == ["m", "a", "a1", "a2", "b"]
    assert [line.node.key for line in lines if line.is_active] == ["m", "a", "a1"]
    assert [line.depth for line in lines[:3]] == [0, 1, 2]


def test_states_that_are_not_active_are_folded_where_there_is_little_room():
    lines = shown({"a": "a1"}, 8)

    assert [(line.node.key, line.folded) for line in lines] == [
        ("m", 0), ("a", 0), ("a1", 0), ("a2", 0), ("b", 8), ("p", 2), ("end", 0),
    ]  # fmt: skip


@pytest.mark.parametrize("height", [3, 4, 5])
def test_where_even_that_is_too_much_the_active_state_is_shown(height):
    lines = shown({"b": "b7"}, height)

    assert len(lines) == height
    assert "b7" in [line.node.key for line in lines]


def test_special_states_are_marked():
    kinds = {line.node.key: line.kind for line in shown({"a": "a1"}, 30)}

    assert (kinds["p"], kinds["h"], kinds["end"], kinds["a"]) == ("parallel", "history", "final", "")
