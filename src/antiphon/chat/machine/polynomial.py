"""The chat as a polynomial: its states, the actions of each state, and their targets.

Everything is read from the chart, so that there is one source.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NotRequired, TypedDict

from antiphon.threads.machine.charts import load_chart


class FlowState(Enum):
    """The six states of a chat."""

    DORMANT = "dormant"
    STREAMING = "streaming"
    BRANCHING = "branching"
    CONVERGING = "converging"
    DRAINING = "draining"
    COLLAPSED = "collapsed"


# The actions that a state always allows. Actions that depend on the conversation, such as a merge, come on top.
ACTIONS = frozenset(
    {
        "start", "configure",
        "message", "fork", "rewind", "checkpoint", "stop", "inject_context",
        "confirm_fork", "cancel_fork",
        "confirm_merge", "cancel_merge", "resolve_conflict",
        "flush", "crystallize",
        "reset", "harvest",
    }
)  # fmt: skip


class _OutputParams(TypedDict):
    event: str


class _ChartAction(TypedDict):
    type: str
    params: _OutputParams


class _ChartTransition(TypedDict):
    target: NotRequired[str]
    actions: str | _ChartAction | list[str | _ChartAction]


class _ChartState(TypedDict):
    on: dict[str, _ChartTransition | list[_ChartTransition]]


_STATES: dict[str, _ChartState] = load_chart("antiphon.chat.machine.flow")["states"]
# The one transition that waits for a setting: a message starts a conversation only if `autoStart` is on.
_BY_SETTING = {("dormant", "message")}


def chat_directions(state: FlowState) -> frozenset[str]:
    """Return the actions that a state allows."""
    actions = (action for action in _STATES[state.value]["on"] if (state.value, action) not in _BY_SETTING)
    return frozenset(actions) & ACTIONS


def chat_transition(state: FlowState, action: str) -> tuple[FlowState, dict[str, str]]:
    """Return the target of an action and the event it emits, whatever the conversation."""
    if action not in chat_directions(state):
        raise ValueError(f"Invalid chat transition: {action!r} in {state.name}")
    declared = _STATES[state.value]["on"][action]
    transition = declared[0] if isinstance(declared, list) else declared
    actions = transition["actions"] if isinstance(transition["actions"], list) else [transition["actions"]]
    event = next(item["params"]["event"] for item in actions if not isinstance(item, str))
    return FlowState(transition.get("target", state.value)), {"event": event}


@dataclass(frozen=True, slots=True)
class Polynomial:
    """The states of a chat and their actions, as a value."""

    name: str
    positions: frozenset[FlowState]

    def directions(self, state: FlowState) -> frozenset[str]:
        """Return the actions that a state allows."""
        return chat_directions(state)

    def invoke(self, state: FlowState, action: str) -> tuple[FlowState, dict[str, str]]:
        """Return the target of an action and the event it emits."""
        return chat_transition(state, action)


CHAT_POLYNOMIAL = Polynomial("ChatPolynomial", frozenset(FlowState))
