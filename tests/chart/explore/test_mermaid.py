"""Machines become Mermaid diagrams: every kind of state and arrow, and any text in them."""

import gzip
import json
import re

import pytest

from antiphon import create_machine, initial_transition, transition
from antiphon.chart.explore.mermaid import to_mermaid
from tests.paths import ROOT
from tests.xstate.forms import Forms
from tests.xstate.oracle import build

CASES = json.loads(gzip.decompress((ROOT / "tests" / "xstate" / "golden.json.gz").read_bytes()))["cases"]


def draw(states, **root):
    chart = {"id": "m", "initial": next(iter(states)), "states": states, **root}
    return to_mermaid(create_machine(chart, strict=False))


def test_a_small_machine_is_a_small_diagram():
    text = draw({"a": {"on": {"GO": {"target": "b", "guard": "ok", "actions": ["x", "y"]}}}, "b": {"type": "final"}})

    assert text == (
        "stateDiagram-v2\n"
        "    [*] --> a\n"
        '    state "a" as a\n'
        '    state "b" as b\n'
        "    b --> [*]\n"
        "    a --> b : GO [ok] / x, y\n"
    )


def test_states_inside_are_drawn_inside():
    text = draw({"a": {"initial": "x", "states": {"x": {"on": {"E": "y"}}, "y": {}}}})

    assert text == (
        "stateDiagram-v2\n"
        "    [*] --> a\n"
        '    state "a" as a {\n'
        "        [*] --> a_x\n"
        '        state "x" as a_x\n'
        '        state "y" as a_y\n'
        "        a_x --> a_y : E\n"
        "    }\n"
    )


def test_regions_are_divided_and_history_stands_in_the_first():
    regions = {"r1": {}, "r2": {}, "back": {"type": "history", "history": "deep"}}

    text = draw({"p": {"type": "parallel", "states": regions}})

    inside = [line.strip() for line in text.splitlines()[3:-1]]
    assert inside == ['state "back [H*]" as p_back', 'state "r1" as p_r1', "--", 'state "r2" as p_r2']


def test_a_shallow_history_state_shows_where_it_leads_by_default():
    text = draw({"a": {"initial": "x", "states": {"x": {}, "h": {"type": "history", "target": "x"}}}})

    assert 'state "h [H]" as a_h' in text
    assert "a_h --> a_x : default" in text


def test_timers_and_eventless_transitions_are_labelled_in_words():
    text = draw({"a": {"after": {500: "b"}}, "b": {"always": {"target": "a", "guard": "ok"}}})

    assert "a --> b : after 500 ms" in text
    assert "b --> a : always [ok]" in text


def test_what_a_state_does_is_written_into_it():
    text = draw({"a": {"entry": "hello", "exit": "bye", "invoke": {"src": "load"}, "on": {"E": {"actions": "x"}}}})

    lines = [line.split(" : ")[1] for line in text.splitlines() if line.startswith("    a : ")]
    assert lines == ["invoke load", "entry / hello", "exit / bye", "E / x"]


def test_what_a_composite_does_is_written_beside_it():
    text = draw({"a": {"initial": "x", "states": {"x": {}}, "invoke": {"src": "load", "onDone": "b"}}, "b": {}})

    note = text[text.index("note right of a") : text.index("end note")]
    assert note.split("\n")[1].strip() == "invoke load"
    assert "a --> b : done load" in text


def test_an_event_that_is_stopped_from_bubbling_is_said_to_be_ignored():
    assert "a : E is ignored" in draw({"a": {"on": {"E": {}}}})


def test_an_arrow_between_a_composite_and_its_inside_is_written_as_text():
    inside = {"initial": "x", "states": {"x": {"on": {"UP": "#m.a"}}, "y": {}}, "on": {"IN": ".y"}}

    text = draw({"a": inside})

    assert "a_x : UP → a" in text
    assert "IN → y" in text
    assert "a --> a_y" not in text


def test_an_arrow_across_composites_is_written_at_the_outermost_level():
    text = draw(
        {"a": {"initial": "x", "states": {"x": {"on": {"OUT": "#m.b.y"}}}}, "b": {"initial": "y", "states": {"y": {}}}}
    )

    assert text.endswith("\n    a_x --> b_y : OUT\n")


def test_an_arrow_to_several_states_is_drawn_to_each():
    regions = {name: {"initial": "x", "states": {"x": {}, "y": {}}} for name in ("r", "s")}
    text = draw(
        {"a": {"on": {"E": {"target": ["#m.p.r.y", "#m.p.s.y"]}}}, "p": {"type": "parallel", "states": regions}}
    )

    assert "a --> p_r_y : E" in text
    assert "a --> p_s_y : E" in text


def test_the_root_is_drawn_only_if_there_is_something_to_say():
    assert '"m"' not in draw({"a": {}})
    assert 'state "m" as m {' in draw({"a": {}}, on={"RESET": ".a"})
    assert to_mermaid(create_machine({"id": "m"})) == 'stateDiagram-v2\n    [*] --> m\n    state "m" as m\n'


def test_active_states_stand_out():
    machine = create_machine(
        {"initial": "a", "states": {"a": {"on": {"E": "b"}}, "b": {"initial": "c", "states": {"c": {}}}}}
    )
    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "E"})

    lines = to_mermaid(machine, snapshot).splitlines()

    assert lines[-2:] == ["    class b_c active", "    class b around"]


def test_a_machine_without_composites_marks_its_one_active_state():
    machine = create_machine({"initial": "a", "states": {"a": {}, "b": {}}})

    assert to_mermaid(machine, initial_transition(machine)[0]).splitlines()[-1] == "    class a active"


def test_an_initial_state_that_is_not_there_is_not_drawn():
    machine = create_machine({"initial": "nowhere", "states": {"a": {}}}, strict=False)

    assert to_mermaid(machine) == 'stateDiagram-v2\n    state "a" as a\n'


@pytest.mark.parametrize("key", ["end", "state", "note", "class", "root", "toString", "Direction", "1"])
def test_words_that_mean_something_in_mermaid_are_no_names(key):
    assert f'state "{key.replace("D", "#68;")}" as s_{key}_' in draw({key: {}, "other": {}})


def test_states_whose_names_look_alike_are_told_apart():
    text = draw({"a b": {}, "a-b": {}, "A.B": {}, "ä": {}})

    assert re.findall(r'" as (\w+)', text) == ["a_b", "a_b_2", "A_B_3", "s_state_"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('say "hi"', "say #34;hi#34;"),
        ("a:b;c", "a#58;b#59;c"),
        ("<b>", "#60;b#62;"),
        ("_x_ snake_case", "#95;x#95; snake_case"),
        ("*bold*", "#42;bold#42;"),
        ("direction TB", "#100;irection TB"),
        ("end note", "end#32;note"),
        ("[[fork]]", "[#91;fork]#93;"),
        ("a --> b", "a -#45;#62; b"),
        ("two\nlines", "two lines"),
        ("", "(no name)"),
    ],
)
def test_signs_that_mean_something_in_mermaid_are_written_as_codes(text, written):
    assert f'state "{written}" as' in draw({"other": {}, text: {}})


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['n']} {case['title']}")
def test_every_state_of_every_case_is_drawn_once_and_braces_match(case):
    machine = build(case, Forms())

    text = to_mermaid(machine)

    declared = re.findall(r'^ *state ".*" as (\w+)( \{)?$', text, flags=re.MULTILINE)
    assert len({name for name, _ in declared}) == len(declared)
    assert len(declared) in (len(machine.nodes), len(machine.nodes) - 1)
    assert sum(bool(brace) for _, brace in declared) == len(re.findall(r"^ *\}$", text, flags=re.MULTILINE))


def test_the_same_machine_is_always_drawn_the_same():
    assert to_mermaid(build(CASES[0], Forms())) == to_mermaid(build(CASES[0], Forms()))
