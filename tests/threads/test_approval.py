"""Approval of tool calls by a function: only True allows, None asks a person, and a crash asks again."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import App, MemoryStore, SqliteStore, Store
from antiphon.providers.base import Delta, TextDelta, ToolArgs, ToolStart
from antiphon.threads import ApprovalRequest
from antiphon.threads.activity import Activity
from antiphon.tools import Bundle, tool
from tests.fixtures.chats import Teller

CALL: list[Delta] = [ToolStart("c1", "send"), ToolArgs("c1", '{"to": "Ada"}')]
GOOD: list[Delta] = [TextDelta("Good.")]
ANSWERS: list[Any] = [
    (True, "sent to Ada", False),
    (False, 'not allowed: the approver denied send({"to": "Ada"})', True),
    ("not to Ada", "not allowed: not to Ada", True),
    (1, "not allowed: the approver returned 1; expected True, False, a text or None", True),
    (KeyError("rules"), "not allowed: the approver failed: KeyError: 'rules'", True),
]


@tool(requires_approval=True)
def send(to: str) -> str:
    """Send a letter."""
    return f"sent to {to}"


@tool(requires_approval=False)
def look() -> str:
    """Look around."""
    return "nothing"


async def say(app: App, teller: Teller, **settings: Any) -> tuple[str, list[Activity]]:
    thread = await app.chats.create(model="scripted:teller", tools=[send, look], consent={"mode": "auto"}, **settings)
    receipt = await app.chats.say(thread, "Send it.")
    return thread, [activity async for activity in app.chats.until_idle(thread, receipt.seq - 1)]


def chat(approver: Any, *replies: list[Delta]) -> tuple[Teller, list[Activity]]:
    teller = Teller(*replies)

    async def main() -> list[Activity]:
        box = Bundle(send, look)
        async with App(MemoryStore(), models=teller.models, toolbox=box, approver=approver) as app:
            return (await say(app, teller))[1]

    return teller, asyncio.run(main())


def results(teller: Teller) -> list[Any]:
    return [(part.parts[0].text, part.is_error) for part in teller.asked[-1].messages[-1].parts]  # type: ignore[union-attr]


@pytest.mark.parametrize(("answer", "text", "is_error"), ANSWERS)
@pytest.mark.parametrize("is_async", [True, False])
def test_the_answer_of_the_function_decides(answer: Any, text: str, is_error: bool, is_async: bool) -> None:
    requests: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> Any:
        requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def approve_async(request: ApprovalRequest) -> Any:
        await asyncio.sleep(0)
        return approve(request)

    teller, activities = chat(approve_async if is_async else approve, CALL, GOOD)

    assert requests == [
        ApprovalRequest("send", {"to": "Ada"}, "destructive", 'send({"to": "Ada"})', "it may destroy something")
    ]
    assert requests[0].call["kind"] == "other"
    assert results(teller) == [(text, is_error)]
    assert activities[-1].facts["status"] == "completed"
    assert "waiting" not in [activity.facts.get("status") for activity in activities]


def test_only_calls_that_need_approval_are_asked_about_and_one_refusal_refuses_all() -> None:
    names: list[str] = []
    calls: list[Delta] = [
        ToolStart("c1", "look"),
        ToolStart("c2", "send"),
        ToolArgs("c2", '{"to": "Ada"}'),
        ToolStart("c3", "send"),
        ToolArgs("c3", '{"to": "Bob"}'),
    ]

    def approve(request: ApprovalRequest) -> bool:
        names.append(f"{request.name} {request.arguments['to']}")
        return request.arguments["to"] == "Ada"

    teller, _ = chat(approve, calls, GOOD)

    assert names == ["send Ada", "send Bob"]
    assert [is_error for _, is_error in results(teller)] == [True, True, True]


def test_a_call_with_broken_arguments_is_denied_without_asking() -> None:
    def approve(request: ApprovalRequest) -> bool:
        raise AssertionError

    teller, _ = chat(approve, [ToolStart("c1", "send"), ToolArgs("c1", '{"to": ')], GOOD)

    assert results(teller) == [("The arguments of send are not a JSON object.", True)]


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_a_function_that_does_not_decide_leaves_the_question_to_a_person(decision: str) -> None:
    teller = Teller(CALL, GOOD)

    async def main() -> str:
        box = Bundle(send, look)
        async with App(MemoryStore(), models=teller.models, toolbox=box, approver=lambda request: None) as app:
            thread, activities = await say(app, teller)
            assert "waiting" in [activity.facts.get("status") for activity in activities]
            receipt = await app.chats.answer(thread, decision=decision)
            async for _ in app.chats.until_idle(thread, receipt.seq - 1):
                pass
            return await app.chats.status(thread)

    assert asyncio.run(main()) == "completed"
    assert [is_error for _, is_error in results(teller)] == [decision == "deny"]


def crash_while_asked(store: Callable[[], Store], approver: Any) -> tuple[Teller, list[str]]:
    """Lose the process while the approver is asked; return the model and the statuses of the next process."""
    teller = Teller(CALL, GOOD)
    statuses: list[str] = []

    async def main() -> None:
        asked = asyncio.Event()

        async def hang(request: ApprovalRequest) -> bool:
            asked.set()
            await asyncio.get_running_loop().create_future()
            return True

        box = Bundle(send, look)
        first = App(store(), models=teller.models, toolbox=box, approver=hang)
        await first.__aenter__()
        thread = await first.chats.create(model="scripted:teller", tools=[send], consent={"mode": "auto"})
        await first.chats.say(thread, "Send it.")
        await asked.wait()
        await first.runtime.stop()
        async with App(store(), models=teller.models, toolbox=box, approver=approver) as app:
            async for activity in app.chats.until_idle(thread):
                if activity.kind == "status":
                    statuses.append(activity.facts["status"])

    asyncio.run(main())
    return teller, statuses


def test_an_approver_that_a_lost_process_asked_is_asked_again(tmp_path: Path) -> None:
    teller, statuses = crash_while_asked(lambda: SqliteStore(tmp_path / "a.db"), lambda request: True)

    assert results(teller) == [("sent to Ada", False)]
    assert statuses[-1] == "completed"


def test_a_process_without_the_function_asks_a_person(tmp_path: Path) -> None:
    _, statuses = crash_while_asked(lambda: SqliteStore(tmp_path / "a.db"), None)

    assert statuses[-1] == "waiting"
