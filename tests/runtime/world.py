"""A runtime on a memory store in simulated time, for tests that need no patience."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from antiphon import assign, create_machine, from_stream, from_task, raise_
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.loop import SimulatedLoop

START = 1_000_000


def simulate(main: Callable[[], Awaitable[Any]]) -> Any:
    """Run a coroutine to its end in simulated time."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(main())
    finally:
        loop.dispose()


def runtime(store: MemoryStore, *machines: Any, **options: Any) -> Runtime:
    """A runtime whose wall clock is the simulated one."""
    loop = asyncio.get_running_loop()
    return Runtime(store, machines, now=lambda: START + round(loop.time() * 1000), **options)


def crash(dead: Runtime) -> None:
    """Let a runtime die without a word."""
    assert dead._loop_task is not None
    dead._loop_task.cancel()
    for work, _ in dead.tasks._running.values():
        work.cancel()


def chat(reply: Callable[..., Any], *, safety: str = "report", version: int = 1, migrate: Any = None) -> Any:
    """A machine that asks a service, keeps what it says, and rings when told to."""
    logic = from_stream(reply, safety=safety) if _is_stream(reply) else from_task(reply, safety=safety)
    return create_machine(
        {
            "id": "chat",
            "version": version,
            "initial": "idle",
            "context": {"text": "", "rings": [], "failure": None},
            "on": {
                "PLAN": {"actions": raise_({"type": "RING"}, delay=lambda context, event: event["ms"], id="ring")},
                "RING": {"actions": "ring"},
            },
            "states": {
                "idle": {"on": {"SEND": "replying"}},
                "replying": {
                    "invoke": {
                        "src": "reply",
                        "id": "reply",
                        "input": lambda context, event: {"prompt": event.get("prompt")},
                        "onDone": "idle",
                        "onError": {"target": "failed", "actions": "fail"},
                    },
                    "on": {"TEXT": {"actions": "append"}, "CANCEL": "idle"},
                },
                "failed": {"on": {"SEND": "replying"}},
            },
        },
        actors={"reply": logic},
        actions={
            "append": assign({"text": lambda context, event: context["text"] + event["text"]}),
            "ring": assign({"rings": lambda context, event: [*context["rings"], event["due"]]}),
            "fail": assign({"failure": lambda context, event: event["error"].get("code")}),
        },
        migrate=migrate,
    )


def _is_stream(function: Callable[..., Any]) -> bool:
    return bool(function.__code__.co_flags & 0x200)


async def settled(hosting: Runtime, root: str, state: str) -> Any:
    """The snapshot of a tree once it is in a state."""
    async for entry in hosting.feed(root):
        if entry.value == state:
            return await hosting.snapshot(root)
    raise AssertionError(f"never {state}")
