"""A chat for programs that call it: actions in, outputs back, and a `ValueError` for a refused action."""

from collections.abc import Mapping
from typing import Any, cast

from antiphon.chart.effects import Emit
from antiphon.chart.snapshot import Snapshot
from antiphon.chart.transition import initial_transition, transition
from antiphon.chat.machine.context import FlowContext
from antiphon.chat.machine.difference import Difference, difference
from antiphon.chat.machine.events import FlowEvent, FlowRequest
from antiphon.chat.machine.flow import flow_machine
from antiphon.chat.machine.laws import broken_laws
from antiphon.chat.machine.polynomial import FlowState, chat_directions
from antiphon.chat.machine.saved_chat import SavedChat, Step, load_chat, save_chat
from antiphon.chat.machine.tree import head_of, path
from antiphon.chat.machine.validation import other_branches, refusal


class ChatPolynomialAdapter:
    """One conversation in memory, driven by actions.

    The adapter asks no model: the caller supplies a requested reply by performing `REPLY.COMPLETED` with it.
    """

    __slots__ = ("_config", "_history", "_snapshot")

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._config = dict(config or {})
        self._history: list[Step] = []
        self._snapshot: Snapshot[FlowContext, FlowEvent] = self._initial_snapshot()

    @property
    def state(self) -> FlowState:
        """The state of the conversation."""
        return FlowState(self._snapshot.value)

    @property
    def context(self) -> FlowContext:
        """The context of the conversation."""
        return self._snapshot.context

    @property
    def messages(self) -> list[Mapping[str, Any]]:
        """The messages of the current branch, oldest first."""
        return [dict(message) for message in path(self.context["messages"], head_of(self.context))]

    def perform(self, action: str, /, **payload: Any) -> dict[str, Any]:
        """Perform an action and return its output; a refused one changes nothing and raises a `ValueError`."""
        event = _event(action, payload)
        reason = self._refusal(event)
        if reason is not None:
            raise ValueError(reason)
        before = self.state
        self._snapshot, effects = transition(flow_machine, self._snapshot, event)
        self._history.append((before, action, self.state))
        output = next((effect.event for effect in effects if isinstance(effect, Emit)), {"type": action})
        return {"event": output["type"], **{key: value for key, value in output.items() if key != "type"}}

    def can_perform(self, action: str, /, **payload: Any) -> bool:
        """Return whether the action would be accepted with this payload."""
        return self._refusal(_event(action, payload)) is None

    def get_valid_actions(self) -> frozenset[str]:
        """Return the allowed actions: `merge` only with another open branch, `message` also if it starts the chat."""
        valid = chat_directions(self.state)
        if self.state is FlowState.STREAMING and other_branches(self.context):
            return valid | {"merge"}
        if self.state is FlowState.DORMANT and self.context["config"]["autoStart"]:
            return valid | {"message"}
        return valid

    def get_history(self) -> list[Step]:
        """Return the steps so far: state, action, state."""
        return list(self._history)

    def difference(self, ours: str, theirs: str) -> Difference:
        """Compare two open branches."""
        return difference(self.context, ours, theirs)

    def reset(self) -> None:
        """Start over from any state, with the first settings and no history; the action `reset` keeps both."""
        self._history.clear()
        self._snapshot = self._initial_snapshot()

    def save(self) -> dict[str, Any]:
        """Return the conversation, its history and its first settings as a JSON document."""
        return save_chat(SavedChat(self._snapshot, self._history, self._config))

    def load(self, document: Mapping[str, Any]) -> None:
        """Continue the conversation of a saved document; a wrong one changes nothing and raises `BadSavedChat`."""
        saved = load_chat(document)
        self._snapshot = saved.snapshot
        self._history = saved.history
        self._config = saved.config

    def verify_laws(self) -> dict[str, bool]:
        """Return whether each law of the chat holds, by name."""
        return {law: not broken for law, broken in broken_laws().items()}

    def _initial_snapshot(self) -> Snapshot[FlowContext, FlowEvent]:
        snapshot, _ = initial_transition(flow_machine, {"config": self._config})
        return snapshot

    def _refusal(self, event: FlowEvent) -> str | None:
        action: str = event["type"]
        valid = self.get_valid_actions()
        refused = f"Invalid action '{action}' for state {self.state.name}"
        if action.startswith("xstate."):
            return f"{refused}. Valid actions: {', '.join(sorted(valid))}"
        if self._snapshot.can(event):
            return None
        reason = refusal(self.context, cast(FlowRequest, event)) if action in valid or action not in _ALL else None
        return f"{refused}: {reason}" if reason else f"{refused}. Valid actions: {', '.join(sorted(valid))}"


_ALL = frozenset(action for state in FlowState for action in chat_directions(state)) | {"merge"}


def _event(action: str, payload: Mapping[str, Any]) -> FlowEvent:
    """Return an action as an event, with `checkpoint_id` as `checkpointId` and `from_` as `from`."""
    return cast(FlowEvent, {**{_camel(key): value for key, value in payload.items()}, "type": action})


def _camel(name: str) -> str:
    first, *words = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in words)
