"""Random walks through machines: what they are made of, and how failing ones shrink."""

from typing import Literal, NotRequired, TypedDict

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from antiphon import assign, create_machine, from_task, setup
from antiphon.testing import StateContract, WalkFailed, run_walk, walks

ACCOUNT = create_machine(
    {
        "id": "account",
        "initial": "open",
        "context": {"balance": 0, "checks": []},
        "states": {
            "open": {
                "on": {"PAY": {"actions": "pay"}, "TAKE": {"actions": "take"}, "CLOSE": "closed"},
                "after": {"1000": "frozen"},
            },
            "frozen": {
                "invoke": {"src": "audit", "onDone": {"target": "open", "actions": "note"}, "onError": "closed"}
            },
            "closed": {"type": "final"},
        },
    },
    actions={
        "pay": assign({"balance": lambda context, event: context["balance"] + event["amount"]}),
        "take": assign({"balance": lambda context, event: context["balance"] - event["amount"]}),
        "note": assign({"checks": lambda context, event: [*context["checks"], event["output"]]}),
    },
    actors={"audit": from_task(lambda: None)},
)
AMOUNTS = st.fixed_dictionaries({"amount": st.integers(1, 100)})
QUIET = settings(database=None, max_examples=2000)


def account_walks(**options):
    return walks(ACCOUNT, **{"events": {"PAY": AMOUNTS, "TAKE": AMOUNTS}, **options})


def shortest(strategy, condition):
    return find(strategy, condition, settings=QUIET)


@given(account_walks())
def test_a_walk_can_be_repeated(walk):
    again = run_walk(ACCOUNT, walk.events)

    assert [snapshot.value for snapshot in again.snapshots] == [snapshot.value for snapshot in walk.snapshots]
    assert again.snapshot.context == walk.snapshot.context


@given(account_walks(max_steps=4))
def test_a_walk_has_at_most_so_many_steps_and_ends_with_the_machine(walk):
    assert len(walk.steps) <= 4
    assert all(snapshot.status == "active" for snapshot in walk.snapshots[:-1])


def test_a_failing_walk_shrinks_to_the_few_steps_that_matter():
    def has_large_payment_and_audit(walk):
        return any(event.get("amount", 0) >= 50 for event in walk.events) and walk.snapshot.context["checks"]

    walk = shortest(account_walks(), has_large_payment_and_audit)

    assert len(walk.steps) == 3
    assert sum(event.get("amount", 0) for event in walk.events) == 50


def test_a_walk_goes_through_timers_and_results_of_children():
    walk = shortest(
        account_walks(outputs={"audit": st.sampled_from(["fine", "odd"])}),
        lambda walk: "odd" in walk.snapshot.context["checks"],
    )

    assert str(walk) == "open -- after 1000 ms --> frozen -- done audit --> open"
    assert repr(walk).startswith("<Walk open -- after 1000 ms -->")


def test_a_child_can_fail():
    walk = shortest(account_walks(), lambda walk: len(walk.steps) == 2 and walk.snapshot.value == "closed")
    failed = shortest(account_walks(exclude=["CLOSE"]), lambda walk: walk.snapshot.value == "closed")

    assert walk.snapshot.status == "done"
    assert str(failed) == "open -- after 1000 ms --> frozen -- error audit --> closed (done)"


def test_events_can_depend_on_the_snapshot():
    def whole(snapshot):
        return st.just({"amount": snapshot.context["balance"]})

    walk = shortest(
        walks(ACCOUNT, events={"PAY": AMOUNTS, "TAKE": whole}),
        lambda walk: {"TAKE", "PAY"} <= {event["type"] for event in walk.events},
    )

    assert [event["type"] for event in walk.events] in (["PAY", "TAKE"], ["TAKE", "PAY"])


class Go(TypedDict):
    """Go on."""

    type: Literal["GO"]
    pace: Literal["fast", "slow"]
    names: list[str]
    note: NotRequired[str | None]


class Inner(TypedDict):
    """Of the machine itself."""

    type: Literal["INNER"]


def runner():
    return setup(events=[Go, Inner], public=["GO"]).create_machine({"id": "runner", "on": {"GO": {}, "INNER": {}}})


@given(walks(runner()))
def test_keys_are_drawn_from_declared_types(walk):
    types = runner().event_types

    assert all(types.check_outside(event) is None for event in walk.events)


def test_events_that_may_not_come_from_outside_do_not_come():
    walk = shortest(walks(runner()), lambda walk: len(walk.events) == 3)

    assert {event["type"] for event in walk.events} == {"GO"}


def test_inputs_are_drawn():
    machine = create_machine({"id": "m", "context": lambda first: {"n": first}})

    assert shortest(walks(machine, input=st.integers(3, 9)), lambda walk: walk.snapshot.context["n"] > 4)


def test_a_function_that_raises_fails_the_walk_with_its_steps():
    with pytest.raises(WalkFailed, match=r"raised KeyError\('amount'\)") as failure:
        run_walk(ACCOUNT, [{"type": "PAY", "amount": 5}, "TAKE"])

    assert "after: open -- PAY --> open -- TAKE --> open" in str(failure.value)


def test_contracts_are_checked_while_walks_are_drawn():
    contract = StateContract("open", invariant=lambda snapshot: snapshot.context["balance"] > -150)

    with pytest.raises(AssertionError, match="the invariant of open does not hold\n  after: open -- TAKE --> open -- "):
        find(account_walks(contracts=[contract]), lambda walk: False, settings=QUIET)
