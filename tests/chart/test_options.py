"""Options of a chart: a bound on the rounds of a step, and transitions that stay in their region."""

import pytest

from antiphon import assign, create_actor, create_machine, initial_transition, raise_, transition
from antiphon.chart.errors import LoopError


@pytest.mark.requirement("E-18")
def test_endless_eventless_loop_ends_in_an_error_that_names_the_limit():
    states = {"a": {"always": "b"}, "b": {"always": "a"}}

    with pytest.raises(LoopError, match="within 10000 microsteps"):
        initial_transition(create_machine({"initial": "a", "states": states}))


@pytest.mark.requirement("E-18")
def test_endless_loop_of_raised_events_ends_in_an_error():
    machine = create_machine({"on": {"AGAIN": {"actions": raise_({"type": "AGAIN"})}}})

    with pytest.raises(LoopError):
        transition(machine, initial_transition(machine)[0], {"type": "AGAIN"})


def test_assign_without_a_guard_is_an_endless_loop():
    with pytest.raises(LoopError):
        initial_transition(create_machine({"context": {"n": 0}, "always": {"actions": assign({"n": 1})}}))


@pytest.mark.requirement("E-18")
def test_actor_in_an_endless_loop_ends_in_status_error():
    states = {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {"always": "b"}}
    actor = create_actor(create_machine({"initial": "a", "states": states}))
    errors = []
    actor.subscribe(error=errors.append)

    actor.start().send({"type": "GO"})

    assert [type(error) for error in errors] == [LoopError]
    assert (actor.get_snapshot().status, actor.get_snapshot().value) == ("error", "a")


def counting(limit, rounds):
    """A machine that takes some rounds to come to rest."""
    always = {
        "guard": lambda context: context["n"] < rounds,
        "actions": assign({"n": lambda context: context["n"] + 1}),
    }
    return create_machine({"context": {"n": 0}, "always": always, "options": {"maxIterations": limit}})


@pytest.mark.requirement("E-18")
def test_limit_is_the_number_of_rounds_that_are_allowed():
    assert initial_transition(counting(20, 18))[0].context == {"n": 18}

    with pytest.raises(LoopError, match="within 20 microsteps"):
        initial_transition(counting(20, 20))


def test_long_chain_below_the_default_limit_comes_to_rest():
    always = {"guard": lambda context: context["n"] < 9000, "actions": assign({"n": lambda context: context["n"] + 1})}

    snapshot, _ = initial_transition(create_machine({"context": {"n": 0}, "always": always}))

    assert snapshot.context == {"n": 9000}


PLAYER = {
    "id": "player",
    "type": "parallel",
    "states": {
        "sound": {
            "entry": "in:sound",
            "exit": "out:sound",
            "initial": "loud",
            "states": {"loud": {"on": {"MUTE": "muted"}}, "muted": {}},
            "on": {"STOP": "#player.video.stopped", "RESET": {"target": "#player.sound", "reenter": True}},
        },
        "video": {
            "entry": "in:video",
            "exit": "out:video",
            "initial": "playing",
            "states": {"playing": {"on": {"PAUSE": "paused"}}, "paused": {}, "stopped": {}},
        },
    },
    "on": {"PLAY": ".video.playing", "BOTH": {"target": [".sound.loud", ".video.playing"]}},
}


def player(local):
    """An actor with muted sound and paused video, and what it does from then on."""
    did = []

    def noting(name):
        return lambda: did.append(name)

    actions = {name: noting(name) for name in ("in:sound", "out:sound", "in:video", "out:video")}
    actor = create_actor(create_machine({**PLAYER, "options": {"regionLocal": local}}, actions=actions)).start()
    actor.send({"type": "MUTE"})
    actor.send({"type": "PAUSE"})
    did.clear()
    return actor, did


def test_transition_of_the_root_into_a_region_resets_the_others_as_in_xstate():
    actor, did = player(local=False)

    actor.send({"type": "PLAY"})

    assert actor.get_snapshot().value == {"sound": "loud", "video": "playing"}
    assert did == ["out:video", "out:sound", "in:sound", "in:video"]


def test_local_transition_of_the_root_into_a_region_leaves_the_others_alone():
    actor, did = player(local=True)

    actor.send({"type": "PLAY"})

    assert actor.get_snapshot().value == {"sound": "muted", "video": "playing"}
    assert "out:sound" not in did


def test_local_transition_from_one_region_into_another_leaves_its_source_alone():
    actor, did = player(local=True)

    actor.send({"type": "STOP"})

    assert actor.get_snapshot().value == {"sound": "muted", "video": "stopped"}
    assert "out:sound" not in did


def test_cross_region_transition_resets_its_source_as_in_xstate():
    actor, did = player(local=False)

    actor.send({"type": "STOP"})

    assert actor.get_snapshot().value == {"sound": "loud", "video": "stopped"}
    assert did == ["out:video", "out:sound", "in:sound", "in:video"]


def test_local_reentry_of_a_region_leaves_the_others_alone():
    actor, did = player(local=True)

    actor.send({"type": "RESET"})

    assert actor.get_snapshot().value == {"sound": "loud", "video": "paused"}
    assert did == ["out:sound", "in:sound"]


def test_local_transition_into_all_regions_moves_all():
    actor, _ = player(local=True)

    actor.send({"type": "BOTH"})

    assert actor.get_snapshot().value == {"sound": "loud", "video": "playing"}


def test_local_transitions_of_two_regions_for_one_event_are_both_taken():
    states = {name: {"initial": "x", "states": {"x": {"on": {"GO": "y"}}, "y": {}}} for name in ("a", "b")}
    machine = create_machine({"type": "parallel", "states": states, "options": {"regionLocal": True}})

    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "GO"})

    assert snapshot.value == {"a": "y", "b": "y"}


def test_local_cross_region_transitions_that_do_not_meet_are_both_taken():
    states = {
        "a": {"initial": "x", "states": {"x": {"on": {"GO": "#m.b.y"}}, "y": {}}},
        "b": {"initial": "x", "states": {"x": {"on": {"GO": "#m.a.y"}}, "y": {}}},
    }
    machine = create_machine({"id": "m", "type": "parallel", "states": states, "options": {"regionLocal": True}})

    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "GO"})

    assert snapshot.value == {"a": "y", "b": "y"}


def test_local_transition_into_a_nested_parallel_state_leaves_other_regions_alone():
    inner = {
        "type": "parallel",
        "states": {"x": {"initial": "1", "states": {"1": {"on": {"UP": "2"}}, "2": {}}}, "y": {}},
    }
    outer = {
        "id": "m",
        "type": "parallel",
        "states": {"left": inner, "right": {"initial": "1", "states": {"1": {"on": {"UP": "2"}}, "2": {}}}},
        "on": {"BACK": ".left.x.1"},
        "options": {"regionLocal": True},
    }
    machine = create_machine(outer)
    snapshot, _ = transition(machine, initial_transition(machine)[0], {"type": "UP"})

    snapshot, _ = transition(machine, snapshot, {"type": "BACK"})

    assert snapshot.value == {"left": {"x": "1", "y": {}}, "right": "2"}
