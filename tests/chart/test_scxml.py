"""Charts with the option `scxml`: the rules of SCXML where they differ from those of XState."""

import pytest

from antiphon import ChartError, create_actor, create_machine, initial_transition, raise_, state_in, transition
from antiphon.chart.actions import enqueue_actions


class Walk:
    """A chart whose actions are their names, and what they were called in."""

    def __init__(self, config, **functions):
        self.machine = create_machine(config, strict=False, **functions)
        self.snapshot, effects = initial_transition(self.machine)
        self.calls = [effect.type for effect in effects]

    def send(self, type):
        self.snapshot, effects = transition(self.machine, self.snapshot, {"type": type})
        self.calls = [effect.type for effect in effects]
        return self


def regions(scxml):
    """A parallel state with a transition of its own, and a region that reacts to the same event."""
    region = {"initial": "one", "states": {"one": {"on": {"GO": {"actions": "inner"}}}, "two": {}}}
    other = {"initial": "one", "states": {"one": {}}}
    config = {
        "initial": "p",
        "options": {"scxml": scxml},
        "states": {"p": {"type": "parallel", "on": {"GO": {"actions": "outer"}}, "states": {"a": region, "b": other}}},
    }
    return Walk(config)


@pytest.mark.parametrize(
    ("scxml", "calls"), [(False, ["inner"]), (True, ["inner", "outer"]), ("lca", ["inner", "outer"])]
)
def test_a_parallel_state_reacts_for_the_regions_that_did_not(scxml, calls):
    assert regions(scxml).send("GO").calls == calls


def self_transition(scxml):
    region = {"entry": "enter", "exit": "exit", "on": {"GO": {"target": "a", "reenter": True}}}
    config = {
        "initial": "p",
        "options": {"scxml": scxml},
        "states": {"p": {"type": "parallel", "entry": "enterP", "exit": "exitP", "states": {"a": region, "b": {}}}},
    }
    return Walk(config)


@pytest.mark.parametrize(("scxml", "calls"), [("lca", ["exit", "enter"]), (True, ["exit", "exitP", "enterP", "enter"])])
def test_the_domain_of_a_transition_is_compound(scxml, calls):
    assert self_transition(scxml).send("GO").calls == calls


def test_several_and_deep_states_may_be_initial():
    region = {"initial": "one", "states": {"one": {}, "two": {"initial": "x", "states": {"x": {}, "y": {"id": "y"}}}}}
    ends = {"one": {}, "two": {}}
    config = {
        "id": "m",
        "initial": ["#m.p.b.two", "#y"],
        "options": {"scxml": True},
        "states": {"p": {"type": "parallel", "states": {"a": region, "b": {"initial": "one", "states": ends}}}},
    }

    assert Walk(config).snapshot.value == {"p": {"a": {"two": "y"}, "b": "two"}}


@pytest.mark.parametrize("initial", [[], ["#m.b"], ["nowhere"]])
def test_initial_states_must_be_inside(initial):
    config = {"initial": initial, "states": {"x": {}}}

    with pytest.raises(ChartError, match=r"initial"):
        create_machine(
            {"id": "m", "initial": "a", "options": {"scxml": True}, "states": {"a": config, "b": {}}}, strict=True
        )


def test_a_list_of_initial_states_needs_the_option():
    with pytest.raises(ChartError, match="expected the key of a state"):
        create_machine({"initial": ["a"], "states": {"a": {}}})


def test_an_unknown_mode_is_refused():
    with pytest.raises(ChartError, match="expected true, false or 'lca', not 'w3c'"):
        create_machine({"initial": "a", "options": {"scxml": "w3c"}, "states": {"a": {}}})


def test_a_guard_that_raises_is_false_and_queues_an_event_after_those_before():
    def fail(context, event):
        raise ValueError("broken")

    config = {
        "initial": "a",
        "options": {"scxml": True},
        "states": {
            "a": {
                "on": {
                    "GO": [{"guard": "fail", "target": "c"}, {"actions": [raise_({"type": "NEXT"})]}],
                    "error.execution": {"target": "b", "actions": "noted"},
                    "NEXT": "c",
                },
            },
            "b": {},
            "c": {},
        },
    }
    walk = Walk(config, guards={"fail": fail}).send("GO")

    assert (walk.snapshot.value, walk.calls[-1]) == ("b", "noted")


def test_the_failing_guard_of_an_actor_does_not_end_it():
    config = {
        "initial": "a",
        "options": {"scxml": True},
        "states": {
            "a": {"on": {"GO": {"guard": lambda: 1 / 0, "target": "b"}, "error.execution": "c"}},
            "b": {},
            "c": {},
        },
    }
    actor = create_actor(create_machine(config)).start()
    actor.send({"type": "GO"})

    assert actor.get_snapshot().value == "c"


def test_actions_see_states_come_and_go():
    seen = []

    def look(name):
        return enqueue_actions(lambda context, event, enqueue: seen.append((name, enqueue.check(state_in("#a")))))

    config = {
        "initial": "a",
        "options": {"scxml": True},
        "states": {
            "a": {"id": "a", "exit": [look("exit")], "on": {"GO": {"target": "b", "actions": [look("taking")]}}},
            "b": {"entry": [look("entry")]},
        },
    }
    Walk(config).send("GO")

    assert seen == [("exit", True), ("taking", False), ("entry", False)]


def test_the_default_of_a_history_has_actions():
    config = {
        "initial": "out",
        "options": {"scxml": True},
        "states": {
            "out": {"on": {"GO": "in.memory"}},
            "in": {
                "entry": "enter",
                "initial": "one",
                "states": {"memory": {"type": "history", "target": "two", "entry": "forgotten"}, "one": {}, "two": {}},
                "on": {"BACK": "out"},
            },
        },
    }
    walk = Walk(config).send("GO")

    assert walk.calls == ["enter", "forgotten"]
    assert walk.send("BACK").send("GO").calls == ["enter"]


def test_a_state_around_a_finished_parallel_state_is_not_done_by_it():
    inner = {"type": "parallel", "states": {"c": {"initial": "f", "states": {"f": {"type": "final"}}}}}
    config = {
        "id": "m",
        "initial": "p",
        "states": {"p": {"type": "parallel", "onDone": "end", "states": {"inner": inner}}, "end": {}},
    }

    assert Walk(config).snapshot.value == "end"
    assert Walk({**config, "options": {"scxml": True}}).snapshot.value == {"p": {"inner": {"c": "f"}}}


def test_an_event_matches_descriptors_that_begin_its_name():
    config = {"initial": "a", "states": {"a": {"on": {"go": "b", "*": "c"}}, "b": {}, "c": {}}}

    assert Walk(config).send("go.now").snapshot.value == "c"
    assert Walk({**config, "options": {"scxml": True}}).send("go.now").snapshot.value == "b"


def test_a_stopped_actor_runs_its_exit_actions():
    calls = []
    config = {
        "initial": "a",
        "options": {"scxml": True},
        "exit": lambda: calls.append("machine"),
        "states": {"a": {"exit": lambda: calls.append("state")}},
    }
    create_actor(create_machine(config)).start().stop()

    assert calls == ["state", "machine"]
