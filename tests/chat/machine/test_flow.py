"""The chart of the chat: every state is described, reached and left, every transition is taken, nothing is lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import get_microsteps, get_transition_paths, initial_transition, transition, unreachable_states
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.tree import head_of
from antiphon.chat.machine.validation import REASONS
from antiphon.threads.machine.tools import PROCESS_LOST
from tests.fixtures.charts import load_chart
from tests.fixtures.conversations import Talk, law

MODEL = "scripted:demo"
CHART = load_chart("flow")
TEXT = [{"type": "text", "text": "Hi"}]
CALL = [{"type": "toolCall", "id": "t1", "name": "look", "arguments": '{"path": "a"}'}]


@pytest.mark.requirement("E-14", "S2-B3")
def test_every_state_is_described_and_none_is_final():
    assert "description" in CHART
    for state in CHART["states"].values():
        assert state["description"].endswith(".")
        assert state.get("type") != "final"
        assert state["on"]


@pytest.mark.requirement("E-01")
def test_the_chart_is_data_and_every_function_it_names_is_used():
    assert json.loads(json.dumps(CHART)) == CHART
    named = json.dumps(CHART)
    bound = flow_machine.implementations
    assert [name for name in (*bound.actions, *bound.guards) if f'"{name}"' not in named] == []


@pytest.mark.requirement("E-21", "X-8")
def test_every_guarded_event_of_a_person_has_a_reason_to_be_refused():
    guarded = {
        event
        for state in (CHART, *CHART["states"].values())
        for event, declared_transitions in state["on"].items()
        for candidate in (declared_transitions if isinstance(declared_transitions, list) else [declared_transitions])
        if candidate.get("guard") == "isAccepted"
    }

    assert guarded | {"message"} == set(REASONS)


@pytest.mark.requirement("X-11", "E-19")
def test_every_state_can_be_reached():
    events = [{"type": type} for state in CHART["states"].values() for type in state["on"]]

    assert unreachable_states(flow_machine, events=events, limit=30_000) == []


# Walks that take every transition of the chart, each with the settings it needs.
DONE = {"type": "REPLY.COMPLETED", "requestId": "r1", "message": {"parts": TEXT}}
TOOLS = {**DONE, "message": {"parts": CALL}}
RESULT = {"type": "toolResult", "callId": "t1", "parts": TEXT}
USE = {"type": "use_model"}
WAIT = {"type": "wait", "reason": "permission", "id": "r1", "address": "permission"}
GO_ON = {"type": "go_on", "id": "r1", "decision": "allowed"}
TOOLS_DONE = {
    "type": "xstate.done.actor.tools",
    "output": {"results": [RESULT], "permission": None, "lost": False},
}
PERMISSION_LOST = {"decision": "expired", "reason": PROCESS_LOST, "id": "r1", "scope": None, "calls": []}
REQUEST_LOST = {
    "type": "xstate.done.actor.tools",
    "output": {"results": [RESULT], "permission": PERMISSION_LOST, "lost": True},
}
LONG = {"type": "message", "text": "x" * 100}
# Two branches, each with a turn of its own, and a merge by consensus.
FORKED = [
    "start",
    {"type": "message", "text": "a", "role": "system"},
    "fork",
    "confirm_fork",
    {"type": "message", "text": "b", "role": "assistant"},
    {"type": "switch", "branch": "main"},
    {"type": "message", "text": "c", "role": "assistant"},
    {"type": "merge", "strategy": "consensus"},
]
PROPOSED = {"type": "xstate.done.actor.reconciler", "output": {"text": "b and c", "source": MODEL, "costUsd": 0.1}}
ALLOWED = {"decision": "allow", "pattern": "look"}
WALKS = [
    ({}, ["configure", "start", "message", "inject_context", "checkpoint", "rewind", "message", "fork", "cancel_fork"]),
    (
        {},
        [
            "start",
            "fork",
            "confirm_fork",
            {"type": "switch", "branch": "main"},
            {"type": "close", "branch": "branch-1"},
            "message",
            {"type": "pin", "message": "m1"},
            "fork",
            "confirm_fork",
            "merge",
            "cancel_merge",
            "merge",
            "resolve_conflict",
            "confirm_merge",
        ],
    ),
    ({}, ["start", "stop", "flush", "crystallize", "harvest", "reset"]),
    ({"autoStart": True}, ["message"]),
    ({"model": MODEL, "onBusy": "queue"}, ["start", "message", "message", DONE, "stop", "cancel"]),
    ({"model": MODEL, "onBusy": "merge"}, ["start", "message", "message", {**DONE, "type": "REPLY.CANCELLED"}]),
    ({"model": MODEL, "onStop": "cut"}, ["start", "message", "stop", {**DONE, "type": "REPLY.FAILED", "error": "x"}]),
    ({"model": MODEL}, ["start", "message", {"type": "xstate.error.actor.reply", "error": "x"}]),
    ({"model": MODEL, "turnTimeoutMs": 5}, ["start", "message", {"type": "turn_timeout", "requestId": "r1"}, "cancel"]),
    (
        {"model": MODEL},
        ["start", "message", "REPLY.STARTED", TOOLS, "wait", {"type": "tool_results", "results": [RESULT]}],
    ),
    (
        {"model": MODEL, "strategy": "summarise", "contextLimit": 30},
        ["start", LONG, DONE, LONG, {"type": "xstate.done.actor.summariser", "output": {"text": "Hi"}}],
    ),
    (
        {"model": MODEL, "strategy": "summarise", "contextLimit": 30},
        ["start", LONG, DONE, LONG, {"type": "xstate.error.actor.summariser", "error": "x"}],
    ),
    (
        {"model": MODEL},
        [
            "start",
            "stop",
            "crystallize",
            "cancel",
            "crystallize",
            {"type": "xstate.error.actor.crystallizer", "error": "x"},
            "crystallize",
            {"type": "xstate.done.actor.crystallizer", "output": {}},
        ],
    ),
    ({"reportsToParent": True}, [{"type": "message", "runId": "n1"}, "stop", {"type": "message", "runId": "n2"}]),
    (
        {"reportsToParent": True, "model": MODEL},
        [{"type": "message", "runId": "n1"}, "stop", DONE],
    ),
    ({"model": MODEL}, ["start", "message", DONE, "retry", "cancel", "cancel", "resume", {**USE, "model": "scripted"}]),
    ({"reportsToParent": True}, [{"type": type, "runId": "n1"} for type in ("resume", "retry")]),
    (
        {"reportsToParent": True, "model": MODEL, "consent": {}},
        [
            {"type": "message", "runId": "n1"},
            TOOLS,
            WAIT,
            {"type": "message", "runId": "n1", "branch": "x"},
            GO_ON,
            TOOLS_DONE,
        ],
    ),
    ({"model": MODEL, "consent": {}}, ["start", "message", TOOLS, {"type": "xstate.error.actor.tools", "error": "x"}]),
    ({"model": MODEL, "consent": {}}, ["start", "message", TOOLS, REQUEST_LOST, "resume"]),
    (
        {"model": MODEL, "consent": {"overrides": [ALLOWED]}},
        ["start", "message", TOOLS, {"type": "revoke", "permission": ALLOWED}],
    ),
    ({"reportsToParent": True, "model": MODEL}, [{"type": "message", "runId": "n1"}, TOOLS]),
    (
        {"reportsToParent": True, "model": MODEL, "clientTools": True},
        [{"type": "message", "runId": "n1"}, TOOLS, {"type": "message", "role": "tool", "parts": [RESULT]}],
    ),
    (
        {"reportsToParent": True, "model": MODEL, "consent": {}, "maxToolRounds": 0},
        [{"type": "message", "runId": "n1"}, TOOLS, {"type": "ANSWER", "id": "limit-1", "decision": "allow"}],
    ),
    (
        {"model": MODEL, "maxCostUsd": 1},
        [
            "start",
            "message",
            {**DONE, "costUsd": 0.9},
            "message",
            {**DONE, "requestId": "r2", "type": "REPLY.FAILED", "error": {"code": "3002"}, "costUsd": 1, "text": "so"},
            {"type": "raise_limit", "maxCostUsd": 3},
        ],
    ),
    ({"model": MODEL, "maxWallMs": 5}, ["start", "message", "wall_time", {**DONE, "type": "REPLY.CANCELLED"}]),
    ({"model": MODEL, "maxThreadWallMs": 5}, ["start", "message", DONE]),
    ({"model": MODEL}, [*FORKED, PROPOSED, "propose", {**PROPOSED, "output": {}}, "propose", "cancel", "cancel_merge"]),
    ({"model": MODEL}, [*FORKED, {"type": "xstate.error.actor.reconciler", "error": "x"}, "propose", "cancel_merge"]),
    ({}, [*FORKED, {"type": "propose", "text": "both"}, "confirm_merge", {"type": "switch", "branch": "branch-1"}]),
    (
        {"model": MODEL, "maxThreadCostUsd": 0.1},
        [
            *FORKED,
            PROPOSED,
            "confirm_merge",
            {"type": "switch", "branch": "branch-1"},
            {**LONG, "role": "assistant"},
            {"type": "switch", "branch": "main"},
            {**LONG, "role": "assistant"},
            FORKED[-1],
        ],
    ),
]


def declared_transitions():
    """Every transition of the chart, by the state and event it belongs to and its place there."""
    for name, state in (("", CHART), *CHART["states"].items()):
        for event, candidates in [*state["on"].items(), ("", state.get("always", []))]:
            listed = candidates if isinstance(candidates, list) else [candidates]
            for place, candidate in enumerate(listed):
                if candidate.get("actions"):
                    yield name, event, place


def taken_transitions(input, walk):
    """The transitions that a walk takes."""
    snapshot, _ = initial_transition(flow_machine, input)
    for event in walk:
        for step in get_microsteps(flow_machine, snapshot, {"type": event} if isinstance(event, str) else event):
            snapshot = step.snapshot
            for transitions in step.transitions:
                source = transitions.source
                same = source.on[transitions.event_type] if transitions.event_type else source.always
                yield "" if source.parent is None else source.key, transitions.event_type, list(same).index(transitions)


@pytest.mark.requirement("X-11", "S2-46", "S2-48")
def test_the_walks_take_every_transition():
    transitions = {entry for input, walk in WALKS for entry in taken_transitions(input, walk)}

    assert set(declared_transitions()) - transitions == set()


@pytest.mark.requirement("E-19")
def test_paths_through_a_chat_without_payloads_can_be_generated():
    events = [{"type": type} for state in CHART["states"].values() for type in state["on"] if not type.startswith("x")]

    def told_apart(snapshot):
        context = snapshot.context
        return f"{snapshot.value} {len(context['branches'])} {head_of(context) is None}"

    transitions = get_transition_paths(flow_machine, events=events, serialize=told_apart)

    assert {step.snapshot.value for path in transitions.paths for step in path.steps} == set(CHART["states"])


TYPES = sorted({type for state in (CHART, *CHART["states"].values()) for type in state["on"]})
PAYLOADS = {
    "text": st.sampled_from(["Hi", "We decided: go.", "x" * 60]),
    "branch": st.sampled_from(["main", "branch-1", "branch-2"]),
    "turn": st.integers(0, 3),
    "turns": st.integers(0, 2),
    "source": st.sampled_from(["main", "branch-1"]),
    "strategy": st.sampled_from(["sequential", "interleave", "manual"]),
    "pick": st.sampled_from(["ours", "theirs", "both", "neither"]),
    "message": st.just({"role": "assistant", "parts": TEXT}) | st.just({"role": "assistant", "parts": CALL}),
    "requestId": st.sampled_from(["r1", "r2", "r3"]),
    "output": st.sampled_from([{"text": "Hi"}, {"title": "Hi"}, None]),
    "error": st.sampled_from(["x", {"code": "1", "message": "x"}]),
    "results": st.just([RESULT]),
    "pinned": st.booleans(),
    "runId": st.sampled_from(["n1", "n2"]),
    "id": st.sampled_from(["a", "b", "limit-1", "limit-2"]),
    "address": st.just("permission"),
    "decision": st.sampled_from(["allowed", "denied", "allow", "deny"]),
    "limit": st.sampled_from([1, 5, 0.5]),
    "at": st.integers(0, 50),
    "costUsd": st.sampled_from([0.1, 0.5]),
    "maxToolRounds": st.sampled_from([None, 3]),
}
ALLOWED = {"decision": "allowed", "scope": "thread", "calls": [{**CALL[0], "risk": "write", "text": "look({})"}]}
tools_outputs = st.fixed_dictionaries(
    {"results": st.just([RESULT]), "permission": st.sampled_from([None, ALLOWED]), "lost": st.booleans()}
)


@st.composite
def walks(draw):
    """Settings, and events of which some have payloads that fit and some have not."""
    config = {
        "model": draw(st.sampled_from([None, MODEL])),
        "onBusy": draw(st.sampled_from(["reject", "queue", "interrupt", "merge"])),
        "onStop": draw(st.sampled_from(["finish", "cut"])),
        "strategy": draw(st.sampled_from(["sliding", "summarise", "forget"])),
        "contextLimit": draw(st.sampled_from([40, 1_000])),
        "reportsToParent": draw(st.booleans()),
        "consent": draw(st.sampled_from([None, {}])),
        "maxToolRounds": draw(st.sampled_from([0, 1, 25])),
        "maxThreadCostUsd": draw(st.sampled_from([None, 0.3])),
        "maxWallMs": draw(st.sampled_from([None, 20])),
    }
    events = []
    for type in draw(st.lists(st.sampled_from(TYPES), max_size=40)):
        payload = {key: draw(PAYLOADS[key]) for key in draw(st.sets(st.sampled_from(sorted(PAYLOADS))))}
        if type in ("pin", "message", "inject_context"):
            payload.pop("message", None)
        if type == "xstate.done.actor.tools":
            payload["output"] = draw(tools_outputs)
        if type == "pin":
            payload["message"] = draw(st.sampled_from(["m1", "m2", "m9"]))
        if type in ("resolve_conflict", "message"):
            payload.pop("turns", None)
        events.append({"type": type, **payload})
    return config, events


@pytest.mark.requirement("E-17", "S2.4-10")
@law
@given(walks())
def test_any_walk_keeps_the_context_json_and_a_restored_chat_goes_on_alike(walk):
    config, events = walk
    talk = Talk(config, **{key: value for key, value in config.items() if key != "reportsToParent"})
    for event in events:
        restored = talk.restored()
        after, effects = transition(flow_machine, restored.snapshot, event)
        talk.do(event["type"], **{key: value for key, value in event.items() if key != "type"})
        assert (after.value, after.context) == (talk.value, talk.context)
        assert [effect.type for effect in effects] == [effect.type for effect in talk.effects]
    assert talk.snapshot.status == "active"
    assert set(talk.context["branches"]) & set(talk.context["closed"]) == set()
    assert talk.context["branch"] in talk.context["branches"]


KEYS = sorted(
    {"text", "parts", "role", "id", "at", "tags", "pinned", "branch", "runId", "resumeNote", "key", "config", "name"}
    | {"from", "turn", "turns", "checkpointId", "source", "strategy", "conflict", "pick", "plain", "trigger"}
    | {"message", "results", "reason", "decision", "scope", "model", "output", "limit", "maxCostUsd", "maxWallMs"}
)
PERSONS = [type for type in TYPES if not type.startswith(("xstate.", "REPLY."))]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=False) | st.sampled_from(["", "m1", "main"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "text", "id", "parts", "callId", "arguments"]), inner, max_size=3)
        | st.fixed_dictionaries({"type": st.sampled_from(["text", "toolCall", "toolResult", "image"]), "text": inner})
    ),
    max_leaves=4,
)


@pytest.mark.requirement("E-21")
@law
@given(
    st.lists(st.tuples(st.sampled_from(PERSONS), st.dictionaries(st.sampled_from(KEYS), json_values, max_size=4))),
    st.sampled_from([None, MODEL]),
    st.booleans(),
)
def test_whatever_a_person_sends_the_chat_goes_on(events, model, asked):
    """Invalid values are refused without an error."""
    talk = Talk(model=model, onBusy="interrupt", consent={}).says("one")
    if asked and model:
        talk.reply(calls=[("t1", "look")]).do("wait", reason="permission")
    else:
        talk.do("REPLY.CANCELLED", requestId="r1")
    for type, payload in [*events, ("fork", {}), ("confirm_fork", {}), ("merge", {}), *events]:
        talk.do(type, **payload)

    assert talk.snapshot.status == "active"
    assert talk.restored().context == talk.context
