"""A request to make tool calls: from the question to the answer, and never a silent yes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    create_actor,
    create_machine,
    get_transition_paths,
    initial_transition,
    play,
    reachable_states,
    to_mermaid,
    transition,
)
from antiphon.threads.machine.permission import CHART, permission_machine
from antiphon.tools.access import READ_ONLY, WRITABLE, Access
from tests.fixtures.charts import load_chart
from tests.paths import DOCS
from tests.threads.machine.test_permission_rules import (
    ALLOW_ALL,
    DENY_ALL,
    DESTROY,
    EDIT,
    READ,
    change,
    command,
)

PAGE = DOCS / "machines" / "permission.md"


def request(*calls, mode="ask", timeout=60_000, **rules):
    return {"id": "p1", "calls": list(calls), "mode": mode, "rules": rules, "timeoutMs": timeout}


def answer_request(input, *events):
    """The end of a request that got these events."""
    return play(permission_machine, events, input=input).snapshot


def test_a_request_that_the_rules_do_not_decide_waits_for_a_person():
    asking, effects = initial_transition(permission_machine, request(EDIT))

    assert asking.matches("requested")
    assert asking.value == {"requested": "asking"}
    assert [effect.params["delay"] for effect in effects] == [60_000]


@pytest.mark.requirement("S0.4-11")
@pytest.mark.parametrize(
    ("input", "decision", "by"),
    [
        (request(EDIT, blocked=["tool"]), "denied", "blocked"),
        (request(EDIT, tripped=["tool"]), "denied", "breaker"),
        (request(EDIT, mode="plan"), "denied", "plan"),
        (request(EDIT, overrides=DENY_ALL), "denied", "override"),
        (request(EDIT, overrides=ALLOW_ALL), "allowed", "override"),
        (request(EDIT, autoAllow=["tool"]), "allowed", "auto-allow"),
        (request(READ), "allowed", "mode"),
    ],
)
def test_what_the_rules_decide_is_decided_at_once_and_nobody_is_asked(input, decision, by):
    snapshot, effects = initial_transition(permission_machine, input)

    assert (snapshot.status, snapshot.value) == ("done", decision)
    assert (snapshot.output["decision"], snapshot.output["by"], snapshot.output["scope"]) == (decision, by, None)
    assert snapshot.output["reason"]
    assert effects == ()


@pytest.mark.parametrize(
    ("event", "decision", "scope", "reason"),
    [
        ({"type": "ALLOW", "id": "p1"}, "allowed", "once", "a person allowed it"),
        ({"type": "ALLOW", "scope": "once", "id": "p1"}, "allowed", "once", "a person allowed it"),
        ({"type": "ALLOW", "scope": "tool", "id": "p1"}, "allowed", "tool", "a person allowed it"),
        ({"type": "DENY"}, "denied", None, "a person said no"),
        ({"type": "DENY", "reason": "not on main"}, "denied", None, "not on main"),
        ({"type": "EXPIRE"}, "expired", None, "the process that asked is gone"),
        ({"after": 60_000}, "expired", None, "nobody answered in time"),
    ],
)
def test_an_answer_ends_the_request(event, decision, scope, reason):
    """Once, by a scope that is offered, no with a reason; silence and a lost process expire it."""
    output = answer_request(request(EDIT), event).output

    assert (output["decision"], output["scope"], output["reason"]) == (decision, scope, reason)
    assert output["id"] == "p1"
    assert output["by"] == ("nobody" if decision == "expired" else "person")


@pytest.mark.requirement("X-4", "E-21")
@pytest.mark.parametrize(
    "event",
    [
        {"type": "ALLOW", "id": "another"},
        {"type": "DENY", "id": "another"},
        {"type": "EXPIRE", "id": "another"},
        {"type": "ALLOW"},
        {"type": "ALLOW", "id": "p1", "scope": "forever"},
        {"type": "ALLOW", "id": "p1", "scope": "command"},
        {"type": "ALLOW", "id": "p1", "outside": True},
        {"type": "ALLOW", "id": "p1", "arguments": {"another": {}}},
        {"type": "ALLOW", "id": "p1", "arguments": {EDIT["id"]: "rm"}},
        {"type": "ALLOW", "id": "p1", "arguments": {EDIT["id"]: {}}, "scope": "tool"},
        {"type": "YES"},
    ],
)
def test_an_answer_to_something_else_is_refused(event):
    asking, _ = initial_transition(permission_machine, request(EDIT))

    assert not asking.can(event)
    assert transition(permission_machine, asking, event)[0] is asking


def test_arguments_that_a_person_has_changed_are_those_of_the_call():
    make = command("make")
    edits = {make["id"]: {"command": "make test"}}

    output = answer_request(request(make), {"type": "ALLOW", "id": "p1", "arguments": edits}).output

    assert output["decision"] == "allowed"
    assert output["reason"] == "a person changed and allowed it"
    (call,) = output["calls"]
    assert (call["arguments"], call["edited"]) == ('{"command": "make test"}', True)
    assert call["access"] == WRITABLE.to_json()


def test_arguments_that_a_rule_denies_cannot_be_chosen():
    make = command("make")
    asking, _ = initial_transition(permission_machine, request(make, blocked=["shell(rm *)"]))
    allow = {"type": "ALLOW", "id": "p1"}

    assert asking.can({**allow, "arguments": {make["id"]: {"command": "make test"}}})
    assert not asking.can({**allow, "arguments": {make["id"]: {"command": "rm -r ."}}})


def test_only_calls_that_are_asked_about_can_be_changed():
    other = {**READ, "id": "other"}
    asking, _ = initial_transition(permission_machine, request(EDIT, other))
    twice, _ = initial_transition(permission_machine, request(EDIT, EDIT))
    allow = {"type": "ALLOW", "id": "p1"}

    assert asking.can({**allow, "arguments": {EDIT["id"]: {}}})
    assert not asking.can({**allow, "arguments": {"other": {}}})
    assert not twice.can({**allow, "arguments": {EDIT["id"]: {}}})


@pytest.mark.requirement("S3-B13", "E-12")
@pytest.mark.parametrize("end", [{"type": "EXPIRE"}, {"after": 60_000}, {"type": "DENY"}])
def test_a_yes_that_comes_too_late_is_no_yes(end):
    """An expired permission cannot be approved."""
    snapshot = answer_request(request(EDIT), end, {"type": "ALLOW", "id": "p1"})

    assert snapshot.output["decision"] != "allowed"
    assert not snapshot.can({"type": "ALLOW", "id": "p1"})


@pytest.mark.requirement("S3-B13", "E-11")
def test_a_request_restored_after_its_time_has_expired():
    """A request that was open when the process ended is not approved by the next one."""
    clock = SimulatedClock()
    actor = create_actor(permission_machine, input=request(EDIT), clock=clock).start()
    saved = json.loads(json.dumps(actor.get_persisted_snapshot(timers=True)))
    later = SimulatedClock(clock.now() + 60_001)
    again = create_actor(permission_machine, snapshot=saved, clock=later).start()
    later.increment(0)

    assert again.get_snapshot().output["decision"] == "expired"


def test_every_call_of_a_batch_is_in_the_question_and_in_the_answer():
    received = []
    parent = create_machine(
        {
            "invoke": {
                "src": "permission",
                "id": "p",
                "input": {**request(READ, EDIT, DESTROY), "reportsToParent": True},
            },
            "on": {"PERMISSION.REQUESTED": {"actions": lambda context, event: received.append(event)}},
        },
        actors={"permission": permission_machine},
    )
    create_actor(parent, clock=SimulatedClock()).start()
    output = answer_request(request(READ, EDIT, DESTROY), {"type": "ALLOW", "id": "p1"}).output

    [question] = received
    assert (question["id"], question["timeoutMs"]) == ("p1", 60_000)
    assert [call["text"] for call in question["calls"]] == ["tool()", "tool()", 'drop({"table": "x"})']
    assert [call["id"] for call in output["calls"]] == [READ["id"], EDIT["id"], DESTROY["id"]]


@pytest.mark.requirement("S2.4-7")
def test_how_much_of_a_call_is_shown_follows_its_risk_and_who_decided():
    """Read silent, mutation acknowledged, destructive approved."""
    silent = answer_request(request(READ, EDIT, mode="auto")).output["calls"]
    asking = answer_request(request(EDIT, DESTROY), {"type": "ALLOW", "id": "p1"}).output["calls"]
    refused = answer_request(request(READ, EDIT), {"type": "DENY"}).output["calls"]

    assert [call["shown"] for call in silent] == ["silent", "acknowledged"]
    assert [call["shown"] for call in asking] == ["approved", "approved"]
    assert [call["shown"] for call in refused] == ["refused", "refused"]


# -- what an answer grants -------------------------------------------------------------------------------------------


def granted(output):
    return [call["access"] and Access.from_json(call["access"]) for call in output["calls"]]


def test_an_allowed_command_gets_what_the_question_said():
    calls = [command("ls", "read"), command("make"), command("curl x", network=["*"])]
    output = answer_request(request(*calls), {"type": "ALLOW", "id": "p1"}).output

    assert granted(output) == [READ_ONLY, WRITABLE, Access(writes=True, network=True)]


def test_outside_is_an_answer_of_its_own_for_the_commands_that_were_asked_about():
    calls = [command("ls", "read"), command("make"), change()]
    output = answer_request(request(*calls), {"type": "ALLOW", "id": "p1", "outside": True}).output

    assert granted(output) == [READ_ONLY, Access(writes=True, protected=True, network=True, outside=True), WRITABLE]


@pytest.mark.parametrize("answer", [{"outside": True, "scope": "command"}, {"outside": "yes"}, {"outside": 1}])
def test_outside_holds_once_and_has_one_form(answer):
    asking, _ = initial_transition(permission_machine, request(command("make")))

    assert not asking.can({"type": "ALLOW", "id": "p1", **answer})


# -- the chart -------------------------------------------------------------------------------------------------------

INPUTS = [
    request(EDIT),
    request(EDIT, blocked=["tool"]),
    request(EDIT, tripped=["tool"]),
    request(EDIT, mode="plan"),
    request(EDIT, overrides=DENY_ALL),
    request(EDIT, overrides=ALLOW_ALL),
    request(EDIT, autoAllow=["tool"]),
    request(READ),
]


@pytest.mark.requirement("X-11", "E-19")
def test_every_state_can_be_reached_and_every_transition_taken():
    """The input decides, so every kind of request is tried."""
    # Without an id, a request is answered by events without one.
    inputs = [{**input, "id": None} for input in INPUTS]
    reached = {state for input in inputs for state in reachable_states(permission_machine, input=input)}
    missed = [set(get_transition_paths(permission_machine, input=input).unreached) for input in inputs]

    assert reached == {node.id for node in permission_machine.root.walk()}
    assert set.intersection(*missed) == set()


def test_whatever_waits_can_be_left_and_whatever_is_left_is_final():
    """Nothing waits for ever: time ends it."""
    states = permission_machine.states

    assert {key for key, node in states.items() if node.type == "final"} == {"allowed", "denied", "expired"}
    assert answer_request(request(EDIT), {"after": 60_000}).status == "done"


def test_every_state_is_described_and_the_chart_is_data():
    chart = load_chart("permission")
    states = [*chart["states"].values(), *chart["states"]["requested"]["states"].values()]

    assert all(state["description"] for state in states)
    assert json.loads(json.dumps(chart)) == chart == CHART


@pytest.mark.requirement("X-10")
def test_the_picture_on_the_page_is_the_machine():
    assert f"```mermaid\n{to_mermaid(permission_machine)}```" in PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_event_mode_and_part_of_the_context():
    text = PAGE.read_text(encoding="utf-8")
    names = [*CHART["context"], "ALLOW", "DENY", "EXPIRE", "plan", "ask", "auto-edit", "auto", "PERMISSION.REQUESTED"]

    assert [name for name in names if f"`{name}`" not in text] == []


STEPS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["ALLOW", "DENY", "EXPIRE"])},
            optional={"id": st.sampled_from(["p1", "p2"]), "scope": st.text(max_size=3), "reason": st.text()},
        ),
        st.integers(0, 40_000),
    ),
    max_size=6,
)


def take(actor, clock, step):
    if isinstance(step, int):
        clock.increment(step)
    else:
        actor.send(step)


@pytest.mark.requirement("E-17")
@settings(max_examples=100, deadline=None)
@given(st.sampled_from(INPUTS), STEPS, STEPS)
def test_a_restored_request_goes_on_like_the_original_and_only_a_yes_allows(input, steps, onward):
    """And all of it is JSON."""
    clock = SimulatedClock()
    later = SimulatedClock()
    actor = create_actor(permission_machine, input=input, clock=clock).start()
    for step in steps:
        take(actor, clock, step)
    saved = json.loads(json.dumps(actor.get_persisted_snapshot(timers=True)))
    later.set(clock.now())
    again = create_actor(permission_machine, snapshot=saved, clock=later).start()
    for step in onward:
        take(actor, clock, step)
        take(again, later, step)

    assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
    output = actor.get_snapshot().output
    if input is INPUTS[0] and output and output["decision"] == "allowed":
        assert any(isinstance(step, dict) and step["type"] == "ALLOW" for step in [*steps, *onward])
