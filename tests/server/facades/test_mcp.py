"""Threads as tools and resources of MCP, message by message, in the protocols of 2025 and of 2026."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from antiphon.app import App
from antiphon.messages import ToolCall, ToolResult
from antiphon.providers.base import Tool
from antiphon.server.models import ServedModels
from tests.fixtures.mcp_wire import FORMS, NEW, OLD, McpWire, messages
from tests.fixtures.scripted_team import script
from tests.fixtures.server import LiveServer, live_server

TOPIC = "Should a city close its centre to private cars?"
PAINTER = {"name": "painter", "whenToUse": "always", "systemPrompt": "Paint what is asked for."}
READING = {"list_models", "list_threads", "search_threads", "read_thread", "read_run"}


class Oven:
    """A toolbox with one tool that writes."""

    tools = (Tool("bake", "Bake.", {"type": "object"}, risk="write"),)

    async def call(self, call: ToolCall) -> ToolResult:
        return ToolResult.of(call, "baked")


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server(app=lambda: App(":memory:", toolbox=Oven())) as server:
        yield server


@pytest.fixture(params=[OLD, NEW])
def wire(server: LiveServer, request: pytest.FixtureRequest) -> Iterator[McpWire]:
    with McpWire(server, request.param) as wire:
        yield wire


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A model that says hello, bakes if it is asked to, and never ends if it is told to wait."""
    endless = [{"text": "Waiting. "}, {"delay_ms": 600_000}]
    return script(
        tmp_path,
        {"when": "wait", "steps": endless},
        {"after": "bake", "steps": [{"text": "Baked."}]},
        {"when": "bake", "steps": [{"tool": "bake", "arguments": {"what": "bread"}}]},
        {"when": "break", "steps": [{"error": "9003", "message": "no such model"}]},
        {"steps": [{"text": "Hello "}, {"text": "there."}, {"usage": {"input": 7, "output": 3}}]},
    )


def asking(folder: Path) -> str:
    """A model that asks a question before it is done."""
    question = {"tool": "ask_user", "arguments": {"question": "Which blue?"}}
    return script(folder, {"after": "ask_user", "steps": [{"text": "Painted."}]}, {"steps": [question]})


def code_of(result: dict[str, Any]) -> str:
    """The code of the problem that a call has."""
    assert result["isError"], result
    code = str(result["_meta"]["antiphon/problem"]["code"])
    assert result["content"][0]["text"].startswith(f"{code}: ")
    return code


def test_tools_say_truthfully_what_they_change(wire: McpWire) -> None:
    tools = {tool["name"]: tool for tool in wire.result("tools/list")["tools"]}
    hints = {name: tool["annotations"] for name, tool in tools.items()}

    assert {name for name, hint in hints.items() if hint["readOnlyHint"]} == READING
    assert {name for name, hint in hints.items() if hint["destructiveHint"]} == {
        "answer_request", "send_message", "start_run", "stop_thread",
    }  # fmt: skip
    assert {name for name, hint in hints.items() if hint["openWorldHint"]} == {
        "answer_request", "send_message", "start_debate", "start_run",
    }  # fmt: skip
    for tool in tools.values():
        jsonschema_rs.meta.validate(tool["inputSchema"])
        jsonschema_rs.meta.validate(tool["outputSchema"])
        assert all("description" in value for value in tool["inputSchema"]["properties"].values()), tool["name"]


def test_without_tools_on_the_host_a_message_destroys_nothing() -> None:
    with live_server(app=lambda: App(":memory:", models=ServedModels())) as server, McpWire(server) as wire:
        tools = {tool["name"]: tool for tool in wire.result("tools/list")["tools"]}

        assert not tools["send_message"]["annotations"]["destructiveHint"]
        result = wire.call("send_message", {"text": "Bake", "model": "scripted:demo", "tools": ["shell"]})
        assert code_of(result) == "not_allowed"
        assert wire.data("list_threads") == {"items": [], "next": None}


def test_a_message_creates_a_chat_and_its_reply_is_the_result(wire: McpWire, model: str) -> None:
    result = wire.call("send_message", {"text": "Hi", "model": model, "title": "Greeting"})
    data = result["structuredContent"]

    assert (data["text"], data["status"], data["title"]) == ("Hello there.", "completed", "Greeting")
    assert data["usage"] == {"input": 7, "output": 3}
    assert data["costUsd"] == data["threadCostUsd"] == 0
    assert result["content"][0]["text"] == f"Hello there.\n\n[chat {data['thread']} is completed]"
    again = wire.data("send_message", text="And again", thread=data["thread"])
    assert (again["thread"], again["text"]) == (data["thread"], "Hello there.")


def test_a_reply_is_reported_while_it_streams(wire: McpWire, model: str) -> None:
    params = {"name": "send_message", "arguments": {"text": "Hi", "model": model}, "_meta": {"progressToken": "p"}}
    response, before = wire.exchange("tools/call", params)
    reports = [message["params"] for message in before if message["method"] == "notifications/progress"]

    assert "".join(report["message"] for report in reports) == "Hello there."
    assert [report["progressToken"] for report in reports] == ["p"] * len(reports)
    amounts = [report["progress"] for report in reports]
    assert amounts == sorted({*amounts})
    assert response["result"]["structuredContent"]["text"] == "Hello there."


def test_a_call_with_a_key_is_taken_once(wire: McpWire, model: str) -> None:
    key = f"greeting-{wire.version}"
    first = wire.data("send_message", text="Hi", model=model, key=key)
    second = wire.data("send_message", text="Hi", model=model, key=key)

    assert first["thread"] == second["thread"]
    snapshot = wire.server.call(lambda app: app.library.read(first["thread"]))
    assert len(snapshot.content["messages"]) == 2


def test_a_call_that_waits_too_long_says_that_its_thread_is_running(wire: McpWire, model: str) -> None:
    data = wire.data("send_message", text="wait", model=model, waitSeconds=0.2)

    assert data["status"] == "running"
    stopped = wire.data("stop_thread", thread=data["thread"])
    assert stopped["status"] == "stopped"


def test_a_reply_that_fails_is_an_error_with_its_reason(wire: McpWire, model: str) -> None:
    result = wire.call("send_message", {"text": "break it", "model": model})

    assert result["isError"]
    assert result["structuredContent"]["status"] == "failed"
    assert "no such model" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("send_message", {"model": "scripted:demo"}, "bad_body"),
        ("send_message", {"text": "Hi"}, "bad_body"),
        ("send_message", {"text": "Hi", "thread": "nobody"}, "unknown_thread"),
        ("send_message", {"text": "Hi", "thread": "nobody", "model": "scripted:demo"}, "bad_body"),
        ("send_message", {"text": "Hi", "model": "scripted:nothing"}, "unusable_model"),
        ("send_message", {"text": "Hi", "model": "scripted:demo", "tools": ["rm"]}, "not_allowed"),
        ("send_message", {"text": "Hi", "model": "scripted:demo", "waitSeconds": 1e9}, "bad_body"),
        ("send_message", {"text": "Hi", "model": "scripted:demo", "key": "a b"}, "bad_body"),
        ("send_message", {"text": "Hi", "model": "scripted:demo", "consent": {"mode": "auto"}}, "bad_body"),
        ("read_thread", {"thread": "nobody"}, "unknown_thread"),
        ("read_thread", {"thread": "../etc/passwd"}, "unknown_thread"),
        ("read_thread", {}, "bad_body"),
        ("read_run", {"thread": "nobody"}, "unknown_thread"),
        ("list_threads", {"limit": 0}, "bad_body"),
        ("list_threads", {"after": "yesterday"}, "bad_cursor"),
        ("search_threads", {"words": "a", "after": "b"}, "bad_cursor"),
        ("answer_request", {"thread": "nobody", "requestId": "x", "text": "y"}, "unknown_thread"),
        ("stop_thread", {"thread": "nobody"}, "unknown_thread"),
        ("start_debate", {"topic": "short", "models": ["scripted:debate"]}, "bad_settings"),
        ("start_run", {"task": "Work", "model": "scripted:demo", "agents": []}, "bad_settings"),
    ],
)
def test_a_wrong_call_has_the_code_of_its_problem_and_changes_nothing(
    wire: McpWire, tool: str, arguments: dict[str, Any], code: str
) -> None:
    before = wire.server.call(lambda app: app.runtime.roots())

    assert code_of(wire.call(tool, arguments)) == code
    assert wire.server.call(lambda app: app.runtime.roots()) == before


def test_an_unknown_tool_is_an_error_of_the_protocol(wire: McpWire) -> None:
    response, _ = wire.exchange("tools/call", {"name": "dance", "arguments": {}})

    assert response["error"]["code"] == -32602
    assert "send_message" in response["error"]["message"]


def test_threads_are_listed_by_pages_and_searched(wire: McpWire, model: str) -> None:
    for number in range(3):
        wire.data("send_message", text=f"Pineapple {number}", model=model)
    first = wire.data("list_threads", limit=2, kind="chat")
    second = wire.data("list_threads", limit=2, kind="chat", after=first["next"])
    matches = wire.data("search_threads", words="pineapple", limit=2)
    rest = wire.data("search_threads", words="pineapple", limit=2, after=matches["next"])

    assert len(first["items"]) == 2
    assert not {row["id"] for row in first["items"]} & {row["id"] for row in second["items"]}
    assert all("Pineapple" in row["line"] for row in [*matches["items"], *rest["items"]])
    assert wire.data("list_threads", status="running")["items"] == []


def test_a_thread_is_read_from_its_end_backwards(wire: McpWire, model: str) -> None:
    thread = wire.data("send_message", text="Begin " + "x" * 2000, model=model)["thread"]
    result = wire.call("read_thread", {"thread": thread, "limit": 1000})
    data = result["structuredContent"]
    earlier = wire.data("read_thread", thread=thread, limit=100_000, before=data["start"])

    assert result["content"][0]["text"].endswith("Hello there.\n")
    assert data["characters"] - data["start"] == 1000
    assert (earlier["start"], earlier["end"]) == (0, data["start"])


def test_models_are_listed(wire: McpWire) -> None:
    usable = wire.data("list_models")["items"]

    assert "scripted:demo" in {row["reference"] for row in usable}
    assert all(row["usable"] for row in usable)
    assert len(wire.data("list_models", usable=False)["items"]) > len(usable)


def test_a_run_asks_and_is_answered_by_id(wire: McpWire, tmp_path: Path) -> None:
    run = wire.data("start_run", task="Paint the wall", model=asking(tmp_path), agents=[PAINTER], waitSeconds=20)
    (request,) = run["requests"]
    assert (run["status"], request["reason"], request["text"]) == ("waiting", "question", "Which blue?")
    assert wire.data("read_run", thread=run["thread"])["outcome"] is None

    done = wire.data("answer_request", thread=run["thread"], requestId=request["id"], text="light")
    assert (done["status"], done["text"]) == ("completed", "Painted.")
    over = wire.call("read_run", {"thread": run["thread"]})
    assert over["structuredContent"]["outcome"]["success"]
    assert "Agent 'painter' completed" in over["content"][0]["text"]
    again = wire.call("answer_request", {"thread": run["thread"], "requestId": request["id"], "text": "dark"})
    assert code_of(again) == "unknown_request"


def test_a_run_continues_after_the_call(wire: McpWire, tmp_path: Path) -> None:
    run = wire.data("start_run", task="Paint the wall", model=asking(tmp_path), agents=[PAINTER])

    waited = wire.data("read_run", thread=run["thread"], waitSeconds=20)
    assert waited["status"] == "waiting"


def test_a_chat_is_no_run(wire: McpWire, model: str) -> None:
    chat = wire.data("send_message", text="Hi", model=model)

    assert code_of(wire.call("read_run", {"thread": chat["thread"]})) == "wrong_kind"


def test_a_permission_is_decided_by_a_call(wire: McpWire, model: str) -> None:
    asked = wire.call("send_message", {"text": "bake bread", "model": model, "tools": ["bake"]})
    data = asked["structuredContent"]
    (request,) = data["requests"]
    assert (data["status"], request["reason"]) == ("waiting", "permission")
    assert 'permission for bake({"what": "bread"})' in asked["content"][0]["text"]

    done = wire.data("answer_request", thread=data["thread"], requestId=request["id"], decision="allow")
    assert (done["status"], done["text"]) == ("completed", "Baked.")


def test_a_debate_is_held(server: LiveServer) -> None:
    with McpWire(server) as wire:
        debate = wire.data(
            "start_debate", topic=TOPIC, models=["scripted:debate"], maxRounds=1, waitSeconds=30
        )  # fmt: skip

        assert debate["status"] == "completed"
        assert debate["text"].startswith("The winner is for.")
        assert debate["usage"]["input"] > 0


def test_threads_are_resources(wire: McpWire, model: str) -> None:
    thread = wire.data("send_message", text="Hi", model=model)["thread"]
    uri = f"antiphon://threads/{thread}"
    listed = wire.result("resources/list")["resources"]
    content = wire.result("resources/read", {"uri": uri})["contents"][0]
    (template,) = wire.result("resources/templates/list")["resourceTemplates"]

    assert listed[0]["uri"] == uri
    assert (content["uri"], content["mimeType"]) == (uri, "text/markdown")
    assert "Hello there." in content["text"]
    assert template["uriTemplate"] == "antiphon://threads/{id}"


@pytest.mark.parametrize("uri", ["antiphon://threads/nobody", "antiphon://threads/", "file:///etc/passwd"])
def test_an_unknown_resource_is_an_error(wire: McpWire, uri: str) -> None:
    response, _ = wire.exchange("resources/read", {"uri": uri})

    assert response["error"]["code"] == -32602
    assert response["error"]["data"]["code"] == "unknown_thread"


def test_resources_have_pages() -> None:
    with live_server() as server, McpWire(server) as wire:
        for number in range(60):
            server.call(lambda app, number=number: app.threads.create("chat", id=f"t{number}"))
        first = wire.result("resources/list")
        second = wire.result("resources/list", {"cursor": first["nextCursor"]})
        wrong, _ = wire.exchange("resources/list", {"cursor": "yesterday"})

    uris = {item["uri"] for item in [*first["resources"], *second["resources"]]}
    assert (len(first["resources"]), len(uris), second.get("nextCursor")) == (50, 60, None)
    assert wrong["error"]["data"]["code"] == "bad_cursor"


def until_progress(wire: McpWire, model: str, id: int) -> Any:
    """A call that waits for a reply without an end."""
    params = {"name": "send_message", "arguments": {"text": "wait", "model": model}, "_meta": {"progressToken": id}}
    return wire.stream("tools/call", params, id)


def running(server: LiveServer) -> str:
    (view,) = server.call(lambda app: app.library.latest(status="running"))
    return str(view.id)


def test_a_cancelled_call_stops_to_wait_and_its_thread_continues(server: LiveServer, model: str) -> None:
    with McpWire(server) as wire:
        with until_progress(wire, model, 77) as response:
            stream = messages(response)
            assert next(stream)["method"] == "notifications/progress"
            assert wire.notify("notifications/cancelled", {"requestId": 77}).status_code == 202
            assert next(stream)["error"]["code"] == -32800
        thread = running(server)

        assert wire.data("stop_thread", thread=thread)["status"] == "stopped"


@pytest.mark.parametrize("version", [OLD, NEW])
def test_a_client_that_goes_away_changes_nothing(server: LiveServer, model: str, version: str) -> None:
    with McpWire(server, version) as wire:
        with until_progress(wire, model, 78) as response:
            assert next(messages(response))["method"] == "notifications/progress"
        thread = running(server)

        assert wire.data("stop_thread", thread=thread)["status"] == "stopped"


def form(action: str, **content: Any) -> dict[str, Any]:
    return {"action": action, **({"content": content} if content else {})}


BAKING = {"text": "bake bread", "tools": ["bake"]}


def test_a_person_at_the_client_decides_in_a_form(server: LiveServer, model: str) -> None:
    with McpWire(server, OLD, FORMS) as wire:
        params = {"name": "send_message", "arguments": {**BAKING, "model": model}}
        response, before = wire.exchange("tools/call", params, lambda asked: form("accept", decision="allow"))
    (asked,) = (message["params"] for message in before if message["method"] == "elicitation/create")

    assert 'permission for bake({"what": "bread"})' in asked["message"]
    assert asked["requestedSchema"]["properties"]["decision"]["enum"] == ["allow", "deny"]
    assert response["result"]["structuredContent"]["text"] == "Baked."


@pytest.mark.parametrize("answer", [form("decline"), form("cancel"), form("accept"), form("accept", decision="yes")])
def test_a_form_that_decides_nothing_allows_nothing(server: LiveServer, model: str, answer: dict[str, Any]) -> None:
    with McpWire(server, OLD, FORMS) as wire:
        params = {"name": "send_message", "arguments": {**BAKING, "model": model}}
        response, _ = wire.exchange("tools/call", params, lambda asked: answer)
    data = response["result"]["structuredContent"]

    assert (data["status"], len(data["requests"])) == ("waiting", 1)


def test_a_question_is_answered_in_a_form(server: LiveServer, tmp_path: Path) -> None:
    with McpWire(server, OLD, FORMS) as wire:
        arguments = {"task": "Paint", "model": asking(tmp_path), "agents": [PAINTER], "waitSeconds": 20}
        response, before = wire.exchange(
            "tools/call", {"name": "start_run", "arguments": arguments}, lambda asked: form("accept", answer="light")
        )

    assert [message["params"]["message"] for message in before if "id" in message] == ["agent-0: Which blue?"]
    assert response["result"]["structuredContent"]["text"] == "Painted."


def test_a_call_that_needs_a_person_is_repeated_with_the_form(server: LiveServer, model: str) -> None:
    with McpWire(server, NEW, FORMS) as wire:
        arguments = {**BAKING, "model": model}
        needed = wire.call("send_message", arguments)
        assert needed["resultType"] == "input_required"
        ((id, asked),) = needed["inputRequests"].items()
        assert asked["method"] == "elicitation/create"
        forms = {id: form("accept", decision="allow")}
        result = wire.call("send_message", arguments, inputResponses=forms, requestState=needed["requestState"])
        data = result["structuredContent"]
        record = server.call(lambda app: app.library.read(data["thread"]))

    assert (data["status"], data["text"]) == ("completed", "Baked.")
    roles = [message["role"] for message in record.content["messages"].values()]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_a_repeated_call_without_a_decision_leaves_the_request_open(server: LiveServer, model: str) -> None:
    with McpWire(server, NEW, FORMS) as wire:
        arguments = {**BAKING, "model": model}
        needed = wire.call("send_message", arguments)
        forms = {id: form("decline") for id in needed["inputRequests"]}
        result = wire.call("send_message", arguments, inputResponses=forms, requestState=needed["requestState"])

    assert result["structuredContent"]["status"] == "waiting"


@pytest.mark.parametrize("state", ["", "x", "[]", '{"thread": 5, "rounds": 1}', '{"thread": "nobody", "rounds": 1}'])
def test_a_forged_state_is_refused(server: LiveServer, model: str, state: str) -> None:
    before = server.call(lambda app: app.runtime.roots())
    with McpWire(server, NEW, FORMS) as wire:
        result = wire.call("send_message", {"text": "Hi", "model": model}, requestState=state)

    assert code_of(result) in ("bad_body", "unknown_thread")
    assert server.call(lambda app: app.runtime.roots()) == before


def test_the_library_is_imported_with_the_first_message() -> None:
    code = "import sys, antiphon.server.application.asgi; print('mcp' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert result.stdout == "False\n"
