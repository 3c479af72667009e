"""Laws of the thread machine: facts that hold after any events, and requirements of its chart."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon import (
    SimulatedClock,
    create_actor,
    get_transition_paths,
    initial_transition,
    to_mermaid,
    transition,
    unreachable_states,
)
from antiphon.threads.machine.thread import CHART, STATUSES, thread_machine
from tests.fixtures.charts import load_chart
from tests.paths import DOCS, ROOT

PAGE = DOCS / "machines" / "thread.md"
LOST = {"code": "interrupted"}
REPORT = ({}, {"runId": "run-1"}, {"runId": "run-1", "error": LOST})
PAYLOADS = {
    "SET_STATUS": [{"status": status} for status in STATUSES],
    "FOLLOW_UP": [{}, {"message": {"text": "hello"}}],
    "START": [{}, {"runId": "run-1"}],
    "COMPLETE": REPORT,
    "FAIL": [*REPORT, {"error": {"code": "2003", "message": "no key"}}],
    "WAIT": [*REPORT, {"reason": "permission"}],
    "STOP": REPORT,
}


def situation(snapshot):
    """The part of a snapshot that tells threads apart, without the number of runs."""
    return json.dumps([snapshot.value, {**snapshot.context, "runs": 0, "runId": snapshot.context["runId"] == "run-1"}])


OPTIONS = {
    "payloads": PAYLOADS,
    "serialize": situation,
    "errors": {"chat": [LOST, {"code": "9001"}]},
    "input": {"threadId": "t", "kind": "chat", "config": {"onBusy": "queue"}},
}


@pytest.mark.requirement("X-11", "E-19")
def test_every_status_can_be_reached():
    assert unreachable_states(thread_machine, **OPTIONS) == []


@pytest.mark.requirement("X-11", "E-19", "S3-44")
def test_every_transition_is_taken_by_some_path():
    paths = get_transition_paths(thread_machine, **OPTIONS)

    assert paths.is_complete, str(paths)


@pytest.mark.requirement("S3-49..S3-54")
@pytest.mark.parametrize("status", STATUSES)
def test_every_status_can_be_left_by_an_event_and_none_is_an_end(status):
    """A thread lives until it is forgotten."""
    thread = thread_machine.resolve_state(status, context=initial_transition(thread_machine)[0].context)

    assert thread.status == "active"
    assert any(
        transition(thread_machine, thread, event)[0].value != status for event in ({"type": "START"}, {"type": "STOP"})
    )


def test_every_status_is_described():
    assert CHART["description"]
    assert all(state["description"] for state in CHART["states"].values())


@pytest.mark.requirement("S3-03", "S3-04", "S3-08", "S3-57")
def test_the_chart_is_data_that_another_engine_can_bind():
    """The browser loads the same file; a chart needs names, not functions."""
    chart = load_chart("thread")

    assert json.loads(json.dumps(chart)) == chart
    assert chart["context"] == initial_transition(thread_machine)[0].context


@pytest.mark.requirement("X-10")
def test_the_picture_on_the_page_is_the_machine():
    assert f"```mermaid\n{to_mermaid(thread_machine)}```" in PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_event_and_every_part_of_the_context():
    text = PAGE.read_text(encoding="utf-8")
    events = {type for type in thread_machine.events if not type.startswith("xstate.")}

    assert [name for name in [*events, *CHART["context"], *STATUSES] if f"`{name}`" not in text] == []


def test_the_modules_that_the_page_names_exist():
    """The page names the module of each part of the original specification."""
    root = ROOT
    table = PAGE.read_text(encoding="utf-8").partition("## Differences from the original specification")[2]
    ours = [
        cell
        for row in table.splitlines()
        if row.startswith("|")
        for cell in re.findall(r"`([^`]+)`", row.split("|")[2])
    ]
    named = [name for name in ours if "/" in name]

    assert len(named) >= 6
    assert [name for name in named if not [*root.glob(f"src/antiphon/{name}"), *root.glob(name)]] == []


# -- random lives ----------------------------------------------------------------------------------------------------

RUNS = st.none() | st.sampled_from(["run-1", "run-2", "run-3"])
ERRORS = st.none() | st.just("broken") | st.just(LOST)


def events():
    """Any event with any payload."""
    facts = st.fixed_dictionaries(
        {"type": st.sampled_from([type for type in thread_machine.events if not type.startswith("xstate.")])},
        optional={
            "runId": RUNS,
            "cost": st.floats(0, 10),
            "duration": st.integers(0, 10),
            "error": ERRORS,
            "reason": st.sampled_from(["question", "plan", "permission"]),
            "status": st.sampled_from(STATUSES),
            "message": st.sampled_from([{"text": "hello"}, {"text": 3}, "hello"]),
            "requestId": st.sampled_from(["wait-1", "wait-2", "r1"]),
            "requests": st.sampled_from([[], [{"id": "r1", "address": "tools/permission", "reason": "permission"}]]),
            "retry": st.booleans(),
            "postMerge": st.booleans(),
            "at": st.integers(0, 10**13),
        },
    )
    broken = st.builds(
        lambda word, error: {"type": f"xstate.{word}.actor.chat", "actorId": "chat", "error": error},
        st.sampled_from(["error", "done"]),
        ERRORS,
    )
    return st.lists(st.one_of(facts, facts, facts, broken), max_size=12)


def walk(snapshot, steps):
    for event in steps:
        snapshot, _ = transition(thread_machine, snapshot, event)
        yield event, snapshot


KIND = st.sampled_from([None, "chat"])


@pytest.mark.requirement("S3-51", "S3-B5", "X-6")
@settings(max_examples=200, deadline=None)
@given(KIND, events())
def test_the_facts_of_a_thread_fit_its_status_all_its_life(kind, steps):
    """No reason to wait without waiting, no result while running; all of it is JSON."""
    for _, thread in walk(initial_transition(thread_machine, {"kind": kind})[0], steps):
        context = thread.context
        assert thread.value in STATUSES
        assert thread.status == "active"
        assert json.loads(json.dumps(context)) == context
        assert context["waitingReason"] is None or thread.value == "waiting"
        assert not context["requests"] or thread.value == "waiting"
        assert not context["permissionExpired"] or context["processLost"]
        assert context["resultInfo"] is None or thread.value in ("completed", "failed", "stopped")
        assert thread.value != "running" or context["runId"] is not None
        assert (context["content"] is not None) == ("chat" in thread.children)


@pytest.mark.requirement("S3-B7", "X-4")
@settings(max_examples=200, deadline=None)
@given(events())
def test_what_names_another_run_never_ends_this_one(steps):
    before = initial_transition(thread_machine)[0]
    for event, thread in walk(before, steps):
        stale = event.get("runId") not in (None, before.context["runId"]) and before.context["runId"] is not None
        if stale and event["type"] in ("COMPLETE", "FAIL", "WAIT", "INTERRUPT"):
            assert thread is before
        before = thread


@pytest.mark.requirement("S3-B11", "E-17", "X-6")
@settings(max_examples=100, deadline=None)
@given(KIND, events(), events())
def test_a_restored_thread_takes_the_same_next_step(kind, steps, onward):
    clock = SimulatedClock()
    actor = create_actor(thread_machine, input={"threadId": "t", "kind": kind}, clock=clock).start()
    for event in steps:
        actor.send(event)
    saved = json.loads(json.dumps(actor.get_persisted_snapshot()))
    again = create_actor(thread_machine, snapshot=saved, clock=clock).start()

    for event in onward:
        actor.send(event)
        again.send(event)
        assert again.get_persisted_snapshot() == actor.get_persisted_snapshot()
