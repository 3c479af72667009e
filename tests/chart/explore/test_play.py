"""A chart and a list of events give a trace, without actors and without a clock."""

import pytest

from antiphon import assign, cancel, create_machine, emit, from_task, log, raise_, send_to, spawn_child, stop_child
from antiphon.chart.errors import EventError
from antiphon.chart.explore.play import play

LIGHT = {
    "id": "light",
    "initial": "green",
    "context": {"changes": 0},
    "states": {
        "green": {"after": {1000: {"target": "yellow", "actions": "count"}}},
        "yellow": {"after": {200: {"target": "red", "actions": "count"}}},
        "red": {"on": {"OFF": "off"}, "after": {1000: "green"}},
        "off": {"type": "final"},
    },
}
COUNT = {"count": assign({"changes": lambda context: context["changes"] + 1})}


def light():
    return create_machine(LIGHT, actions=COUNT)


def test_a_trace_begins_with_the_start():
    [entry] = play(light(), [])

    assert (entry.at_ms, entry.event, entry.value, entry.status) == (0, {"type": "xstate.init"}, "green", "active")
    assert entry.context == {"changes": 0}


def test_an_event_is_an_entry_with_its_transitions_and_effects():
    machine = create_machine(
        {"initial": "a", "states": {"a": {"on": {"GO": {"target": "b", "actions": "x"}}}, "b": {}}},
        actions={"x": lambda: None},
    )

    entry = play(machine, ["GO"])[1]

    assert [[transition.source.key for transition in transitions] for transitions in entry.transitions] == [["a"]]
    assert [effect.type for effect in entry.effects] == ["x"]
    assert entry.value == "b"


def test_each_microstep_tells_its_transitions():
    states = {
        "a": {"on": {"GO": "b"}},
        "b": {"entry": raise_({"type": "ON"}), "always": "c"},
        "c": {"on": {"ON": "d"}},
        "d": {},
    }

    entry = play(create_machine({"initial": "a", "states": states}), ["GO"])[1]

    types = [[transition.event_type for transition in transitions] for transitions in entry.transitions]
    assert types == [["GO"], [""], ["ON"]]


def test_time_passes_and_timers_fire_at_their_own_time():
    trace = play(light(), [{"after": 2200}])

    assert [(entry.at_ms, entry.value) for entry in trace] == [
        (0, "green"),
        (1000, "yellow"),
        (1200, "red"),
        (2200, "green"),
    ]


def test_an_event_can_come_between_two_timers():
    trace = play(light(), [{"after": 1500}, "OFF", {"after": 5000}])

    assert len(trace) == 4
    assert [(entry.at_ms, entry.status) for entry in trace][-1] == (1500, "done")
    assert trace.snapshot.value == "off"


def test_an_event_that_nobody_reacts_to_is_an_entry_that_changes_nothing():
    trace = play(light(), [{"type": "NOPE"}])

    assert trace[1].snapshot is trace[0].snapshot
    assert trace[1].transitions == [()]


def test_events_after_the_end_do_nothing():
    trace = play(light(), [{"after": 1200}, "OFF", "OFF"])

    assert (trace[-1].transitions, trace[-1].value) == ([], "off")


def test_input_reaches_the_context():
    machine = create_machine({"context": lambda given: {"name": given}})

    assert play(machine, [], input="Ada").snapshot.context == {"name": "Ada"}


def test_children_speak_through_events():
    chart = {"initial": "a", "states": {"a": {"invoke": {"src": "load", "id": "l", "onDone": "b"}}, "b": {}}}
    machine = create_machine(chart, actors={"load": from_task(lambda: None)})

    assert play(machine, [{"type": "xstate.done.actor.l", "output": 1}]).snapshot.value == "b"


def test_an_error_ends_the_machine_and_is_in_the_trace():
    machine = create_machine({"on": {"GO": {"actions": assign(lambda: 1 / 0)}}})

    entry = play(machine, ["GO", "GO"])[1]

    assert (entry.status, type(entry.snapshot.error)) == ("error", ZeroDivisionError)


@pytest.mark.parametrize("ms", [-1, "5", None, True])
def test_a_time_that_is_no_time_is_refused(ms):
    with pytest.raises(EventError, match="milliseconds"):
        play(light(), [{"after": ms}])


def test_an_event_that_is_no_event_is_refused():
    with pytest.raises(EventError):
        play(light(), [{"kind": "GO"}])


def test_a_trace_reads_as_a_table():
    table = str(play(light(), [{"after": 1200}, "NOPE", "OFF"]))

    assert table == (
        "ms    event          state       transitions             context    effects\n"
        "0     (start)        green                               changes=0  wait 1000 ms\n"
        "1000  after 1000 ms  yellow      green → yellow / count  changes=1  wait 200 ms\n"
        "1200  after 200 ms   red         yellow → red / count    changes=2  wait 1000 ms\n"
        "1200  NOPE           red\n"
        "1200  OFF            off (done)  red → off"
    )


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("x", "x"),
        (raise_({"type": "R"}), "raise R"),
        (raise_({"type": "R"}, delay=5), "send R in 5 ms"),
        (send_to("#_parent", {"type": "P"}), "send P to #_parent"),
        (send_to("#_parent", {"type": "P"}, delay=5), "send P in 5 ms"),
        (emit({"type": "E"}), "emit E"),
        (log("hi"), 'log "hi"'),
        (spawn_child("load", id="l"), "start l"),
        (stop_child("child"), "stop child"),
        (cancel("nothing"), ""),
    ],
)
def test_the_table_names_every_kind_of_effect(action, text):
    chart = {"entry": spawn_child("load", id="child"), "on": {"GO": {"actions": action}}}
    machine = create_machine(chart, actions={"x": lambda: None}, actors={"load": from_task(lambda: None)})

    header, _, row = str(play(machine, ["GO"])).splitlines()[:3]

    assert row[header.index("effects") :] == text


def test_the_table_says_what_a_step_reacted_to_beyond_its_event():
    states = {
        "a": {"on": {"GO": "b"}},
        "b": {"entry": raise_({"type": "ON"}), "on": {"ON": "c"}},
        "c": {"always": "d"},
        "d": {},
    }

    assert "a → b; ON: b → c; always: c → d" in str(play(create_machine({"initial": "a", "states": states}), ["GO"]))


def test_a_context_that_json_cannot_hold_is_shown_anyway():
    machine = create_machine({"context": {"keys": {(1, 2): 3}}})

    assert "keys={(1, 2): 3}" in str(play(machine, []))
