"""The API of OpenAI on the wire: frames, threads, errors, and what happens if a client goes away."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.app import App
from antiphon.errors import Code
from antiphon.providers.base import Done, TextDelta
from antiphon.server.callers import OPERATOR, Caller
from antiphon.server.context import ServerContext
from antiphon.server.facades.known_conversations import Position
from antiphon.server.facades.openai.conversations import ClientConversation, begin, check_chat, head_of
from antiphon.server.facades.openai.errors import error_body, error_status
from antiphon.server.facades.openai.previous import find_previous
from antiphon.server.facades.openai.prompts import read_messages
from antiphon.server.problems import ProblemError
from antiphon.threads.errors import UnknownThread
from tests.fixtures.chats import Teller
from tests.fixtures.openai_facade import ADD, SCRIPT, TOOL, chunks, openai_server
from tests.fixtures.server import PATIENCE_S, CheckedClient, LiveServer, live_server

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"


class Facade:
    """A client of the facade with a model."""

    def __init__(self, server: LiveServer, client: CheckedClient, model: str) -> None:
        self.server = server
        self.client = client
        self.model = model

    def post(self, path: str, **body: Any) -> Any:
        return self.client.request("POST", path, {"model": self.model, **body})

    def chat(self, *messages: Any, **body: Any) -> Any:
        listed = [{"role": "user", "content": one} if isinstance(one, str) else one for one in messages]
        return self.post(CHAT, messages=listed, **body)

    def read(self, thread: str) -> Any:
        return self.client.get(f"/threads/{thread}")

    def threads(self) -> list[str]:
        return [row["id"] for row in self.client.get("/threads?limit=1000")["items"]]


@pytest.fixture(scope="module")
def facade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Facade]:
    with openai_server(tmp_path_factory.mktemp("model")) as (server, model), server.client() as client:
        yield Facade(server, client, model)


def said(response: Any) -> dict[str, Any]:
    """What the client sends back of a completion."""
    message: dict[str, Any] = response.json()["choices"][0]["message"]
    return message


def thread_of(response: Any) -> str:
    return str(response.headers["x-antiphon-thread"])


# -- chat completions --------------------------------------------------------------------------------------------------


def test_a_completion_is_the_reply_of_a_thread(facade: Facade) -> None:
    response = facade.chat({"role": "system", "content": "Be brief."}, "Hi", temperature=0.5, max_tokens=9)
    page = facade.read(thread_of(response))

    assert said(response)["content"] == "Hello there."
    assert (page["kind"], page["status"], page["model"]) == ("chat", "completed", facade.model)
    settings = page["content"]["config"]
    assert settings["system"] == "Be brief."
    assert settings["settings"]["options"] == {"temperature": 0.5, "maxTokens": 9}


def test_a_stream_has_a_role_words_an_end_the_usage_and_done(facade: Facade) -> None:
    response = facade.chat("Hi", stream=True, stream_options={"include_usage": True})
    frames = chunks(response.text)
    deltas = [frame["choices"][0]["delta"] for frame in frames[:-2]]

    assert response.headers["content-type"].startswith("text/event-stream")
    assert not response.text.startswith("retry")
    assert deltas[0] == {"role": "assistant", "content": "", "refusal": None}
    assert "".join(delta.get("content") or "" for delta in deltas) == "Hello there."
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "A greeting."
    assert frames[-3]["choices"][0]["finish_reason"] == "stop"
    assert (frames[-2]["choices"], frames[-2]["usage"]["total_tokens"], frames[-1]) == ([], 12, "[DONE]")


def test_a_stream_without_include_usage_has_none(facade: Facade) -> None:
    assert "usage" not in facade.chat("Hi", stream=True).text


def test_a_conversation_that_is_sent_again_continues_its_thread(facade: Facade) -> None:
    first = facade.chat("Hi")
    second = facade.chat("Hi", said(first), "Again")
    other = facade.chat("Hi", {"role": "assistant", "content": "Something else"}, "Again")

    assert thread_of(second) == thread_of(first) != thread_of(other)
    page = facade.read(thread_of(other))
    assert [row["role"] for row in page["content"]["messages"].values()] == ["user", "assistant", "user", "assistant"]


def test_a_conversation_with_other_settings_is_another_thread(facade: Facade) -> None:
    first = facade.chat("Hi")

    assert thread_of(facade.chat("Hi", said(first), "Again", temperature=1)) != thread_of(first)


def test_a_thread_that_was_continued_elsewhere_is_not_continued(facade: Facade) -> None:
    first = facade.chat("Hi")
    facade.client.post(f"/threads/{thread_of(first)}/messages", {"text": "From elsewhere"})
    facade.server.wait_until_idle(thread_of(first))

    assert thread_of(facade.chat("Hi", said(first), "Again")) != thread_of(first)


def test_a_thread_that_is_busy_is_not_continued(facade: Facade) -> None:
    first = facade.chat("Hi")
    body = {"model": facade.model, "messages": [{"role": "user", "content": "Hi"}, said(first)]}
    slow = {**body, "stream": True, "messages": [*body["messages"], {"role": "user", "content": "slow"}]}
    with facade.client.http.stream("POST", CHAT, json=slow) as busy:
        second = facade.chat("Hi", said(first), "Again")

    assert busy.headers["x-antiphon-thread"] == thread_of(first) != thread_of(second)
    assert said(second)["content"] == "Hello there."


def test_requests_that_continue_a_conversation_at_once_have_threads_of_their_own(facade: Facade) -> None:
    first = facade.chat("Hi")

    async def continue_at_once(app: App) -> list[str]:
        context = ServerContext(app, facade.server.settings)
        thread = thread_of(first)
        content = await app.threads.content(thread)
        assert content is not None
        prompt = read_messages([{"role": "user", "content": "Hi"}, said(first), {"role": "user", "content": "slow"}])
        conversation = ClientConversation(OPERATOR, {"model": facade.model}, prompt)
        position = Position(thread, head_of(content))
        turns = await asyncio.gather(*(begin(context, conversation, position) for _ in range(3)))
        for turn in turns:
            await turn.close()
        return [turn.thread for turn in turns]

    threads = facade.server.call(continue_at_once)
    assert len({*threads}) == 3
    assert thread_of(first) in threads


def test_threads_of_other_users_are_unknown(facade: Facade) -> None:
    async def find(app: App) -> None:
        thread = await app.threads.create("chat", model=facade.model, owner="ann")
        context = ServerContext(app, facade.server.settings)
        await check_chat(context, Caller("ann"), thread)
        with pytest.raises(UnknownThread):
            await check_chat(context, Caller("bob"), thread)
        with pytest.raises(ProblemError, match="there is no response"):
            await find_previous(context, Caller("bob"), f"resp_{thread}_in1")

    facade.server.call(find)


def test_users_do_not_continue_the_conversations_of_others() -> None:
    prompt = read_messages([{"role": "user", "content": "Hi"}])
    digests = {ClientConversation(Caller(user), {}, prompt).digest(prompt.messages) for user in ("", "ann", "bob")}

    assert len(digests) == 3


def test_a_model_may_name_a_thread(facade: Facade) -> None:
    thread = facade.client.post("/threads", {"kind": "chat", "model": facade.model})["id"]
    response = facade.chat("Hi", model=f"thread:{thread}")

    assert thread_of(response) == thread
    assert facade.read(thread)["turns"] == 1
    refused = facade.chat("Hi", model=f"thread:{thread}", temperature=1)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, "temperature")


def test_a_thread_that_is_not_stored_is_deleted(facade: Facade) -> None:
    before = facade.threads()
    response = facade.chat("Hi", store=False)

    assert said(response)["content"] == "Hello there."
    assert facade.threads() == before


def test_tools_are_called_by_the_client(facade: Facade) -> None:
    first = facade.chat("add 1 and 2", tools=[TOOL], tool_choice="auto")
    message = said(first)
    assert first.json()["choices"][0]["finish_reason"] == "tool_calls"
    assert message["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    assert facade.read(thread_of(first))["waiting"]

    result = {"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "3"}
    second = facade.chat("add 1 and 2", message, result, tools=[TOOL], tool_choice="auto")
    assert (said(second)["content"], thread_of(second)) == ("It is 3.", thread_of(first))
    other = facade.chat("add 1 and 2", message, result, tools=[TOOL])  # other settings: a new thread with the calls
    assert (said(other)["content"], thread_of(other) == thread_of(first)) == ("It is 3.", False)


def test_calls_are_streamed_with_their_index(facade: Facade) -> None:
    frames = chunks(facade.chat("add 1 and 2", tools=[TOOL], stream=True).text)
    deltas = [frame["choices"][0]["delta"] for frame in frames[:-1]]
    (calls,) = [delta["tool_calls"] for delta in deltas if "tool_calls" in delta]

    assert (calls[0]["index"], calls[0]["type"], calls[0]["function"]["name"]) == (0, "function", "add")
    assert frames[-2]["choices"][0]["finish_reason"] == "tool_calls"


def test_images_are_parts_of_messages(facade: Facade) -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.webp?b"}},
    ]
    page = facade.read(thread_of(facade.chat({"role": "user", "content": parts})))
    first = next(iter(page["content"]["messages"].values()))

    assert first["parts"][1:] == [
        {"type": "image", "mediaType": "image/png", "data": "AAAA"},
        {"type": "image", "mediaType": "image/webp", "url": "https://example.org/a.webp?b"},
    ]


def test_the_options_of_a_request_reach_the_model() -> None:
    teller = Teller([TextDelta("{}")])
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    with (
        live_server(app=lambda: App(":memory:", models=teller.models)) as server,
        server.client() as client,
    ):
        form = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
        choice = {"type": "function", "function": {"name": "add"}}
        more = {"stop": ["END"], "reasoning_effort": "minimal", "tools": [TOOL], "tool_choice": choice}
        facade = Facade(server, client, "scripted:teller")
        assert facade.chat("Hi", response_format=form, max_completion_tokens=7, **more).status_code == 200
    (request,) = teller.asked

    assert request.output is not None
    assert (request.output.name, request.output.schema) == ("answer", schema)
    assert (request.max_tokens, request.stop, request.thinking, request.tool_choice) == (7, ("END",), "low", "add")
    assert [(tool.name, tool.parameters) for tool in request.tools] == [("add", ADD["parameters"])]


class Cut(Teller):
    """A model whose replies end at their limit."""

    async def stream(self, request: Any) -> Any:
        yield TextDelta("Cut")
        yield Done("length")


def test_a_reply_at_its_limit_ends_with_length() -> None:
    with live_server(app=lambda: App(":memory:", models=Cut().models)) as server, server.client() as client:
        facade = Facade(server, client, "scripted:teller")
        chat = facade.chat("Hi").json()
        response = facade.post(RESPONSES, input="Hi").json()

    assert chat["choices"][0]["finish_reason"] == "length"
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})


def test_a_refusal_of_the_model_ends_with_content_filter(facade: Facade) -> None:
    choice = facade.chat("forbidden").json()["choices"][0]

    assert (choice["finish_reason"], choice["message"]["content"]) == ("content_filter", "Half")


# -- errors ------------------------------------------------------------------------------------------------------------


def test_a_failure_before_the_first_word_has_its_status_in_a_stream_too(facade: Facade) -> None:
    for stream in (False, True):
        response = facade.chat("fail", stream=stream)

        assert (response.status_code, response.json()["error"]["code"]) == (400, "context_length_exceeded")
        assert response.headers["x-should-retry"] == "false"


def test_a_failure_in_the_middle_is_the_last_frame(facade: Facade) -> None:
    frames = chunks(facade.chat("break", stream=True).text)

    assert frames[-1]["error"]["message"] == "The model is broken"
    assert "[DONE]" not in frames


@pytest.mark.parametrize(
    ("code", "status"),
    [(Code.RATE_LIMITED, 429), (Code.QUOTA, 429), (Code.OVERLOADED, 503), (Code.TIMEOUT, 504), (Code.NETWORK, 502)],
)
def test_failures_of_models_have_the_statuses_of_openai(code: Code, status: int) -> None:
    problem = ProblemError("model_failed", "no", providerCode=code.value)

    assert error_status(problem) == status
    assert error_body(problem)["error"]["type"] == ("rate_limit_error" if status == 429 else "server_error")


def test_errors_of_the_guard_have_the_form_of_openai(facade: Facade) -> None:
    cases: list[tuple[str, str, dict[str, str], int, str]] = [
        ("POST", CHAT, {"authorization": "Bearer no"}, 401, "invalid_api_key"),
        ("POST", CHAT, {"host": "evil.example"}, 421, "wrong_host"),
        ("POST", CHAT, {"origin": "https://evil.example"}, 403, "foreign_origin"),
        ("GET", "/v1/nothing", {}, 404, "unknown_route"),
        ("PUT", CHAT, {}, 405, "wrong_method"),
        ("GET", "/v1/models/nothing", {}, 404, "model_not_found"),
    ]
    for method, path, headers, status, code in cases:
        response = facade.client.http.request(method, path, headers=headers)

        assert (response.status_code, response.json()["error"]["code"]) == (status, code)
        assert response.headers["content-type"] == "application/json"


def open_slow_stream(server: LiveServer, model: str) -> tuple[socket.socket, str]:
    """A connection on which a slow reply has begun, and the thread of the reply."""
    body = json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": "slow"}]})
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.settings.token}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
    connection.sendall((head + body).encode())
    text = b""
    while b"Slowly" not in text:
        text += connection.recv(65_536)
    return connection, text.partition(b"x-antiphon-thread: ")[2].split()[0].decode()


def test_a_client_that_goes_away_stops_the_reply(facade: Facade) -> None:
    connection, thread = open_slow_stream(facade.server, facade.model)
    connection.close()

    assert facade.server.call(lambda app: until_over(app, thread)) == "stopped"
    assert "Slowly" in str(facade.read(thread)["content"]["messages"])


def test_a_client_that_goes_away_before_the_first_word_stops_the_reply(tmp_path: Path) -> None:
    with openai_server(tmp_path) as (server, model), server.client() as client:
        body = {"model": model, "messages": [{"role": "user", "content": "slow"}]}
        with pytest.raises(httpx2.TimeoutException):
            client.http.post(CHAT, json=body, timeout=0.2)
        (row,) = client.get("/threads")["items"]

        assert server.call(lambda app: until_over(app, row["id"])) == "stopped"


async def until_over(app: App, thread: str) -> str:
    await app.runtime.wait_until(thread, lambda state: state.value != "running")
    return await app.threads.status(thread)


def test_a_server_that_stops_ends_a_stream_with_an_error(tmp_path: Path) -> None:
    with openai_server(tmp_path) as (server, model):
        connection, _ = open_slow_stream(server, model)
    with connection:
        rest = b"".join(iter(lambda: connection.recv(65_536), b""))

    assert b'"code":"stopping"' in rest


# -- responses ---------------------------------------------------------------------------------------------------------


def test_a_response_has_its_items_and_its_parameters(facade: Facade) -> None:
    reply = facade.post(RESPONSES, input="Hi", instructions="Be brief.", metadata={"a": "b"}).json()

    assert [item["type"] for item in reply["output"]] == ["reasoning", "message"]
    assert reply["output"][1]["content"][0]["text"] == "Hello there."
    assert (reply["status"], reply["usage"]["total_tokens"], reply["metadata"]) == ("completed", 12, {"a": "b"})


def test_a_response_continues_an_earlier_one_in_its_thread(facade: Facade) -> None:
    first = facade.post(RESPONSES, input="Hi")
    second = facade.post(RESPONSES, input="Again", previous_response_id=first.json()["id"])
    branch = facade.post(RESPONSES, input="Other", previous_response_id=first.json()["id"])

    assert thread_of(second) == thread_of(first) != thread_of(branch)
    messages = facade.read(thread_of(branch))["content"]["messages"].values()
    texts = [part["text"] for row in messages for part in row["parts"] if part["type"] == "text"]
    assert texts == ["Hi", "Hello there.", "Other", "Hello there."]


def test_other_instructions_continue_the_conversation_in_another_thread(facade: Facade) -> None:
    first = facade.post(RESPONSES, input="Hi", instructions="One.")
    second = facade.post(RESPONSES, input="Again", instructions="Two.", previous_response_id=first.json()["id"])

    page = facade.read(thread_of(second))
    assert (page["turns"], page["content"]["config"]["system"]) == (2, "Two.")


def test_events_of_a_response_are_numbered_and_nested(facade: Facade) -> None:
    frames = chunks(facade.post(RESPONSES, input="Hi", stream=True).text)
    types = [frame["type"].removeprefix("response.") for frame in frames]

    assert [frame["sequence_number"] for frame in frames] == list(range(len(frames)))
    assert types[:3] == ["created", "in_progress", "output_item.added"]
    assert types[-4:] == ["output_text.done", "content_part.done", "output_item.done", "completed"]
    assert frames[-1]["response"]["output"][1]["content"][0]["text"] == "Hello there."


def test_a_function_is_called_and_answered_by_the_client(facade: Facade) -> None:
    tools = [{"type": "function", **ADD}]
    first = facade.post(RESPONSES, input="add 1 and 2", tools=tools)
    call = first.json()["output"][-1]
    assert (call["type"], call["name"], call["arguments"]) == ("function_call", "add", '{"a": 1, "b": 2}')

    output = [{"type": "function_call_output", "call_id": call["call_id"], "output": "3"}]
    second = facade.post(RESPONSES, input=output, tools=tools, previous_response_id=first.json()["id"])
    assert thread_of(second) == thread_of(first)
    assert second.json()["output"][-1]["content"][0]["text"] == "It is 3."
    again = facade.post(RESPONSES, input=output, tools=tools, previous_response_id=first.json()["id"])
    assert (thread_of(again) == thread_of(first), facade.read(thread_of(again))["turns"]) == (False, 1)
    question = {"role": "user", "content": "add 1 and 2"}
    whole = facade.post(RESPONSES, input=[question, *first.json()["output"], *output], tools=tools)
    assert whole.json()["output"][-1]["content"][0]["text"] == "It is 3."


def test_a_response_that_fails_says_so(facade: Facade) -> None:
    frames = chunks(facade.post(RESPONSES, input="break", stream=True).text)

    assert (frames[-1]["type"], frames[-1]["response"]["status"]) == ("response.failed", "failed")
    assert frames[-1]["response"]["error"]["message"] == "The model is broken"
    assert facade.post(RESPONSES, input="break").status_code == 400


def test_a_response_is_continued_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text(SCRIPT, encoding="utf-8")
    body = {"model": f"scripted:{path}", "input": "Hi"}
    with live_server(app=lambda: App(tmp_path / "store.db")) as server, server.client() as client:
        first = client.request("POST", RESPONSES, body)
    with live_server(app=lambda: App(tmp_path / "store.db")) as server, server.client() as client:
        second = client.request("POST", RESPONSES, {**body, "previous_response_id": first.json()["id"]})

    assert thread_of(second) == thread_of(first)
