"""The chat as programs call it: its states, actions, errors, history and laws."""

import pytest

from antiphon.chat.machine.adapter import ChatPolynomialAdapter
from antiphon.chat.machine.laws import LAWS, snapshot_in
from antiphon.chat.machine.polynomial import CHAT_POLYNOMIAL, FlowState, chat_directions, chat_transition

S = FlowState
VALID = {
    S.DORMANT: {"start", "configure"},
    S.STREAMING: {"message", "fork", "rewind", "checkpoint", "stop", "inject_context"},
    S.BRANCHING: {"confirm_fork", "cancel_fork"},
    S.CONVERGING: {"confirm_merge", "cancel_merge", "resolve_conflict"},
    S.DRAINING: {"flush", "crystallize"},
    S.COLLAPSED: {"reset", "harvest"},
}
CHANGES = [
    ("start", S.DORMANT, S.STREAMING),
    ("fork", S.STREAMING, S.BRANCHING),
    ("confirm_fork", S.BRANCHING, S.STREAMING),
    ("cancel_fork", S.BRANCHING, S.STREAMING),
    ("stop", S.STREAMING, S.DRAINING),
    ("crystallize", S.DRAINING, S.COLLAPSED),
    ("reset", S.COLLAPSED, S.DORMANT),
    ("confirm_merge", S.CONVERGING, S.STREAMING),
    ("cancel_merge", S.CONVERGING, S.STREAMING),
]
KEEPS = [
    ("configure", S.DORMANT),
    ("message", S.STREAMING),
    ("rewind", S.STREAMING),
    ("checkpoint", S.STREAMING),
    ("inject_context", S.STREAMING),
    ("flush", S.DRAINING),
    ("harvest", S.COLLAPSED),
    ("resolve_conflict", S.CONVERGING),
]
WAYS = {
    S.DORMANT: [],
    S.STREAMING: ["start", "message"],
    S.BRANCHING: ["start", "message", "fork"],
    S.CONVERGING: ["start", "message", "fork", "confirm_fork", "message", "merge"],
    S.DRAINING: ["start", "message", "stop"],
    S.COLLAPSED: ["start", "message", "stop", "crystallize"],
}


def chat(*actions, **config):
    """A chat after some actions without a payload."""
    adapter = ChatPolynomialAdapter(config)
    for action in actions:
        adapter.perform(action)
    return adapter


@pytest.mark.requirement("S2-01..S2-07")
def test_a_chat_has_six_states_with_lower_case_values():
    names = ["dormant", "streaming", "branching", "converging", "draining", "collapsed"]

    assert [state.value for state in FlowState] == names
    assert [state.name.lower() for state in FlowState] == names


@pytest.mark.requirement("S2-01", "S2-31", "S2-32")
def test_a_new_adapter_is_dormant():
    assert ChatPolynomialAdapter().state is FlowState.DORMANT


@pytest.mark.requirement("S2-08..S2-13", "S2-34", "S2-B12")
@pytest.mark.parametrize("state", FlowState)
def test_a_state_allows_its_actions(state):
    """No action needs a payload."""
    adapter = chat(*WAYS[state])
    if state is S.CONVERGING:  # the way there left a second branch open
        assert "merge" not in adapter.get_valid_actions()

    assert adapter.state is state
    assert adapter.get_valid_actions() == VALID[state] == chat_directions(state)


@pytest.mark.requirement("S2-58", "S2-48")
def test_the_sets_of_actions_have_their_sizes():
    assert [len(chat_directions(state)) for state in FlowState] == [2, 6, 2, 3, 2, 2]


@pytest.mark.requirement("S2-14..S2-22", "S2-33")
@pytest.mark.parametrize(("action", "before", "after"), CHANGES)
def test_an_action_that_changes_the_state_does(action, before, after):
    adapter = chat(*WAYS[before])

    adapter.perform(action)

    assert adapter.state is after
    assert chat_transition(before, action)[0] is after


@pytest.mark.requirement("S2-23..S2-30")
@pytest.mark.parametrize(("action", "state"), KEEPS)
def test_an_action_that_keeps_the_state_does(action, state):
    adapter = chat(*WAYS[state])

    adapter.perform(action)

    assert adapter.state is state


OUTPUTS = {
    "start": "started",
    "configure": "configured",
    "message": "message_processed",
    "fork": "fork_initiated",
    "rewind": "rewound",
    "checkpoint": "checkpointed",
    "inject_context": "context_injected",
    "stop": "stopping",
    "confirm_fork": "fork_confirmed",
    "cancel_fork": "fork_cancelled",
    "confirm_merge": "merge_confirmed",
    "cancel_merge": "merge_cancelled",
    "resolve_conflict": "conflict_resolved",
    "flush": "flushed",
    "crystallize": "crystallized",
    "reset": "reset",
    "harvest": "harvested",
}


@pytest.mark.requirement("S2-53")
@pytest.mark.parametrize(("state", "action"), [(state, action) for state in S for action in sorted(VALID[state])])
def test_perform_says_what_happened(state, action):
    assert chat(*WAYS[state]).perform(action)["event"] == OUTPUTS[action]
    assert chat_transition(state, action)[1] == {"event": OUTPUTS[action]}


@pytest.mark.requirement("S2-53")
def test_a_started_chat_is_ready():
    assert ChatPolynomialAdapter().perform("start") == {"event": "started", "ready": True}


@pytest.mark.requirement("S2-42", "S2-43", "S2-B4")
@pytest.mark.parametrize("action", ["message", "fork"])
def test_an_invalid_action_is_named_with_the_state_and_what_is_valid(action):
    with pytest.raises(ValueError) as raised:
        ChatPolynomialAdapter().perform(action)

    assert str(raised.value) == f"Invalid action '{action}' for state DORMANT. Valid actions: configure, start"


@pytest.mark.requirement("S2-44", "S2-52")
@pytest.mark.parametrize("state", FlowState)
def test_a_refused_action_changes_nothing(state):
    adapter = chat(*WAYS[state])
    before = adapter.context
    history = adapter.get_history()

    for action in set().union(*VALID.values()) - VALID[state]:
        assert not adapter.can_perform(action)
        with pytest.raises(ValueError, match=f"^Invalid action '{action}' for state {state.name}. Valid actions: "):
            adapter.perform(action)

    assert (adapter.state, adapter.context, adapter.get_history()) == (state, before, history)


def test_events_of_the_engine_are_no_actions():
    adapter = chat("start", "message", "stop")

    with pytest.raises(ValueError, match="Invalid action"):
        adapter.perform("xstate.done.actor.crystallizer")


@pytest.mark.requirement("S2-B10")
def test_stop_names_the_way_out_of_a_planned_fork_or_merge():
    for state, way in ((S.BRANCHING, "cancel_fork"), (S.CONVERGING, "cancel_merge")):
        with pytest.raises(ValueError, match=way):
            chat(*WAYS[state]).perform("stop")


@pytest.mark.requirement("S2-35", "S2-36")
def test_the_history_tells_the_way():
    """The text that the seed prints for debugging."""
    adapter = chat("start", "message")

    assert adapter.get_history() == [(S.DORMANT, "start", S.STREAMING), (S.STREAMING, "message", S.STREAMING)]
    assert [f"{old.value} --[{action}]--> {new.value}" for old, action, new in adapter.get_history()] == [
        "dormant --[start]--> streaming",
        "streaming --[message]--> streaming",
    ]


@pytest.mark.requirement("S2-37", "S2-41", "S2-45", "S2-54")
def test_a_whole_life_leads_back_to_the_beginning_and_keeps_its_history():
    actions = ["start", "message", "message", "checkpoint", "message", "stop", "flush", "crystallize", "reset"]
    adapter = chat(*actions)

    assert adapter.state is S.DORMANT
    assert [action for _, action, _ in adapter.get_history()] == actions
    assert len(adapter.get_history()) == 9
    assert adapter.perform("start")["event"] == "started"


@pytest.mark.requirement("S2-B13")
def test_the_action_reset_keeps_the_settings_and_clears_the_conversation():
    adapter = chat()
    adapter.perform("configure", maxTurns=7)
    for action in ("start", "message", "checkpoint", "stop", "crystallize", "reset"):
        adapter.perform(action)

    assert adapter.context["config"]["maxTurns"] == 7
    assert adapter.messages == []
    assert (len(adapter.context["checkpoints"]), list(adapter.context["branches"])) == (0, ["main"])
    assert adapter.context["metrics"]["turns"] == 0
    assert adapter.context["crystal"] is None


@pytest.mark.requirement("S2-54")
def test_resetting_the_adapter_works_in_any_state_and_clears_the_history():
    for state in FlowState:
        adapter = chat(*WAYS[state])

        adapter.reset()

        assert (adapter.state, adapter.get_history(), adapter.messages) == (S.DORMANT, [], [])


@pytest.mark.requirement("S2-06", "S2-47", "S2-B3")
def test_a_collapsed_chat_leaves_only_by_reset():
    """Terminal, but not final."""
    assert chat_directions(S.COLLAPSED) == {"reset", "harvest"}
    assert snapshot_in(S.COLLAPSED).has_tag("terminal")
    assert snapshot_in(S.COLLAPSED).status == "active"


@pytest.mark.requirement("S2-46")
def test_only_streaming_leads_to_branching_and_draining():
    leading = {
        (state, target)
        for state in FlowState
        for action in chat_directions(state)
        if (target := chat_transition(state, action)[0]) in (S.BRANCHING, S.DRAINING) and target is not state
    }

    assert leading == {(S.STREAMING, S.BRANCHING), (S.STREAMING, S.DRAINING)}


@pytest.mark.requirement("S2-49", "S2-50", "S2-55", "S2-57", "S2-B14")
def test_the_laws_hold():
    verified = ChatPolynomialAdapter().verify_laws()

    assert verified == dict.fromkeys(LAWS, True)
    assert list(verified) == [
        "completeness",
        "determinism",
        "terminal",
        "preservation",
        "symmetry",
        "idempotence",
        "associativity",
    ]


@pytest.mark.requirement("S2-56")
def test_the_polynomial_is_a_value():
    assert CHAT_POLYNOMIAL.name == "ChatPolynomial"
    assert CHAT_POLYNOMIAL.positions == set(FlowState)
    assert CHAT_POLYNOMIAL.directions(S.DORMANT) == {"start", "configure"}
    assert CHAT_POLYNOMIAL.invoke(S.DORMANT, "start") == (S.STREAMING, {"event": "started"})
    assert isinstance(chat_directions(S.DORMANT), frozenset)
    with pytest.raises(ValueError, match=r"^Invalid chat transition"):
        chat_transition(S.DORMANT, "message")


@pytest.mark.requirement("S2-50", "S2-B14")
def test_a_cancelled_fork_leaves_nothing_behind():
    adapter = chat("start", "message")
    before = adapter.context

    adapter.perform("fork", name="a")
    adapter.perform("cancel_fork")

    assert adapter.context == before


@pytest.mark.requirement("S2-B1", "S2-04")
def test_merge_is_offered_only_while_another_branch_is_open():
    adapter = chat("start", "message")
    assert not adapter.can_perform("merge")

    adapter.perform("fork")
    adapter.perform("confirm_fork")
    assert adapter.get_valid_actions() == VALID[S.STREAMING] | {"merge"}
    adapter.perform("merge", source="main")
    adapter.perform("confirm_merge")

    assert adapter.get_valid_actions() == VALID[S.STREAMING]


@pytest.mark.requirement("S2.4-12")
def test_the_first_message_starts_a_chat_that_is_told_so():
    adapter = chat(autoStart=True)
    assert adapter.get_valid_actions() == {"start", "configure", "message"}

    adapter.perform("message", text="Hello")

    assert adapter.state is S.STREAMING
    assert [message["parts"][0]["text"] for message in adapter.messages] == ["Hello"]


def test_a_reply_can_be_performed():
    adapter = chat(model="scripted:demo")
    adapter.perform("start")
    assert adapter.perform("message", text="Hello")["requestId"] == "r1"

    message = {"role": "assistant", "parts": [{"type": "text", "text": "Hi"}]}
    assert adapter.perform("REPLY.COMPLETED", requestId="r1", message=message)["event"] == "reply_completed"
    assert [message["role"] for message in adapter.messages] == ["user", "assistant"]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"colour": "red"}, "unknown setting 'colour'"),
        ({"onBusy": "panic"}, "one of reject, queue, interrupt, merge"),
        ({"maxBranches": 0}, "a whole number from 1"),
        ({"compressAt": 2}, "above 0, up to 1"),
        ({"model": 5}, "a text, or null"),
        ({"settings": []}, "an object"),
        ({"autoStart": "yes"}, "true or false"),
        ({"maxTurns": -1}, "a whole number from 0 to 1000000000000, or null"),
    ],
)
def test_wrong_settings_are_refused_with_the_right_ones(payload, reason):
    adapter = chat()

    with pytest.raises(ValueError, match=reason):
        adapter.perform("configure", **payload)

    assert adapter.perform("configure")["event"] == "configured"


def test_a_chat_does_not_begin_with_wrong_settings():
    with pytest.raises(ValueError, match="chat: contextLimit is 0"):
        ChatPolynomialAdapter({"contextLimit": 0})


@pytest.mark.requirement("S2-23")
def test_settings_stand_alone_or_under_config():
    adapter = chat()
    adapter.perform("configure", config={"maxTurns": 1}, onBusy="queue")

    assert (adapter.context["config"]["maxTurns"], adapter.context["config"]["onBusy"]) == (1, "queue")
