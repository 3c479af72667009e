"""Document 002, the flow of a chat: states, examples, tables, flows, errors and invariants, line by line."""

import pytest

from antiphon.chat import ChatPolynomialAdapter, FlowState
from tests.seeds.reading import Reading, differences, listed

S = FlowState
WAYS = {
    S.DORMANT: [],
    S.STREAMING: ["start", "message"],
    S.BRANCHING: ["start", "message", "fork"],
    S.CONVERGING: ["start", "message", "fork", "confirm_fork", "message", "merge"],
    S.DRAINING: ["start", "message", "stop"],
    S.COLLAPSED: ["start", "message", "stop", "crystallize"],
}


def chat(*actions):
    """A chat after some actions, without a payload, as in the document."""
    adapter = ChatPolynomialAdapter()
    for action in actions:
        adapter.perform(action)
    return adapter


def after(state, *actions):
    """The state after some actions in a state."""
    return chat(*WAYS[state], *actions).state


def problem(state, action):
    try:
        chat(*WAYS[state]).perform(action)
    except ValueError as error:
        return f"ValueError: {error}"
    return ""


def diagram():
    yield Reading(15, "DORMANT", chat().state, S.DORMANT)
    yield Reading(
        18, "start  │  configure", (after(S.DORMANT, "start"), after(S.DORMANT, "configure")), (S.STREAMING, S.DORMANT)
    )
    yield Reading(27, "checkpoint", after(S.STREAMING, "message", "checkpoint"), S.STREAMING)
    yield Reading(28, "inject_context", after(S.STREAMING, "rewind", "inject_context"), S.STREAMING)
    yield Reading(37, "confirm_fork", after(S.BRANCHING, "confirm_fork"), S.STREAMING)
    yield Reading(
        38, "cancel_fork", (after(S.BRANCHING, "cancel_fork"), after(S.DRAINING, "flush")), (S.STREAMING, S.DRAINING)
    )
    yield Reading(41, "crystallize", after(S.DRAINING, "crystallize"), S.COLLAPSED)
    yield Reading(48, "reset", (after(S.COLLAPSED, "reset"), after(S.COLLAPSED, "harvest")), (S.DORMANT, S.COLLAPSED))
    merged = [after(S.CONVERGING, action) for action in ("confirm_merge", "cancel_merge", "resolve_conflict")]
    yield Reading(58, "confirm_merge", merged[0], S.STREAMING)
    yield Reading(59, "cancel_merge", merged[1], S.STREAMING)
    yield Reading(60, "resolve_conflict", merged[2], S.STREAMING)


def valid_actions():
    theirs = {
        72: (S.DORMANT, {"start", "configure"}),
        83: (S.STREAMING, {"message", "fork", "rewind", "checkpoint", "stop", "inject_context"}),
        96: (S.BRANCHING, {"confirm_fork", "cancel_fork"}),
        107: (S.CONVERGING, {"confirm_merge", "cancel_merge", "resolve_conflict"}),
        118: (S.DRAINING, {"flush", "crystallize"}),
        129: (S.COLLAPSED, {"reset", "harvest"}),
    }
    for line, (state, actions) in theirs.items():
        yield Reading(line, "Valid Actions", chat(*WAYS[state]).get_valid_actions(), actions)
    forked = chat(*WAYS[S.CONVERGING][:-1])
    yield Reading(106, "consensus", forked.can_perform("merge", from_="main", strategy="consensus"), True)


def examples():
    """The examples of the states; each `adapter` is in the state that its section describes."""
    adapter = ChatPolynomialAdapter()
    yield Reading(77, "DORMANT", adapter.state == FlowState.DORMANT, True)
    adapter.perform("start")
    yield Reading(78, "STREAMING", adapter.state, S.STREAMING)
    first = adapter.perform("message")
    yield Reading(88, "User sends", (first["turns"], adapter.state), (1, S.STREAMING))
    yield Reading(89, "Another turn", (adapter.perform("message")["turns"], adapter.state), (2, S.STREAMING))
    yield Reading(
        90, "checkpoint", (adapter.perform("checkpoint")["event"], adapter.state), ("checkpointed", S.STREAMING)
    )
    yield Reading(91, "Undo last turn", (adapter.perform("rewind")["turns"], adapter.state), (1, S.STREAMING))
    adapter.perform("fork")
    yield Reading(100, "BRANCHING", adapter.state, S.BRANCHING)
    adapter.perform("confirm_fork")
    yield Reading(102, "STREAMING", adapter.state, S.STREAMING)
    yield Reading(112, "confirm_merge", after(S.CONVERGING, "confirm_merge"), S.STREAMING)
    yield Reading(113, "resolve_conflict", after(S.CONVERGING, "resolve_conflict"), S.CONVERGING)
    adapter.perform("stop")
    yield Reading(122, "DRAINING", adapter.state, S.DRAINING)
    adapter.perform("flush")
    yield Reading(123, "stays", adapter.state, S.DRAINING)
    adapter.perform("crystallize")
    yield Reading(124, "collapse", adapter.state, S.COLLAPSED)
    yield Reading(133, "artifacts", ("crystal" in adapter.perform("harvest"), adapter.state), (True, S.COLLAPSED))
    adapter.perform("reset")
    yield Reading(134, "DORMANT", adapter.state, S.DORMANT)


CHANGES = {
    145: ("start", S.DORMANT, S.STREAMING),
    146: ("fork", S.STREAMING, S.BRANCHING),
    147: ("confirm_fork", S.BRANCHING, S.STREAMING),
    148: ("cancel_fork", S.BRANCHING, S.STREAMING),
    149: ("stop", S.STREAMING, S.DRAINING),
    150: ("crystallize", S.DRAINING, S.COLLAPSED),
    151: ("reset", S.COLLAPSED, S.DORMANT),
    152: ("confirm_merge", S.CONVERGING, S.STREAMING),
    153: ("cancel_merge", S.CONVERGING, S.STREAMING),
    159: ("configure", S.DORMANT, S.DORMANT),
    160: ("message", S.STREAMING, S.STREAMING),
    161: ("rewind", S.STREAMING, S.STREAMING),
    162: ("checkpoint", S.STREAMING, S.STREAMING),
    163: ("inject_context", S.STREAMING, S.STREAMING),
    164: ("flush", S.DRAINING, S.DRAINING),
    165: ("harvest", S.COLLAPSED, S.COLLAPSED),
    166: ("resolve_conflict", S.CONVERGING, S.CONVERGING),
}


def tables():
    for line, (action, before, end) in CHANGES.items():
        yield Reading(line, f"`{action}`", after(before, action), end)


def flows():
    adapter = chat("start", "message")
    yield Reading(174, "start", adapter.state, S.STREAMING)
    for action in ("message", "stop", "crystallize"):
        adapter.perform(action)
    yield Reading(178, "crystallize", adapter.state, S.COLLAPSED)
    adapter.perform("reset")
    yield Reading(183, "DORMANT", adapter.state, S.DORMANT)
    saved = chat("start", "message", "checkpoint")
    yield Reading(188, "checkpoint", saved.state, S.STREAMING)
    saved.perform("message")
    yield Reading(190, "message", saved.state, S.STREAMING)
    [mark] = saved.context["checkpoints"]
    yield Reading(192, "rewind", saved.perform("rewind", checkpoint_id=mark)["turns"], 1)
    forked = chat("start", "message", "fork", "confirm_fork")
    yield Reading(197, "branch A", forked.context["branch"] != "main", True)
    forked.perform("message")
    yield Reading(202, "continues", forked.state, S.STREAMING)
    forked.perform("merge")
    merging = forked.state
    forked.perform("confirm_merge")
    yield Reading(208, "merged", (merging, forked.state), (S.CONVERGING, S.STREAMING))


def errors():
    yield Reading(
        221, "message", problem(S.DORMANT, "message"), "ValueError: Invalid action 'message' for state DORMANT"
    )
    yield Reading(224, "fork", problem(S.DORMANT, "fork"), "ValueError: Invalid action 'fork' for state DORMANT")
    yield Reading(227, "start", after(S.DORMANT, "start"), S.STREAMING)
    yield Reading(228, "message", after(S.DORMANT, "start", "message"), S.STREAMING)
    adapter = chat(*WAYS[S.COLLAPSED])
    yield Reading(234, "COLLAPSED", adapter.state == FlowState.COLLAPSED, True)
    adapter.perform("reset")
    yield Reading(235, "DORMANT", adapter.state, S.DORMANT)
    adapter.perform("start")
    yield Reading(236, "STREAMING", adapter.state, S.STREAMING)


def leading(target):
    """The states from which an action without a payload leads to a state, other than itself."""
    return {
        state
        for state in S
        for action in chat(*WAYS[state]).get_valid_actions()
        if state is not target and after(state, action) is target
    }


def invariants():
    yield Reading(244, "reset", leading(S.DORMANT), {S.COLLAPSED})
    yield Reading(245, "only state", leading(S.BRANCHING) | leading(S.DRAINING), {S.STREAMING})
    exits = {action for action in ("reset", "harvest") if after(S.COLLAPSED, action) is not S.COLLAPSED}
    yield Reading(246, "terminal", exits, {"reset"})
    yield Reading(247, "at least one", all(chat(*WAYS[state]).get_valid_actions() for state in S), True)
    twice = [
        after(S.STREAMING, "checkpoint", "checkpoint"),
        after(S.DRAINING, "flush", "flush"),
        after(S.COLLAPSED, "harvest", "harvest"),
    ]
    yield Reading(248, "Idempotent", twice, [S.STREAMING, S.DRAINING, S.COLLAPSED])
    yield Reading(249, "Symmetric", {after(S.BRANCHING, end) for end in ("cancel_fork", "confirm_fork")}, {S.STREAMING})


def debugging():
    adapter = chat("start", "message")
    yield Reading(257, "adapter.state", f"State: {adapter.state.value}", "State: streaming")
    yield Reading(260, "get_valid_actions", "fork" in adapter.get_valid_actions(), True)
    lines = [f"{old.value} --[{action}]--> {new.value}" for old, action, new in adapter.get_history()]
    yield Reading(263, "get_history", lines, ["dormant --[start]--> streaming", "streaming --[message]--> streaming"])


PASSAGES = [diagram, valid_actions, examples, tables, flows, errors, invariants, debugging]


@pytest.mark.requirement("S2-01..S2-07")
@pytest.mark.parametrize("passage", PASSAGES)
def test_the_flow_holds_line_by_line(passage):
    readings = list(passage())

    assert differences(readings) == listed("002", readings)
