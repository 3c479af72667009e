"""Tools as a chat sees them."""

import asyncio
from typing import Any

from antiphon import create_actor, to_awaitable
from antiphon.threads.toolbox import call_tool, tools_to_json
from tests.fixtures.chats import Clerk


def run_call(box: Clerk, **facts: Any) -> Any:
    async def main() -> Any:
        call = {"type": "toolCall", "id": "c1", "name": "file", "arguments": "{}", **facts}
        return await to_awaitable(create_actor(call_tool(box), input={"call": call}).start())

    return asyncio.run(main())


def test_a_call_gives_its_result_as_json() -> None:
    assert run_call(Clerk()) == {"type": "toolResult", "callId": "c1", "parts": [{"type": "text", "text": "filed"}]}


def test_a_tool_of_unknown_risk_counts_as_destructive() -> None:
    assert [tool["risk"] for tool in tools_to_json(Clerk().tools)] == ["destructive"]
