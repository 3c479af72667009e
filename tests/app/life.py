"""A process that is killed in the middle of a conversation: says where it is, then waits for the end."""

import asyncio
import sys
from pathlib import Path

from antiphon.app.app import App
from antiphon.messages import ToolCall, ToolResult
from tests.app.stage import Clerk, script

THREAD = "the-thread"
HALF = "Once upon a time there was"


class Stuck(Clerk):
    """A toolbox whose tool never comes back."""

    async def call(self, call: ToolCall) -> ToolResult:
        """Begin, and say so."""
        print("here", flush=True)
        await asyncio.Event().wait()
        raise AssertionError


async def live(folder: Path, scene: str) -> None:
    """Come to a point of a conversation and stay there."""
    box = Stuck()
    calls = [{"tool": "file", "arguments": {"name": "letter"}}]
    steps = [{"text": HALF}, {"delay_ms": 600_000}] if scene == "replying" else calls
    async with App(folder / "store.db", toolbox=box) as app:
        await app.runtime.create(
            "thread",
            root=THREAD,
            input={
                "threadId": THREAD,
                "kind": "chat",
                "config": {
                    "model": script(folder, steps),
                    "settings": {"options": {"tools": box.listed}},
                    "consent": {"mode": "auto" if scene == "calling" else "ask"},
                },
            },
        )
        await app.threads.say(THREAD, "Tell me a story")
        text = ""
        async for one in app.threads.follow(THREAD):
            text += one.facts["text"] if one.kind == "text" else ""
            if text == HALF or (scene == "asking" and one.kind == "permission"):
                print("here", flush=True)
    raise AssertionError


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))
