"""AG-UI over the wire: runs, interrupts and their answers, errors, attaching, and what is refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.server.callers import Caller
from antiphon.server.context import ServerContext
from antiphon.server.facades.conversations import Conversation, UserMessage
from antiphon.server.facades.failures import describe
from tests.fixtures.facades import TOPIC, agui_body, events_of, kitchen, kitchen_model, run_agui, types
from tests.fixtures.protocols import check_agui
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, live_server

PAINTER = {"name": "painter", "whenToUse": "always", "systemPrompt": "Paint."}


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=kitchen) as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def props(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    model = kitchen_model(tmp_path_factory.mktemp("kitchen"))
    return {"model": model, "tools": ["bake"], "consent": {"mode": "ask"}}


def interrupts(events: list[Any]) -> list[Any]:
    outcome = events[-1]["outcome"]
    assert outcome["type"] == "interrupt"
    return list(outcome["interrupts"])


def resolved(events: list[Any], payload: Any) -> list[Any]:
    return [{"interruptId": item["id"], "status": "resolved", "payload": payload} for item in interrupts(events)]


def texts(events: list[Any]) -> dict[str, str]:
    """The texts of the messages of a run."""
    result: dict[str, str] = {}
    for event in events:
        if event["type"] == "TEXT_MESSAGE_CONTENT":
            result[event["messageId"]] = result.get(event["messageId"], "") + event["delta"]
    return result


def test_a_thread_is_created_and_its_reply_has_the_ids_of_its_nodes(client: CheckedClient, props: Any) -> None:
    events = run_agui(client, "created", "hello", forwardedProps=props)

    check_agui(events)
    assert texts(events) == {"m1": "Hello there."}
    assert {*client.get("/threads/created")["content"]["messages"]} == {"hello", "m1"}
    assert events[-1]["outcome"] == {"type": "success"}
    assert events[-1]["usage"][0]["outputTokens"] > 0


def test_the_state_follows_the_journal(client: CheckedClient, props: Any) -> None:
    events = run_agui(client, "state", "hello", forwardedProps=props)
    first, last = (event["snapshot"] for event in events if event["type"] == "STATE_SNAPSHOT")
    deltas = [event["delta"][0]["value"] for event in events if event["type"] == "STATE_DELTA"]

    assert "status" not in first
    assert deltas == ["running", "completed"]
    assert (last["status"], last["kind"], last["branch"]) == ("completed", "chat", "main")


def test_a_request_interrupts_and_its_answer_goes_on(client: CheckedClient, props: Any) -> None:
    asked = run_agui(client, "asked", "bake", forwardedProps=props)
    (interrupt,) = interrupts(asked)
    resume = resolved(asked, {"approved": True, "reason": "hungry", "scope": "once"})
    answered = run_agui(client, "asked", resume=resume, runId="second")

    check_agui(asked)
    check_agui(answered)
    assert (interrupt["reason"], interrupt["message"]) == ("tool_approval", 'Allow bake({"degrees": 200})?')
    assert interrupt["responseSchema"]["properties"]["scope"] == {"enum": ["once", "tool"]}
    (result,) = (event for event in answered if event["type"] == "TOOL_CALL_RESULT")
    assert (result["messageId"], result["content"]) == (f"m2:{interrupt['toolCallId']}", "baked")
    assert texts(answered) == {"m3": "Done."}


def test_an_answer_that_is_sent_twice_is_taken_once(client: CheckedClient, props: Any) -> None:
    resume = resolved(run_agui(client, "twice", "bake", forwardedProps=props), {"approved": True})
    first = run_agui(client, "twice", resume=resume, runId="again")
    second = run_agui(client, "twice", resume=resume, runId="again")

    assert texts(first) == texts(second) == {"m3": "Done."}
    third = agui_body("twice", resume=resume, runId="other")
    assert client.problem("POST", "/agui", third) == (409, "unknown_request")


def test_a_cancelled_interrupt_denies_every_call_of_the_request(client: CheckedClient, props: Any) -> None:
    asked = run_agui(client, "denied", "two cakes", forwardedProps=props)
    (interrupt,) = interrupts(asked)
    answer = {"interruptId": interrupt["id"], "status": "cancelled"}
    denied = run_agui(client, "denied", resume=[answer])

    results = [event["content"] for event in denied if event["type"] == "TOOL_CALL_RESULT"]
    assert "toolCallId" not in interrupt
    assert results == ["This call was denied."] * 2


def test_a_limit_is_an_interrupt_and_may_be_raised(client: CheckedClient, props: Any) -> None:
    limited = {**props, "consent": {"mode": "auto"}, "maxToolRounds": 0}
    asked = run_agui(client, "limit", "bake", forwardedProps=limited)
    (interrupt,) = interrupts(asked)
    answered = run_agui(client, "limit", resume=resolved(asked, {"approved": True, "limit": 3}))

    assert interrupt["reason"] == "limit"
    assert "limit" in interrupt["responseSchema"]["properties"]
    assert texts(answered) == {"m3": "Done."}


def test_an_agent_of_a_run_asks_and_is_answered_in_words(client: CheckedClient, tmp_path: Path) -> None:
    ask = {"steps": [{"text": "I ask."}, {"tool": "ask_user", "arguments": {"question": "Which blue?"}}]}
    model = script(tmp_path, {"after": "ask_user", "steps": [{"text": "Painted."}]}, ask)
    settings = {"kind": "run", "agents": [PAINTER], "arbiter": {"kind": "rules"}, "model": model}
    asked = run_agui(client, "painting", "Paint the wall", forwardedProps=settings)
    answered = run_agui(client, "painting", resume=resolved(asked, {"text": "light"}))

    check_agui(asked)
    check_agui(answered)
    assert interrupts(asked)[0]["message"] == "Which blue?"
    assert list(texts(answered).values()) == ["Painted."]
    assert answered[-1]["result"]["reason"] == "completed"
    assert [event["stepName"] for event in answered if event["type"] == "STEP_STARTED"] == ["painter"]


def test_a_question_that_is_cancelled_goes_on_without_an_answer(client: CheckedClient, tmp_path: Path) -> None:
    ask = {"steps": [{"tool": "ask_user", "arguments": {"question": "Which blue?"}}]}
    model = script(tmp_path, {"after": "ask_user", "steps": [{"text": "Painted."}]}, ask)
    settings = {"kind": "run", "agents": [PAINTER], "arbiter": {"kind": "rules"}, "model": model}
    (interrupt,) = interrupts(run_agui(client, "unasked", "Paint the wall", forwardedProps=settings))
    events = run_agui(client, "unasked", resume=[{"interruptId": interrupt["id"], "status": "cancelled"}])

    check_agui(events)
    assert events[-1]["outcome"] == {"type": "success"}


def test_a_debate_is_on_the_first_message(client: CheckedClient, tmp_path: Path) -> None:
    model = script(tmp_path, {"steps": [{"text": "Because."}]})
    sides = [{"id": side, "position": side, "model": model} for side in ("for", "against")]
    settings = {"kind": "debate", "participants": sides, "maxRounds": 1}
    events = run_agui(client, "debate", TOPIC, forwardedProps=settings)

    check_agui(events)
    starts = [event for event in events if event["type"] == "TEXT_MESSAGE_START"]
    assert client.get("/threads/debate")["content"]["topic"] == TOPIC
    assert {event["name"] for event in starts} == {"for", "against"}
    assert starts[0]["messageId"] == "opening-1-for-1"


def test_an_error_of_the_model_ends_the_run(client: CheckedClient, props: Any) -> None:
    events = run_agui(client, "broken", "break", forwardedProps=props)

    check_agui(events)
    assert events[-1] == {"type": "RUN_ERROR", "message": "bad key", "code": "2001"}
    assert texts(events) == {"m1": "Short"}


def test_a_client_without_a_message_gets_the_messages(client: CheckedClient, props: Any) -> None:
    run_agui(client, "late", "hello", forwardedProps=props)
    events = run_agui(client, "late")

    (snapshot,) = (event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    assert [message["id"] for message in snapshot["messages"]] == ["hello", "m1:thinking-1", "m1"]
    assert [message["role"] for message in snapshot["messages"]] == ["user", "reasoning", "assistant"]
    assert types(events)[-1] == "RUN_FINISHED"


def test_a_connection_that_is_closed_changes_nothing_and_another_reads_the_whole(
    client: CheckedClient, props: Any
) -> None:
    body = agui_body("cut", "slow", forwardedProps=props)
    with client.http.stream("POST", "/agui", json=body) as response:
        for line in response.iter_lines():
            if "TEXT_MESSAGE_CONTENT" in line:
                break
    events = run_agui(client, "cut")

    check_agui(events)
    assert texts(events) == {"m1": "One two."}
    (snapshot,) = (event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    assert [message["id"] for message in snapshot["messages"]] == ["slow"]


def test_a_client_that_comes_back_after_a_tool_round_gets_the_whole_run_as_events(
    client: CheckedClient, tmp_path: Path
) -> None:
    slow = [{"text": "One "}, {"delay_ms": 700}, {"text": "two."}]
    model = script(tmp_path, {"after": "bake", "steps": slow}, {"steps": [{"tool": "bake", "arguments": {}}]})
    settings = {"model": model, "tools": ["bake"], "consent": {"mode": "auto"}}
    with client.http.stream("POST", "/agui", json=agui_body("back", "bake", forwardedProps=settings)) as response:
        for line in response.iter_lines():
            if "TEXT_MESSAGE_CONTENT" in line:
                break
    events = run_agui(client, "back")

    (snapshot,) = (event for event in events if event["type"] == "MESSAGES_SNAPSHOT")
    assert [message["id"] for message in snapshot["messages"]] == ["bake"]
    assert texts(events) == {"m3": "One two."}
    assert types(events).count("TOOL_CALL_START") == 1


def test_a_run_that_is_stopped_is_cancelled(client: CheckedClient, props: Any) -> None:
    body = agui_body("stopped", "slow", forwardedProps=props)
    lines: list[str] = []
    with client.http.stream("POST", "/agui", json=body) as response:
        for line in response.iter_lines():
            if "TEXT_MESSAGE_CONTENT" in line and not any("TEXT_MESSAGE_CONTENT" in read for read in lines):
                client.post("/threads/stopped/stop")
            lines.append(line)
    events = events_of("\n".join(lines))

    check_agui(events)
    assert events[-1]["outcome"] == {"type": "cancelled"}


def test_a_message_to_a_running_thread_is_a_problem(client: CheckedClient, props: Any) -> None:
    body = agui_body("busy", "slow", forwardedProps=props)
    with client.http.stream("POST", "/agui", json=body) as response:
        next(response.iter_lines())
        problem = client.problem("POST", "/agui", agui_body("busy", "another"))

    assert problem == (409, "busy")


def test_fields_that_are_not_used_are_named(client: CheckedClient, props: Any) -> None:
    tool = {"name": "alert", "description": "", "parameters": {}}
    events = run_agui(client, "unused", "hello", forwardedProps=props, tools=[tool], state={"a": 1})

    (custom,) = (event for event in events if event["type"] == "CUSTOM")
    assert (custom["name"], custom["value"]) == ("antiphon.unused", {"fields": ["tools", "state"]})


def test_an_image_is_sent_with_its_data(client: CheckedClient, props: Any) -> None:
    image = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}
    content = [{"type": "text", "text": "hello"}, image]
    body = agui_body("image", forwardedProps=props, messages=[{"id": "q", "role": "user", "content": content}])
    assert client.request("POST", "/agui", body).status_code == 200

    parts = client.get("/threads/image")["content"]["messages"]["q"]["parts"]
    assert parts[1] == {"type": "image", "mediaType": "image/png", "data": "aGk="}


def test_a_thread_that_is_deleted_ends_the_run_with_an_error(client: CheckedClient, props: Any) -> None:
    body = agui_body("deleted", "slow", forwardedProps=props)
    lines: list[str] = []
    with client.http.stream("POST", "/agui", json=body) as response:
        for line in response.iter_lines():
            if "TEXT_MESSAGE_CONTENT" in line and not any("TEXT_MESSAGE_CONTENT" in read for read in lines):
                client.request("DELETE", "/threads/deleted")
            lines.append(line)
    events = events_of("\n".join(lines))

    check_agui(events)
    assert (events[-1]["type"], events[-1]["code"]) == ("RUN_ERROR", "unknown_thread")


def test_an_error_that_is_a_bug_is_logged_and_not_told(caplog: pytest.LogCaptureFixture) -> None:
    assert describe(RuntimeError("a secret")) == ("the server has failed; see its log", "internal")
    assert "a secret" in caplog.text


def test_a_server_that_stops_ends_the_run_with_an_error(props: Any) -> None:
    body = agui_body("stopping", "slow", forwardedProps=props)
    with live_server(app=kitchen) as server:
        client = server.client()
        response = client.http.send(client.http.build_request("POST", "/agui", json=body), stream=True)
        lines = response.iter_lines()
        while "RUN_STARTED" not in next(lines):
            pass
    with client:
        rest = events_of("\n".join(lines))

    assert (rest[-1]["type"], rest[-1]["code"]) == ("RUN_ERROR", "stopping")


def test_a_thread_belongs_to_its_caller_and_is_unknown_to_others(client: CheckedClient) -> None:
    context = ServerContext(client.server.app, client.server.settings)
    message = UserMessage("q", [{"type": "text", "text": "hello"}])

    async def create(_: App) -> str:
        thread = await Conversation.create(context, Caller("ann"), "own", {"model": "scripted:demo"}, message)
        return str((await context.app.threads.state(thread.id)).get("owner"))

    async def find(_: App, user: str) -> bool:
        return await Conversation.find(context, Caller(user), "own") is not None

    assert client.server.call(create) == "ann"
    assert [client.server.call(lambda app, user=user: find(app, user)) for user in ("ann", "bob", "")] == [
        True,
        False,
        False,
    ]
