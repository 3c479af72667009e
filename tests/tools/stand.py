"""A stand for MCP: servers by name, calls in one line, and everything ended afterwards."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from antiphon.messages import ToolCall, ToolResult
from antiphon.tools.mcp.config import CommandServer, Limits
from antiphon.tools.mcp.toolbox import McpTools

PROGRAM = str(Path(__file__).parent / "serving.py")
CANARY = "canary-token-5eb63bbbe01eeed0"
ENVIRONMENT = {"THE_TOKEN": CANARY, "HOME": "/"}
QUICK = Limits(start_ms=20_000, call_ms=1_000)
PATIENT = Limits(start_ms=20_000, call_ms=20_000)
LIMIT_S = 40


def server(mode: str, *, name: str | None = None, limits: Limits = PATIENT) -> CommandServer:
    return CommandServer(
        name or mode, sys.executable, (PROGRAM, mode), {"SERVER_SECRET": "${THE_TOKEN}"}, limits=limits
    )


def toolbox(*servers: Any) -> McpTools:
    return McpTools(servers, environment=ENVIRONMENT)


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(f"call-{name}", name, json.dumps(arguments))


async def ask(mcp: McpTools, name: str, /, **arguments: Any) -> ToolResult:
    return await mcp.call(call(name, **arguments))


def words(result: ToolResult) -> str:
    return "|".join(getattr(part, "text", "(picture)") for part in result.parts)


def run(work: Awaitable[Any]) -> Any:
    """Run to the end, which has to come; no task may be left."""

    async def bounded() -> Any:
        async with asyncio.timeout(LIMIT_S):
            result = await work
        for _ in range(1_000):
            if len(asyncio.all_tasks()) == 1:
                return result
            await asyncio.sleep(0)
        raise AssertionError(f"tasks are left: {asyncio.all_tasks()}")

    return asyncio.run(bounded())


async def until(question: Callable[[], Awaitable[bool]]) -> None:
    """Ask until the answer is yes; the time limit of `run` ends it otherwise."""
    while not await question():
        await asyncio.sleep(0)
