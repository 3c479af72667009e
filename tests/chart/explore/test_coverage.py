"""A few paths take every transition, and for those that are never taken there is a reason."""

import pytest

from antiphon import assign, create_machine, from_task
from antiphon.chart.explore.coverage import get_transition_paths
from antiphon.chart.explore.labels import written_transitions
from antiphon.chart.explore.situation import enter, take, take_next


def machine_of(states, **functions):
    return create_machine({"id": "m", "initial": next(iter(states)), "states": states}, **functions)


def taken_along(machine, path):
    """The transitions a path takes when it is really walked."""
    turns = enter(machine)
    coverage = [transition for turn in turns for transition in turn.transitions]
    for event in path.events:
        situation = turns[-1].situation
        first = situation.pending.next
        fires = first is not None and first.event["type"] == event["type"]
        turns = take_next(machine, situation) if fires else take(machine, situation, event)
        coverage.extend(transition for turn in turns for transition in turn.transitions)
    return set(coverage)


def reasons(machine, **options):
    unreached = get_transition_paths(machine, **options).unreached
    return {transition.event_type: reason for transition, reason in unreached.items()}


def test_every_transition_is_taken():
    states = {
        "a": {"on": {"GO": "b", "STAY": {"actions": "x"}}, "after": {50: "c"}},
        "b": {"invoke": {"src": "load", "id": "l", "onDone": "c", "onError": "a"}},
        "c": {"always": {"target": "d", "guard": "ok"}},
        "d": {"on": {"BACK": "a", "IGNORED": {}}},
    }
    functions = {
        "actions": {"x": lambda: None},
        "guards": {"ok": lambda: True},
        "actors": {"load": from_task(lambda: None)},
    }
    machine = machine_of(states, **functions)

    coverage = get_transition_paths(machine)

    walked = set().union(*(taken_along(machine, path) for path in coverage.paths))
    assert walked == {transition for node in machine.root.walk() for transition in written_transitions(node)}
    assert coverage.is_complete


def test_one_path_does_as_much_as_it_can():
    machine = machine_of({"a": {"on": {"GO": "b"}}, "b": {"on": {"BACK": "a", "GO": "c"}}, "c": {}})

    coverage = get_transition_paths(machine)

    assert [str(path) for path in coverage.paths] == ["a -- GO --> b -- BACK --> a -- GO --> b -- GO --> c"]


def test_another_path_begins_where_one_cannot_go_on():
    coverage = get_transition_paths(machine_of({"a": {"on": {"X": "b", "Y": "c"}}, "b": {}, "c": {}}))

    assert [str(path) for path in coverage.paths] == ["a -- X --> b", "a -- Y --> c"]


def test_what_is_taken_on_the_way_in_needs_no_step():
    coverage = get_transition_paths(machine_of({"a": {"always": "b"}, "b": {}}))

    assert [path.weight for path in coverage.paths] == [0]
    assert coverage.is_complete


def test_a_transition_of_a_state_that_is_never_entered():
    assert reasons(machine_of({"a": {}, "b": {"on": {"E": "a"}}})) == {"E": "the state 'm.b' is never entered"}


def test_a_transition_whose_guard_never_holds():
    never = {"target": "b", "guard": "never"}

    coverage = reasons(machine_of({"a": {"on": {"E": never}}, "b": {}}, guards={"never": lambda: False}))

    assert coverage == {"E": "its guard 'never' never holds when its turn comes"}


def test_a_transition_that_another_one_shadows():
    coverage = reasons(machine_of({"a": {"on": {"E": ["b", "c"]}}, "b": {}, "c": {}}))

    assert coverage == {"E": "another transition always comes first"}


def test_a_transition_on_an_event_that_never_comes():
    assert reasons(machine_of({"a": {"on": {"E": "b"}}, "b": {}}), events=[]) == {"E": "no event 'E' ever comes"}


def test_a_transition_on_an_end_that_is_never_reached():
    inside = {"initial": "x", "states": {"x": {}, "end": {"type": "final"}}, "onDone": "b"}

    assert reasons(machine_of({"a": inside, "b": {}})) == {
        "xstate.done.state.m.a": "the state 'm.a' never reaches its end"
    }


def test_a_timer_that_another_one_always_beats():
    coverage = reasons(machine_of({"a": {"after": {5: "b", 9: "b"}}, "b": {}}))

    assert coverage == {"xstate.after.9.m.a": "no event 'xstate.after.9.m.a' ever comes"}


def test_a_context_that_grows_for_ever_does_not_matter_once_all_transitions_were_taken():
    more = {"actions": assign({"n": lambda context: context["n"] + 1})}
    machine = create_machine(
        {"initial": "a", "context": {"n": 0}, "states": {"a": {"on": {"MORE": more}}, "b": {"on": {"E": "a"}}}}
    )

    coverage = get_transition_paths(machine)

    assert [path.weight for path in coverage.paths] == [1]
    assert len(coverage.unreached) == 1


def test_the_result_reads_as_paths_and_reasons():
    text = str(get_transition_paths(machine_of({"a": {"on": {"E": ["b", "c"]}}, "b": {}, "c": {}})))

    assert text == "a -- E --> b\nnot taken: m.a: E: another transition always comes first"


@pytest.mark.parametrize("count", [1, 40])
def test_a_long_machine_needs_few_paths(count):
    states = {f"s{i}": {"on": {"N": f"s{(i + 1) % count}", "R": "s0"}} for i in range(count)}

    assert len(get_transition_paths(machine_of(states)).paths) == 1
