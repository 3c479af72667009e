"""Contracts on states and transitions, and watchers, at every step of a machine."""

import pytest

from antiphon import SimulatedClock, assign, create_actor, create_machine
from antiphon.chart.errors import EngineError
from antiphon.testing import ContractBroken, ContractMonitor, StateContract, TransitionContract, run_walk

DOOR = create_machine(
    {
        "id": "door",
        "initial": "closed",
        "context": {"key": False, "opened": 0},
        "states": {
            "closed": {"on": {"KEY": {"actions": "give"}, "OPEN": "open", "PASS": "airlock"}},
            "airlock": {"always": "open"},
            "open": {
                "entry": "count",
                "initial": "ajar",
                "states": {"ajar": {"on": {"PUSH": "wide"}}, "wide": {}},
                "on": {"CLOSE": "closed", "AGAIN": {"target": "open", "reenter": True}},
                "after": {"5000": "closed"},
            },
        },
    },
    actions={
        "give": assign({"key": True}),
        "count": assign({"opened": lambda context: context["opened"] + 1}),
    },
)


def has_key(snapshot):
    return snapshot.context["key"]


def broken(*contracts, events, watchers=()):
    """The first line of the message of the contract that breaks, or None."""
    try:
        run_walk(DOOR, events, contracts=contracts, watchers=watchers)
    except ContractBroken as error:
        return str(error).splitlines()[0]
    return None


def test_what_a_state_requires_is_checked_before_it_is_entered():
    contract = StateContract("open", requires=has_key)

    assert broken(contract, events=["KEY", "OPEN"]) is None
    assert broken(contract, events=["OPEN"]) == "the condition 'has_key' that open requires does not hold"


def test_an_invariant_is_checked_whenever_its_state_is_active():
    contract = StateContract("open", invariant=lambda snapshot: snapshot.context["opened"] < 2)

    assert broken(contract, events=["OPEN", "CLOSE"]) is None
    assert broken(contract, events=["OPEN", "AGAIN"]) == "the invariant of open does not hold"


def test_an_invariant_of_the_whole_machine_has_no_state():
    contract = StateContract(invariant=lambda snapshot: not snapshot.context["key"])

    assert broken(contract, events=["KEY"]) == "the invariant of door does not hold"


def test_what_a_state_ensures_sees_the_snapshot_of_its_entry():
    contract = StateContract("closed", ensures=lambda after, entry: after.context["key"] != entry.context["key"])

    assert broken(contract, events=["KEY", "OPEN"]) is None
    assert broken(contract, events=["OPEN"]) == "the condition that closed ensures does not hold"


def test_a_state_that_is_left_and_entered_again_has_both_checked():
    contract = StateContract("open", ensures=lambda after, entry: after.context["opened"] == entry.context["opened"])

    assert broken(contract, events=["OPEN", "AGAIN"]) == "the condition that open ensures does not hold"


def test_a_state_inside_one_step_is_checked():
    contract = StateContract("airlock", requires=has_key)

    assert broken(contract, events=["PASS"]) == "the condition 'has_key' that airlock requires does not hold"


def test_a_state_is_named_by_path_or_id():
    for name in ("open.wide", "#door.open.wide"):
        assert broken(StateContract(name, requires=has_key), events=["OPEN", "PUSH"]) is not None


def test_contracts_of_transitions_see_the_snapshots_around_them():
    contract = TransitionContract("closed", "OPEN", requires=has_key)
    counted = TransitionContract(
        "closed", "OPEN", ensures=lambda after, before: after.context["opened"] > before.context["opened"] + 1
    )

    assert broken(contract, events=["OPEN"]) == "the condition 'has_key' that closed: OPEN requires does not hold"
    assert broken(counted, events=["OPEN"]) == "the condition that closed: OPEN ensures does not hold"
    assert broken(contract, counted, events=["PASS"]) is None


def test_the_message_has_the_walk_and_the_context():
    with pytest.raises(ContractBroken) as failure:
        run_walk(
            DOOR,
            ["OPEN", {"type": "CLOSE", "by": "wind"}, "OPEN"],
            contracts=[StateContract("open", invariant=lambda snapshot: snapshot.context["opened"] < 2)],
        )

    assert str(failure.value).splitlines()[1:] == [
        "  after: closed -- OPEN --> open.ajar -- CLOSE --> closed -- OPEN --> open.ajar",
        "  CLOSE: {'type': 'CLOSE', 'by': 'wind'}",
        "  context: {'key': False, 'opened': 2}",
    ]


def test_a_contract_on_a_state_that_does_not_exist_is_refused():
    with pytest.raises(EngineError, match="no state named 'cellar'"):
        run_walk(DOOR, [], contracts=[StateContract("cellar")])


WATCHER = create_machine(
    {
        "id": "neverTwice",
        "initial": "watching",
        "states": {
            "watching": {"on": {"entered.open": "opened"}},
            "opened": {"on": {"entered.open": "twice"}, "after": {"60000": "watching"}},
            "twice": {"type": "final"},
        },
    }
)


def test_a_watcher_that_ends_breaks_the_walk():
    assert broken(events=["OPEN", "CLOSE"], watchers=[WATCHER]) is None
    assert broken(events=["OPEN", "CLOSE", "OPEN"], watchers=[WATCHER]) == "the watcher 'neverTwice' has ended"


@pytest.mark.parametrize(("delay", "is_broken"), [("1000", False), ("9000", True)])
def test_the_delays_of_a_watcher_run_in_the_time_of_the_machine(delay, is_broken):
    slow = create_machine(
        {
            "id": "slow",
            "initial": "watching",
            "states": {
                "watching": {"on": {"entered.open": "opened"}},
                "opened": {"after": {delay: "calm"}, "on": {"left.open": "early"}},
                "calm": {},
                "early": {"type": "final"},
            },
        }
    )

    assert (broken(events=["OPEN", "xstate.after.5000.door.open"], watchers=[slow]) is not None) == is_broken


def test_a_watcher_sees_events_states_and_the_end_of_a_step():
    seen = []
    watcher = create_machine(
        {"id": "note", "context": {"seen": []}, "on": {"*": {"actions": "note"}}},
        actions={"note": assign({"seen": lambda context, event: seen.append(event["type"]) or []})},
    )
    run_walk(DOOR, ["OPEN"], watchers=[watcher])

    assert seen == [
        "event.xstate.init", "entered.door", "entered.closed", "step",
        "event.OPEN", "left.closed", "entered.open", "entered.open.ajar", "step",
    ]  # fmt: skip


def test_a_monitor_checks_an_actor():
    contracts = [StateContract("open", requires=has_key), StateContract("closed", invariant=has_key)]
    monitor = ContractMonitor(DOOR, contracts[:1])
    actor = create_actor(DOOR, clock=SimulatedClock(), inspect=monitor.inspect).start()
    actor.send({"type": "KEY"})
    actor.send({"type": "OPEN"})
    monitor.check()

    other = ContractMonitor(DOOR, contracts)
    create_actor(DOOR, clock=SimulatedClock(), inspect=other.inspect).start().send({"type": "OPEN"})
    assert [problem.splitlines()[0] for problem in other.broken] == [
        "the invariant 'has_key' of closed does not hold after {'type': 'xstate.init'}",
        "the condition 'has_key' that open requires does not hold after {'type': 'OPEN'}",
    ]
    with pytest.raises(ContractBroken):
        other.check()


def test_a_transition_that_another_one_outranks_is_not_checked():
    both = create_machine(
        {
            "id": "both",
            "initial": "p",
            "states": {
                "p": {
                    "type": "parallel",
                    "states": {
                        "left": {"initial": "a", "states": {"a": {"on": {"GO": "#both.q"}}}},
                        "right": {"initial": "b", "states": {"b": {"on": {"GO": "#both.r"}}}},
                    },
                },
                "q": {},
                "r": {},
            },
        }
    )
    monitor = ContractMonitor(both, [TransitionContract("p.right.b", "GO", requires=lambda snapshot: False)])
    create_actor(both, inspect=monitor.inspect).start().send({"type": "GO"})

    assert monitor.broken == []


def test_a_monitor_checks_the_states_that_are_entered_at_the_start():
    monitor = ContractMonitor(DOOR, [StateContract("closed", requires=has_key)])
    create_actor(DOOR, clock=SimulatedClock(), inspect=monitor.inspect).start()

    assert len(monitor.broken) == 1


def test_an_async_condition_is_refused_because_it_would_always_hold():
    async def never(snapshot):
        return False

    def never_either(snapshot):
        yield False

    for condition in (never, never_either):
        with pytest.raises(TypeError, match="a condition is a plain function of snapshots"):
            run_walk(DOOR, ["OPEN"], contracts=[StateContract("open", invariant=condition)])
