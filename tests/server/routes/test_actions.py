"""The routes of actions: messages, answers, branches, merges and limits of chats."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, live_server


class Oven:
    """A toolbox with one tool that writes."""

    tools = (Tool("bake", "Bake.", {"type": "object"}, risk="write"),)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult.of(call, "baked")


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=lambda: App(":memory:", toolbox=Oven())) as server, server.client() as client:
        yield client


def test_a_message_that_is_sent_twice_with_one_key_is_taken_once(client: CheckedClient) -> None:
    thread = client.chat()
    first = client.post(f"/threads/{thread}/messages", {"text": "Hello"}, headers={"Idempotency-Key": "m-1"})
    second = client.post(f"/threads/{thread}/messages", {"text": "Hello"}, headers={"Idempotency-Key": "m-1"})
    client.server.wait_until_idle(thread)

    assert (first["status"], second["status"]) == ("accepted", "duplicate")
    assert first["cursor"] == second["cursor"]
    assert len(client.get(f"/threads/{thread}")["content"]["messages"]) == 2


def test_a_message_has_parts(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"parts": [{"type": "text", "text": "Hello in parts"}]})

    messages = client.get(f"/threads/{thread}")["content"]["messages"]
    assert messages["m1"]["parts"] == [{"type": "text", "text": "Hello in parts"}]


def test_a_busy_thread_says_so_and_what_it_takes(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    response = client.request("POST", f"/threads/{thread}/messages", {"text": "Again"})

    problem = response.json()
    assert (response.status_code, problem["code"], problem["recoverable"]) == (409, "busy", True)
    assert "STOP" in problem["can"][""]


@pytest.mark.parametrize("setting", ["queue", "interrupt", "merge"])
def test_a_busy_thread_takes_messages_as_it_was_created(client: CheckedClient, setting: str) -> None:
    thread = client.chat(onBusy=setting)
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    client.post(f"/threads/{thread}/messages", {"text": "And again", "onBusy": setting})
    client.server.wait_until_idle(thread)

    messages = client.get(f"/threads/{thread}")["content"]["messages"].values()
    assert [message["role"] for message in messages].count("user") == 2


def test_a_message_may_be_rejected_or_interrupt(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    path = f"/threads/{thread}/messages"

    assert client.problem("POST", path, {"text": "Again", "onBusy": "reject"}) == (409, "busy")
    assert client.problem("POST", path, {"text": "Again", "onBusy": "queue"}) == (409, "refused")
    assert client.post(path, {"text": "Again", "onBusy": "interrupt"})["status"] == "accepted"


def test_a_reply_is_stopped_and_the_question_asked_again(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/start", {"text": "Hello"})
    client.post(f"/threads/{thread}/stop")
    assert client.server.wait_until_idle(thread) == "stopped"

    client.post(f"/threads/{thread}/resume")
    assert client.server.wait_until_idle(thread) == "completed"
    client.post(f"/threads/{thread}/retry")
    assert client.server.wait_until_idle(thread) == "completed"
    assert client.problem("POST", f"/threads/{thread}/pause") == (409, "wrong_kind")


def test_a_permission_is_given_with_other_arguments(client: CheckedClient, tmp_path: Path) -> None:
    done = {"after": "bake", "steps": [{"text": "Done."}]}
    model = script(tmp_path, done, {"steps": [{"tool": "bake", "arguments": {"cake": "apple"}}]})
    thread = client.chat(model=model, tools=["bake"], consent={"mode": "ask"})
    client.post(f"/threads/{thread}/messages", {"text": "Bake a cake"})
    assert client.server.wait_until_idle(thread) == "waiting"
    (request,) = client.get(f"/threads/{thread}")["requests"]
    (call,) = request["calls"]
    answer = {"requestId": request["id"], "decision": "allow"}

    wrong = {**answer, "arguments": {"another": {}}}
    assert client.problem("POST", f"/threads/{thread}/respond", wrong) == (409, "refused")
    kept = {**answer, "scope": "tool", "arguments": {call["id"]: {}}}
    assert client.problem("POST", f"/threads/{thread}/respond", kept) == (409, "refused")
    client.post(f"/threads/{thread}/respond", {**answer, "arguments": {call["id"]: {"cake": "plum"}}})
    assert client.server.wait_until_idle(thread) == "completed"

    activities = client.get(f"/threads/{thread}/events", params={"words": "false"})["items"]
    (end,) = [row["facts"] for row in activities if row["kind"] == "tool_ended"]
    assert end["result"]["edited"] == {"cake": "plum"}
    assert "A person changed the arguments of this call" in client.request("GET", f"/threads/{thread}/export").text


def test_a_permission_is_answered_by_its_id_once(client: CheckedClient, tmp_path: Path) -> None:
    done = {"after": "bake", "steps": [{"text": "Done."}]}
    model = script(tmp_path, done, {"steps": [{"tool": "bake", "arguments": {}}]})
    thread = client.chat(model=model, tools=["bake"], consent={"mode": "ask"})
    client.post(f"/threads/{thread}/messages", {"text": "Bake a cake"})
    assert client.server.wait_until_idle(thread) == "waiting"
    (request,) = client.get(f"/threads/{thread}")["requests"]
    answer = {"requestId": request["id"], "decision": "allow", "scope": "once", "reason": "hungry"}

    wrong = client.request("POST", f"/threads/{thread}/respond", {**answer, "requestId": "nobody"})
    assert (wrong.json()["code"], wrong.json()["open"]) == ("unknown_request", [request["id"]])
    client.post(f"/threads/{thread}/respond", answer, headers={"Idempotency-Key": "a-1"})
    again = client.post(f"/threads/{thread}/respond", answer, headers={"Idempotency-Key": "a-1"})
    assert again["status"] == "duplicate"
    assert client.problem("POST", f"/threads/{thread}/respond", answer) == (409, "unknown_request")
    assert client.server.wait_until_idle(thread) == "completed"


def test_a_limit_is_raised_by_an_answer_and_by_its_route(client: CheckedClient, tmp_path: Path) -> None:
    model = script(
        tmp_path, {"after": "bake", "steps": [{"text": "Done."}]}, {"steps": [{"tool": "bake", "arguments": {}}]}
    )
    thread = client.chat(model=model, tools=["bake"], consent={"mode": "auto"}, maxToolRounds=0)
    client.post(f"/threads/{thread}/messages", {"text": "Bake"})
    assert client.server.wait_until_idle(thread) == "waiting"
    (request,) = client.get(f"/threads/{thread}")["requests"]
    assert request["limit"]["value"] == 0

    client.post(f"/threads/{thread}/respond", {"requestId": request["id"], "decision": "allow", "limit": 2})
    assert client.server.wait_until_idle(thread) == "completed"
    changed = client.post(f"/threads/{thread}/limits", {"maxToolRounds": 7, "maxCostUsd": None})
    assert changed["content"]["config"]["maxToolRounds"] == 7
    assert client.get(f"/threads/{thread}/limits")["figures"]["budget"]["thread"]["toolRounds"] == 1


def test_a_chat_is_branched_marked_rewound_and_merged(client: CheckedClient) -> None:
    thread = client.talked()
    marked = client.post(f"/threads/{thread}/checkpoints", {"name": "start"})
    checkpoints = client.get(f"/threads/{thread}/checkpoints")["items"]
    assert marked["content"]["checkpoints"] == checkpoints
    branched = client.post(f"/threads/{thread}/branches", {"name": "other", "turn": 0})
    assert branched["branch"] == "other"
    client.post(f"/threads/{thread}/messages", {"text": "Another beginning"})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/perform", {"action": "switch", "payload": {"branch": "main"}})

    merging = client.post(f"/threads/{thread}/merge", {"source": "other", "strategy": "manual"})
    turns = sorted({message["id"] for message in merging["content"]["messages"].values() if message["role"] == "user"})
    assert client.post(f"/threads/{thread}/merge/cancel")["content"]["merge"] is None
    client.post(f"/threads/{thread}/merge", {"source": "other", "strategy": "manual"})
    client.post(f"/threads/{thread}/merge/resolve", {"turns": turns})
    merged = client.post(f"/threads/{thread}/merge/confirm")
    assert merged["content"]["merge"] is None
    assert "other" not in merged["content"]["branches"]
    rewound = client.post(f"/threads/{thread}/rewind", {"checkpointId": next(iter(checkpoints))})
    assert rewound["turns"] == 1


def test_actions_of_a_chat_that_has_not_begun_are_refused(client: CheckedClient) -> None:
    thread = client.chat()

    assert client.problem("POST", f"/threads/{thread}/rewind", {"turns": 1}) == (409, "refused")
    assert client.problem("POST", f"/threads/{thread}/resume") == (409, "refused")
    assert client.problem("POST", f"/threads/{thread}/retry") == (409, "refused")


def test_events_that_a_guard_refuses_are_not_listed(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.talked(model=script(tmp_path, {"steps": [{"text": "Hello."}]}))
    assert "cancel" not in client.get(f"/threads/{thread}")["can"]["chat"]  # there is no merge to cancel
    client.post(f"/threads/{thread}/branches", {"name": "side"})
    client.post(f"/threads/{thread}/messages", {"text": "Aside"})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/perform", {"action": "switch", "payload": {"branch": "main"}})
    merging = client.post(f"/threads/{thread}/merge", {"source": "side", "strategy": "manual"})
    assert "confirm_merge" not in merging["can"]["chat"]
    problem = client.request("POST", f"/threads/{thread}/merge/confirm").json()
    assert "confirm_merge" not in problem["can"]["chat"]

    for conflict in merging["content"]["merge"]["conflicts"]:
        merging = client.post(f"/threads/{thread}/merge/resolve", {"conflict": conflict["id"], "pick": "ours"})
    assert "confirm_merge" in merging["can"]["chat"]


def test_a_permission_is_listed_and_taken_back_once(client: CheckedClient) -> None:
    overrides = [{"decision": "allow", "pattern": "bake"}, {"decision": "deny", "pattern": "burn"}]
    thread = client.chat(consent={"mode": "ask", "overrides": overrides})
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    client.server.wait_until_idle(thread)
    (permission,) = client.get(f"/threads/{thread}")["permissions"]
    body = {"permission": permission["id"]}
    receipts = [
        client.post(f"/threads/{thread}/revoke", body, headers={"Idempotency-Key": "r-1"})["status"] for _ in range(2)
    ]

    assert permission == {"id": permission["id"], "text": "bake", "decision": "allow", "pattern": "bake"}
    assert receipts == ["accepted", "duplicate"]
    assert client.get(f"/threads/{thread}")["permissions"] == []
    assert client.problem("POST", f"/threads/{thread}/revoke", body) == (409, "unknown_permission")
    assert client.problem("POST", f"/threads/{thread}/revoke", {}) == (422, "bad_body")
