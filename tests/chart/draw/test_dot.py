"""Charts in the language of Graphviz."""

from antiphon.chart.draw.dot import to_dot
from tests.chart.draw.test_ladder import PLAYER, relaxed


def test_states_with_states_are_clusters_and_arrows_with_the_same_ends_are_one() -> None:
    run = {"target": "y", "actions": "run"}
    states = {"x": {"on": {"GO": "y", "RUN": run}}, "y": {"type": "final"}}
    machine = relaxed({"id": 'a "b"', "initial": "x", "states": states})

    text = to_dot(machine)

    assert text.splitlines()[0] == 'digraph "a \\"b\\"" {'
    assert "subgraph cluster_n0 {" in text
    assert 'n1 -> n2 [label="GO\\lRUN / run\\l"];' in text
    assert 'n2 [label="◎ y\\l" peripheries=2];' in text


def test_arrows_of_clusters_begin_and_end_at_their_border() -> None:
    machine = relaxed(
        {
            "initial": "a",
            "states": {
                "a": {"initial": "b", "states": {"b": {}}, "on": {"GO": "c"}},
                "c": {"initial": "d", "states": {"d": {}}},
            },
        }
    )

    assert 'n1 -> n3 [label="GO\\l" ltail=cluster_n1 lhead=cluster_n3];' in to_dot(machine)


def test_a_target_that_is_not_shown_has_no_arrow() -> None:
    machine = relaxed(PLAYER)
    text = to_dot(machine, inside=machine.root.states["sound"])

    assert "LEAVE" in text
    assert text.count("->") == 2
