"""Short ways to talk to the streaming machine in tests."""

from typing import Any

from antiphon import SimulatedClock, create_actor
from antiphon.machines.streaming import streaming_machine

SEND = {"type": "SEND", "prompt": "Hello"}
FIRST = {"type": "FIRST_EVENT"}
COMPLETE = {"type": "COMPLETE", "costUsd": 0.05, "durationMs": 1200, "totalTokens": 300}
ERROR = {"type": "ERROR", "code": "1001", "message": "Gone", "recoverable": True}
FATAL = {"type": "ERROR", "code": "9001", "message": "No", "recoverable": False}
CANCEL, RETRY, RESET = {"type": "CANCEL"}, {"type": "RETRY"}, {"type": "RESET"}


def text(content: str, **more: Any) -> dict[str, Any]:
    """A chunk of text."""
    return {"type": "TEXT_CHUNK", "content": content, **more}


def thinking(content: str) -> dict[str, Any]:
    """A chunk of a thought."""
    return {"type": "THINKING_CHUNK", "content": content}


def tool(id: str, name: str = "search") -> dict[str, Any]:
    """A tool starts."""
    return {"type": "TOOL_START", "toolId": id, "toolName": name}


def tool_end(id: str, *, is_error: bool = False, duration: int = 40) -> dict[str, Any]:
    """A tool ends."""
    return {"type": "TOOL_COMPLETE", "toolId": id, "isError": is_error, "durationMs": duration}


class Talk:
    """A streaming actor on a clock of its own, with all that it emits and refuses."""

    def __init__(self, *events: Any, machine: Any = streaming_machine, **input: Any) -> None:
        self.clock = SimulatedClock()
        self.refused: list[str] = []
        self.emitted: list[Any] = []
        self.actor = create_actor(
            machine,
            input=input or None,
            clock=self.clock,
            on_unhandled=lambda event, snapshot: self.refused.append(event["type"]),
        )
        self.actor.on("*", self.emitted.append)
        self.actor.start()
        self.send(*events)

    def send(self, *events: Any) -> "Talk":
        """Send events; a number lets so many milliseconds pass."""
        for event in events:
            if isinstance(event, int):
                self.clock.increment(event)
            else:
                self.actor.send(event)
        return self

    @property
    def state(self) -> Any:
        """The state's name."""
        return self.actor.get_snapshot().value

    @property
    def context(self) -> Any:
        """The context."""
        return self.actor.get_snapshot().context

    def can(self, event: Any) -> bool:
        """Whether an event would be taken."""
        return self.actor.get_snapshot().can(event)
