"""The demo: a chat whose reply streams in, fails once, and is retried."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any

from antiphon.actors.actor import Actor
from antiphon.actors.tasks import from_task
from antiphon.chart.actions import assign
from antiphon.chart.machine import Machine, create_machine
from antiphon.chart.text import GrowingText

PROMPT = "Why run a conversation as a statechart?"
REPLY = (
    "Because a conversation is never just a request and a reply. It waits, streams, breaks off, is cancelled, "
    "tries again. Written as flags, these mix until nobody knows which combinations can happen. Written as a "
    "chart, they are states: only what is drawn can happen, every event has one answer, and what you see here "
    "is not a log of the program but the program itself."
)
BREAKS_AFTER = 12  # chunks of the first attempt
CHUNK_MS = 80
CONNECT_MS = 700
BACKOFF_MS = 1200
PATIENCE_MS = 5000
Pause = Callable[[float], Awaitable[None]]


class ConnectionLost(Exception):
    """The connection to the model failed; a retry may succeed."""


def chart() -> dict[str, Any]:
    """Load the chart of the demo."""
    loaded: dict[str, Any] = json.loads(files("antiphon.cli.play").joinpath("demo.json").read_text(encoding="utf-8"))
    return loaded


def demo_machine(pause: Pause = lambda ms: asyncio.sleep(ms / 1000)) -> Machine[Any, Any]:
    """Return the machine of the demo; `pause` lets time pass."""
    config = chart()
    # The input of an invoked actor is computed, and JSON has no names for that.
    config["states"]["replying"]["invoke"]["input"] = lambda context: {"attempt": context["attempt"]}
    return create_machine(
        config,
        actions={
            "takePrompt": assign({"prompt": lambda context, event: event["prompt"], "attempt": 0}),
            "beginAttempt": assign(begin_attempt),
            "appendText": assign(append_text),
            "keepError": assign({"error": lambda context, event: str(event["error"])}),
            "keepTimeout": assign({"error": "the first word took too long"}),
            "forget": assign({"prompt": "", "text": "", "chunks": 0, "attempt": 0, "error": None}),
        },
        guards={"mayRetry": lambda context: context["attempt"] < 3},
        delays={"patience": PATIENCE_MS, "backoff": lambda context: BACKOFF_MS * context["attempt"]},
        actors={"streamReply": from_task(_stream_reply(pause))},
    )


def begin_attempt(context: dict[str, Any]) -> dict[str, Any]:
    """Start an attempt with an empty text."""
    return {"attempt": context["attempt"] + 1, "text": GrowingText(), "chunks": 0, "error": None}


def append_text(context: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
    """Append a chunk to the text."""
    return {"text": context["text"] + event["content"], "chunks": context["chunks"] + 1}


def _stream_reply(pause: Pause) -> Callable[..., Awaitable[Any]]:
    async def stream_reply(input: dict[str, Any], scope: Any) -> dict[str, int]:
        await pause(CONNECT_MS)
        words = REPLY.split()
        for number, word in enumerate(words):
            if input["attempt"] == 1 and number == BREAKS_AFTER:
                raise ConnectionLost("the connection was lost")
            scope.send_back({"type": "TEXT_CHUNK", "content": word if number == 0 else f" {word}"}, "content")
            await pause(CHUNK_MS)
        return {"words": len(words)}

    return stream_reply


async def converse(actor: Actor[Any, Any], pause: Pause) -> None:
    """Act as the user: send a prompt and wait for the reply."""
    answered = asyncio.Event()
    actor.subscribe(lambda snapshot: answered.set() if snapshot.matches("complete") else None, lambda error: None)
    await pause(900)
    actor.send({"type": "SEND", "prompt": PROMPT})
    await answered.wait()
    await pause(700)
