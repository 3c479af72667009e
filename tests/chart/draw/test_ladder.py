"""SVG pictures of charts: well-formed, complete, and without anything that overlaps."""

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import create_machine
from antiphon.app import own_machines
from antiphon.chart.draw.ladder import to_svg
from antiphon.chart.machine import Machine

SVG = "{http://www.w3.org/2000/svg}"
PLAYER = {
    "id": "player",
    "type": "parallel",
    "states": {
        "sound": {
            "initial": "on",
            "states": {
                "on": {"on": {"MUTE": {"target": "off", "guard": {"type": "isLoud", "params": {"level": 3}}}}},
                "off": {"on": {"MUTE": "on", "LEAVE": "#player.film.stopped"}},
            },
        },
        "film": {
            "initial": "playing",
            "states": {"playing": {"on": {"STOP": "stopped"}}, "stopped": {"type": "final"}},
        },
    },
}


def relaxed(config: dict[str, Any]) -> Machine[Any, Any]:
    return create_machine(config, strict=False)


def parse(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    found = ["".join(text.itertext()) for text in parse(svg).iter(f"{SVG}text")]
    return [" ".join(text.split()) for text in found]


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of the boxes of states."""
    rects = [rect for rect in parse(svg).iter(f"{SVG}rect") if rect.get("class", "").split()[0] in ("box", "outer")]
    sides = [[float(rect.get(name, "")) for name in ("x", "y", "width", "height")] for rect in rects]
    return [(x, y, x + width, y + height) for x, y, width, height in sides]


@pytest.mark.parametrize("machine", own_machines(), ids=lambda machine: machine.id)
def test_a_picture_has_a_box_for_each_state_and_no_two_boxes_cross(machine: Machine[Any, Any]) -> None:
    shapes = boxes(to_svg(machine))

    assert len(shapes) == len(list(machine.root.walk()))
    for index, (left, top, right, bottom) in enumerate(shapes):
        for other_left, other_top, other_right, other_bottom in shapes[index + 1 :]:
            is_inside = left < other_left and other_right < right and top < other_top and other_bottom < bottom
            is_beside = other_left > right or other_right < left or other_top > bottom or other_bottom < top
            assert is_inside or is_beside


def test_a_row_names_its_event_guard_parameters_and_target() -> None:
    assert "MUTE [isLoud(level: 3)] → off" in texts(to_svg(relaxed(PLAYER)))


def test_regions_stand_side_by_side() -> None:
    machine = relaxed(PLAYER)
    sound, film = (boxes(to_svg(machine))[index] for index in (1, 4))

    assert sound[2] < film[0]
    assert (sound[1], sound[3]) == (film[1], film[3])


def test_a_line_never_leaves_its_region() -> None:
    svg = to_svg(relaxed(PLAYER))
    lines = [path for path in parse(svg).iter(f"{SVG}path") if path.get("class", "").startswith("line")]

    # MUTE both ways and STOP; LEAVE leads to another region, and is named only.
    assert len(lines) == 3
    assert "LEAVE → stopped" in texts(svg)


def test_active_states_are_highlighted() -> None:
    machine = relaxed(PLAYER)
    snapshot = machine.resolve_state({"sound": "off", "film": "playing"})
    svg = to_svg(machine, active=snapshot.nodes)
    names = [rect.get("class", "").split()[-1] for rect in parse(svg).iter(f"{SVG}rect")]

    assert (names.count("active"), names.count("around")) == (2, 3)


def test_a_part_of_a_chart_is_drawn_down_to_a_depth() -> None:
    machine = relaxed(PLAYER)

    assert len(boxes(to_svg(machine, inside=machine.root.states["sound"]))) == 3
    assert len(boxes(to_svg(machine, depth=1))) == 3
    assert "sound …" in texts(to_svg(machine, depth=1))


def test_a_long_row_is_wrapped_and_loses_no_word() -> None:
    actions = [f"action{number}" for number in range(30)]
    machine = relaxed({"initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": actions}}}, "b": {}}})
    words = " ".join(texts(to_svg(machine)))

    assert all(f"action{number}" in words for number in range(30))
    assert max(map(len, texts(to_svg(machine)))) <= 70
    assert "→ b" in words


@given(st.text(min_size=1), st.text(), st.text())
def test_any_names_make_a_well_formed_picture(key: str, event: str, description: str) -> None:
    config = {"initial": key, "states": {key: {"on": {event: {"target": f"#{key}"}}, "description": description}}}
    config["states"][key]["id"] = key  # type: ignore[index]
    try:
        machine = relaxed(json.loads(json.dumps(config)))
    except Exception:
        return

    parse(to_svg(machine, title=description))
