"""A few paths take every pair of transitions that can follow each other; what never happens has a reason."""

import random
from itertools import pairwise

import pytest

from antiphon import ExplorationError, assign, create_machine, from_task, get_pair_paths, state_in
from antiphon.chart.explore.labels import written_transitions
from antiphon.chart.explore.pairs import TransitionPair
from antiphon.chart.explore.reachability import connected_states
from antiphon.chart.explore.situation import enter, take, take_next
from antiphon.chart.explore.successors import possible_pairs


def machine_of(states, **functions):
    return create_machine({"id": "m", "initial": next(iter(states)), "states": states}, **functions)


def names(pairs):
    return sorted(" ".join(transition.event_type or "always" for transition in pair) for pair in pairs)


def pairs_along(machine, events):
    """The pairs that happen when events are really taken: microsteps in a row, without a silent event between them."""
    turns = enter(machine)
    pairs = set()
    last = ()
    for event in [None, *events]:
        if event is not None:
            situation = turns[-1].situation
            first = situation.pending.next
            fires = first is not None and first.event["type"] == event["type"]
            turns = take_next(machine, situation) if fires else take(machine, situation, event)
        steps = [step.transitions for turn in turns for step in turn.microsteps if step.transitions]
        for earlier, later in pairwise([last, *steps]):
            pairs.update(TransitionPair(first, second) for first in earlier for second in later)
        last = steps[-1] if steps else ()
    return pairs


def random_machine(seed):
    """A machine with regions, a history, timers, eventless transitions and a child."""
    choose = random.Random(seed)

    def transition(keys, others):
        to = choose.choice([choose.choice(keys), choose.choice(others), None])
        return {} if to is None else {"target": to, "reenter": choose.random() < 0.3}

    def state(number, keys, others):
        config = {"id": keys[number][1:], "on": {event: transition(keys, others) for event in choose.sample("ABCD", 2)}}
        if choose.random() < 0.3:
            config["after"] = {choose.choice([5, 9]): choose.choice(keys)}
        if choose.random() < 0.3 and number < 2:  # to a later one, so that there are no circles
            config["always"] = {"target": keys[number + 1], "guard": state_in(choose.choice(others[:2]))}
        return config

    def region(prefix, others):
        keys = [f"#{prefix}{number}" for number in range(3)]
        states = {f"{prefix}{number}": state(number, keys, others) for number in range(3)}
        states["h"] = {"type": "history", "id": f"{prefix}h", "target": f"{prefix}1"}
        on = {"E": choose.choice([f"#{prefix}h", f".{prefix}2"])}
        return {"initial": f"{prefix}0", "states": states, "on": on}

    regions = {"x": region("x", ["#y0", "#y2", "#yh"]), "y": region("y", ["#x0", "#x1"])}
    return create_machine({"id": "m", "type": "parallel", "states": regions})


def test_each_way_in_is_followed_by_each_way_out():
    states = {"a": {"on": {"X": "b", "Y": "b"}}, "b": {"on": {"V": "a", "W": "a"}}}

    result = get_pair_paths(machine_of(states))

    assert names(result.pairs) == ["V X", "V Y", "W X", "W Y", "X V", "X W", "Y V", "Y W"]
    assert len(result.paths) == 1
    assert result.is_complete


def test_a_transition_without_an_event_follows_in_the_same_step():
    result = get_pair_paths(machine_of({"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {"on": {"BACK": "a"}}}))

    assert names(result.pairs) == ["BACK GO", "GO always", "always BACK"]
    assert [str(path) for path in result.paths] == ["a -- GO --> c -- BACK --> a -- GO --> c"]


def test_timers_and_children_make_pairs():
    states = {
        "a": {"after": {5: "b"}},
        "b": {"invoke": {"src": "load", "id": "l", "onDone": "a", "onError": "a"}},
    }

    result = get_pair_paths(machine_of(states, actors={"load": from_task(lambda: None)}))

    assert names(result.pairs) == [
        "xstate.after.5.m.a xstate.done.actor.l",
        "xstate.after.5.m.a xstate.error.actor.l",
        "xstate.done.actor.l xstate.after.5.m.a",
        "xstate.error.actor.l xstate.after.5.m.a",
    ]


def test_every_transition_is_taken_also_one_in_no_pair():
    result = get_pair_paths(machine_of({"a": {"on": {"X": "b", "Y": "c"}}, "b": {}, "c": {}}))

    assert [str(path) for path in result.paths] == ["a -- X --> b", "a -- Y --> c"]
    assert (result.pairs, result.is_complete) == ((), True)


def test_a_pair_on_the_way_in_needs_no_step():
    result = get_pair_paths(machine_of({"a": {"always": "b"}, "b": {"always": "c"}, "c": {}}))

    assert names(result.pairs) == ["always always"]
    assert [path.weight for path in result.paths] == [0]


def test_what_follows_the_way_in_is_a_pair():
    result = get_pair_paths(machine_of({"a": {"always": "b"}, "b": {"on": {"GO": "c"}}, "c": {}}))

    assert names(result.pairs) == ["always GO"]


def test_an_event_between_two_transitions_keeps_them_apart():
    states = {"a": {"on": {"X": "b"}}, "b": {"on": {"Y": "c"}}, "c": {"on": {"Z": "a"}}}

    assert names(get_pair_paths(machine_of(states)).pairs) == ["X Y", "Y Z", "Z X"]


def test_a_guard_that_never_holds_after_a_transition_is_the_reason():
    first = {"target": "b", "actions": assign({"n": lambda context: context["n"] + 1})}
    states = {
        "a": {"on": {"X": first, "Y": "b"}},
        "b": {"on": {"ONCE": {"target": "c", "guard": "isZero"}, "RESET": "c"}},
        "c": {},
    }
    machine = create_machine(
        {"id": "m", "initial": "a", "context": {"n": 0}, "states": states},
        guards={"isZero": lambda context: context["n"] == 0},
    )

    result = get_pair_paths(machine)

    assert {str(pair): reason for pair, reason in result.unreached_pairs.items()} == {
        "m.a: X / assign, then m.b: ONCE [isZero]": "the guard 'isZero' never holds right after it"
    }
    assert not result.is_complete
    assert result.unreached == {}


def test_another_transition_may_always_come_first():
    states = {"a": {"on": {"X": "b", "Y": "c"}}, "b": {"on": {"E": "a"}}, "c": {"on": {"BACK": "a"}}}
    machine = create_machine({"id": "m", "initial": "a", "states": states, "on": {"E": ".a"}})

    reasons = {str(pair): reason for pair, reason in get_pair_paths(machine).unreached_pairs.items()}

    assert reasons == {"m.a: X, then m: E": "another transition always comes first"}


def test_a_timer_that_never_comes_next_is_the_reason():
    regions = {
        "pulse": {"initial": "on", "states": {"on": {"after": {10: {"target": "on", "reenter": True}}}}},
        "alarm": {"initial": "off", "states": {"off": {"on": {"SET": "set"}}, "set": {"after": {15: "off"}}}},
    }
    result = get_pair_paths(create_machine({"id": "m", "type": "parallel", "states": regions}))

    assert {str(pair): reason for pair, reason in result.unreached_pairs.items()} == {
        "m.alarm.off: SET, then m.alarm.set: after 15 ms": "no event 'xstate.after.15.m.alarm.set' comes right after it"
    }


def test_a_transition_that_is_never_taken_has_a_reason_and_no_pairs():
    states = {"a": {"on": {"E": ["b", "c"]}}, "b": {"on": {"F": "a"}}, "c": {}}

    result = get_pair_paths(machine_of(states))

    assert list(result.unreached.values()) == ["another transition always comes first"]
    assert result.unreached_pairs == {}
    assert str(result).endswith("not taken: m.a: E: another transition always comes first")


def test_nothing_follows_the_end_of_a_machine():
    machine = create_machine(
        {"id": "m", "initial": "a", "states": {"a": {"on": {"END": "z"}}, "z": {"type": "final"}}, "on": {"X": ".a"}}
    )

    assert names(get_pair_paths(machine).pairs) == ["X END", "X X"]
    assert get_pair_paths(machine).is_complete


def test_a_context_that_grows_for_ever_does_not_matter_once_all_pairs_were_taken():
    more = {"actions": assign({"n": lambda context: context["n"] + 1})}
    machine = create_machine(
        {"id": "m", "initial": "a", "context": {"n": 0}, "states": {"a": {"on": {"MORE": more, "GO": "b"}}, "b": {}}}
    )

    result = get_pair_paths(machine)

    assert names(result.pairs) == ["MORE GO", "MORE MORE"]


def test_too_many_situations_are_an_error_that_says_what_to_do():
    more = {"actions": assign({"n": lambda context: context["n"] + 1})}
    never = {"target": "a", "guard": "never"}
    machine = create_machine(
        {"id": "m", "initial": "a", "context": {"n": 0}, "states": {"a": {"on": {"MORE": more, "E": never}}}},
        guards={"never": lambda: False},
    )

    with pytest.raises(ExplorationError, match=r"more than 50 situations; context\.n alone .* or raise limit"):
        get_pair_paths(machine, limit=50)


def test_a_pair_that_is_far_away_begins_another_path(monkeypatch):
    monkeypatch.setattr("antiphon.chart.explore.pair_paths.MOST_EDGES", 1)
    states = {f"s{i}": {"on": {"N": f"s{(i + 1) % 30}", "R": "s0"}} for i in range(30)}
    machine = machine_of(states)

    result = get_pair_paths(machine)

    walked = set().union(*(pairs_along(machine, path.events) for path in result.paths))
    assert walked == set(result.pairs)
    assert len(walked) == 120


@pytest.mark.parametrize("seed", range(40))
def test_paths_take_all_pairs_and_random_events_no_other(seed):
    machine = random_machine(seed)
    choose = random.Random(seed)
    result = get_pair_paths(machine)

    walked = set().union(*(pairs_along(machine, path.events) for path in result.paths))
    wild = set()
    for _ in range(20):
        wild |= pairs_along(machine, [{"type": choose.choice("ABCDE")} for _ in range(30)])

    assert walked == set(result.pairs)
    assert wild <= walked
    assert walked <= possible_pairs(machine.root, connected_states(machine.root))


def test_the_upper_bound_is_exact_without_regions():
    states = {
        "a": {"on": {"X": "b"}},
        "b": {"initial": "c", "states": {"c": {"on": {"IN": "d"}}, "d": {}}, "on": {"OUT": "a"}},
    }
    machine = machine_of(states)

    assert names(possible_pairs(machine.root, connected_states(machine.root))) == [
        "IN OUT",
        "OUT X",
        "X IN",
        "X OUT",
    ]
    assert {pair.second for pair in get_pair_paths(machine).pairs} == {
        transition for node in machine.root.walk() for transition in written_transitions(node)
    }
