"""Graphs of charts: what a layout engine is asked, and the picture of its answer."""

from antiphon import create_machine
from antiphon.chart.draw.graph import GraphPicture

DOOR = create_machine(
    {
        "id": "door",
        "initial": "closed",
        "states": {
            "closed": {"on": {"OPEN": [{"target": "open", "guard": "hasKey"}, {"target": "open", "guard": "isOld"}]}},
            "open": {"entry": "creak", "on": {"CLOSE": "closed", "KICK": {"actions": "creak"}}},
        },
    },
    strict=False,
)


def arranged():
    """The request of the door, as if an engine had put everything in its place."""
    graph = GraphPicture(DOOR).request()
    place = {"x": 10.0, "y": 20.0, "width": 100.0, "height": 50.0}
    [root] = graph["children"]
    root.update(place, children=[{**child, **place} for child in root["children"]])
    section = {"startPoint": {"x": 0, "y": 0}, "bendPoints": [{"x": 5, "y": 0}], "endPoint": {"x": 5, "y": 9}}
    for edge in graph["edges"]:
        edge["sections"] = [section]
        edge["labels"] = [{**label, "x": 1.0, "y": 2.0} for label in edge["labels"]]
    return {**graph, "width": 300.0, "height": 200.0}


def test_transitions_with_the_same_ends_are_one_edge():
    edges = GraphPicture(DOOR).request()["edges"]

    assert [(edge["sources"], edge["targets"]) for edge in edges] == [(["n1"], ["n2"]), (["n2"], ["n1"])]


def test_states_are_nested_and_have_room_for_their_rows():
    [root] = GraphPicture(DOOR).request()["children"]
    [closed, opened] = root["children"]

    assert closed["height"] < opened["height"]  # `open` has its entry action and the event that stays


def test_labels_have_events_and_guards_and_boxes_the_rest():
    picture = GraphPicture(DOOR).svg(arranged())

    assert ">OPEN [hasKey]</text>" in picture
    assert ">OPEN [isOld]</text>" in picture
    assert ">KICK / creak</text>" in picture


def test_arrows_point_along_their_last_segment():
    assert "M5.0 9.0l-4 -8l8 0z" in GraphPicture(DOOR).svg(arranged())


def test_active_states_are_highlighted():
    picture = GraphPicture(DOOR, active=DOOR.nodes_at("open")).svg(arranged())

    assert picture.count('"box active"') == 1
    assert picture.count('"outer around"') == 1


def test_only_a_part_is_drawn():
    nodes = GraphPicture(DOOR, inside=DOOR.states["open"]).request()["children"]

    assert [node["id"] for node in nodes] == ["n0"]
