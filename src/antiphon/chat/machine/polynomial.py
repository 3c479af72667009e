"""The chat as a polynomial: states, the actions each of them allows, and where an action leads.

Everything is read from the chart, so that there is one truth.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from antiphon.threads.machine.charts import load_chart


class FlowState(Enum):
    """The six states of a chat."""

    DORMANT = "dormant"
    STREAMING = "streaming"
    BRANCHING = "branching"
    CONVERGING = "converging"
    DRAINING = "draining"
    COLLAPSED = "collapsed"


# What a person can always do in a state. What depends on the conversation, such as a merge, comes on top.
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
_STATES: dict[str, Any] = load_chart("antiphon.chat.machine.flow")["states"]
# The one transition that waits for a setting: a message starts a conversation only if `autoStart` is on.
_BY_SETTING = {("dormant", "message")}


def chat_directions(state: FlowState) -> frozenset[str]:
    """The actions that a state allows."""
    found = (action for action in _STATES[state.value]["on"] if (state.value, action) not in _BY_SETTING)
    return frozenset(found) & ACTIONS


def chat_transition(state: FlowState, action: str) -> tuple[FlowState, dict[str, Any]]:
    """Where an action leads, and what it says; conversations aside."""
    if action not in chat_directions(state):
        raise ValueError(f"Invalid chat transition: {action!r} in {state.name}")
    declared = _STATES[state.value]["on"][action]
    first: Mapping[str, Any] = declared[0] if isinstance(declared, list) else declared
    actions = first["actions"] if isinstance(first["actions"], list) else [first["actions"]]
    said = next(item["params"]["event"] for item in actions if isinstance(item, Mapping))
    return FlowState(first.get("target", state.value)), {"event": said}


@dataclass(frozen=True, slots=True)
class Polynomial:
    """States and their actions, as a value."""

    name: str
    positions: frozenset[FlowState]

    def directions(self, state: FlowState) -> frozenset[str]:
        """The actions that a state allows."""
        return chat_directions(state)

    def invoke(self, state: FlowState, action: str) -> tuple[FlowState, dict[str, Any]]:
        """Where an action leads, and what it says."""
        return chat_transition(state, action)


CHAT_POLYNOMIAL = Polynomial("ChatPolynomial", frozenset(FlowState))
