"""Bad input to the API of OpenAI: every case has its status and names its parameter, and nothing changes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.openai_facade import TOOL
from tests.fixtures.server import CheckedClient, live_server

CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MODEL = "scripted:demo"
USER = {"role": "user", "content": "Hi"}
CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
ASKED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "3"}


def chat(**body: Any) -> tuple[str, Any]:
    return CHAT, {"model": MODEL, "messages": [USER], **body}


def said(*messages: Any) -> tuple[str, Any]:
    return CHAT, {"model": MODEL, "messages": list(messages)}


def response(**body: Any) -> tuple[str, Any]:
    return RESPONSES, {"model": MODEL, "input": "Hi", **body}


def user(content: Any) -> tuple[str, Any]:
    return said({"role": "user", "content": content})


def tool(**function: Any) -> tuple[str, Any]:
    return chat(tools=[{"type": "function", "function": function}])


# Name: the request, and the status and the parameter of its error.
CASES: dict[str, tuple[tuple[str, Any], int, str | None]] = {
    "no body": ((CHAT, {}), 400, "model"),
    "a list": ((CHAT, []), 400, None),
    "no messages": ((CHAT, {"model": MODEL}), 400, "messages"),
    "messages of a text": (chat(messages="Hi"), 400, "messages"),
    "messages of nothing": (said(), 400, "messages"),
    "message of a text": (said("Hi"), 400, "messages[0].role"),
    "message of null": (said(None), 400, "messages[0].role"),
    "no role": (said({"content": "Hi"}), 400, "messages[0].role"),
    "unknown role": (said({"role": "function", "content": "Hi"}), 400, "messages[0].role"),
    "role of a list": (said({"role": ["user"], "content": "Hi"}), 400, "messages[0].role"),
    "no content": (said({"role": "user"}), 400, "messages[0].content"),
    "content of a number": (user(5), 400, "messages[0].content"),
    "content of an object": (user({"text": "a"}), 400, "messages[0].content"),
    "part of a text": (user(["Hi"]), 400, "messages[0].content[0].type"),
    "part of no type": (user([{"text": "Hi"}]), 400, "messages[0].content[0].type"),
    "part of a list as type": (user([{"type": ["text"]}]), 400, "messages[0].content[0].type"),
    "text of a number": (user([{"type": "text", "text": 5}]), 400, "messages[0].content[0].text"),
    "audio": (user([{"type": "input_audio", "input_audio": {}}]), 400, "messages[0].content[0].type"),
    "file": (user([{"type": "file", "file": {}}]), 400, "messages[0].content[0].type"),
    "image of nothing": (user([{"type": "image_url"}]), 400, "messages[0].content[0].image_url"),
    "image of a file": (
        user([{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]),
        400,
        "messages[0].content[0].image_url",
    ),
    "image that is no base64": (
        user([{"type": "image_url", "image_url": {"url": "data:image/png;base64,!!"}}]),
        400,
        "messages[0].content[0].image_url",
    ),
    "image that is a page": (
        user([{"type": "image_url", "image_url": {"url": "data:text/html;base64,AAAA"}}]),
        400,
        "messages[0].content[0].image_url",
    ),
    "image of the system": (
        said({"role": "system", "content": [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}]}, USER),
        400,
        "messages[0].content[0].type",
    ),
    "only the system": (said({"role": "system", "content": "Hi"}), 400, "messages"),
    "reply at the end": (said(USER, {"role": "assistant", "content": "Yes"}), 400, "messages"),
    "result without a call": (said(USER, RESULT), 400, "messages"),
    "result of another call": (said(USER, ASKED, {**RESULT, "tool_call_id": "c2"}), 400, "messages"),
    "result twice": (said(USER, ASKED, RESULT, RESULT), 400, "messages"),
    "result without an id": (said(USER, ASKED, {"role": "tool", "content": "3"}), 400, "messages[2].tool_call_id"),
    "call without a result": (said(USER, ASKED, USER), 400, "messages"),
    "calls of a text": (said(USER, {**ASKED, "tool_calls": "add"}), 400, "messages[1].tool_calls"),
    "call of a text": (said(USER, {**ASKED, "tool_calls": ["a"]}), 400, "messages[1].tool_calls[0].function"),
    "call without an id": (
        said(USER, {**ASKED, "tool_calls": [{"function": {"name": "a", "arguments": ""}}]}),
        400,
        "messages[1].tool_calls[0].id",
    ),
    "call with an object": (
        said(USER, {**ASKED, "tool_calls": [{"id": "c", "function": {"name": "a", "arguments": {}}}]}),
        400,
        "messages[1].tool_calls[0].arguments",
    ),
    "too many messages": (said(*[USER] * 10_001), 400, "messages"),
    "unknown parameter": (chat(temprature=1), 400, "temprature"),
    "model of a number": (chat(model=5), 400, "model"),
    "no such model": (chat(model="gpt-9"), 404, None),
    "no such script": (chat(model="scripted:nothing"), 404, None),
    "file of the host": (chat(model="scripted:/etc/passwd"), 404, None),
    "address as a model": (chat(model="openai+http://127.0.0.1:1/v1:m"), 404, None),
    "no such thread": (chat(model="thread:nobody"), 404, None),
    "thread of no name": (chat(model="thread:"), 404, None),
    "thread with tools": (chat(model="thread:talk", tools=[TOOL]), 400, "tools"),
    "stream of a text": (chat(stream="yes"), 400, "stream"),
    "stream options of a list": (chat(stream=True, stream_options=[]), 400, "stream_options"),
    "hot": (chat(temperature=3), 400, "temperature"),
    "temperature of a text": (chat(temperature="hot"), 400, "temperature"),
    "no tokens": (chat(max_tokens=0), 400, "max_tokens"),
    "negative tokens": (chat(max_completion_tokens=-1), 400, "max_completion_tokens"),
    "half a token": (chat(max_tokens=1.5), 400, "max_tokens"),
    "stop of a number": (chat(stop=5), 400, "stop"),
    "empty stop": (chat(stop=[""]), 400, "stop"),
    "many stops": (chat(stop=["a"] * 17), 400, "stop"),
    "two choices": (chat(n=2), 400, "n"),
    "seed": (chat(seed=5), 400, "seed"),
    "top_p": (chat(top_p=0.5), 400, "top_p"),
    "logprobs": (chat(logprobs=True), 400, "logprobs"),
    "functions": (chat(functions=[]), 400, "functions"),
    "speech": (chat(modalities=["text", "audio"]), 400, "modalities"),
    "calls one by one": (chat(parallel_tool_calls=False), 400, "parallel_tool_calls"),
    "unknown effort": (chat(reasoning_effort="more"), 400, "reasoning_effort"),
    "format of a text": (chat(response_format="json"), 400, "response_format"),
    "JSON without a schema": (chat(response_format={"type": "json_object"}), 400, "response_format"),
    "schema of nothing": (chat(response_format={"type": "json_schema"}), 400, "response_format"),
    "schema without a name": (
        chat(response_format={"type": "json_schema", "json_schema": {"schema": {}}}), 400, "response_format",
    ),
    "tools of a text": (chat(tools="add"), 400, "tools"),
    "tool of a text": (chat(tools=["add"]), 400, "tools[0].type"),
    "tool of another type": (chat(tools=[{"type": "web_search"}]), 400, "tools[0].type"),
    "tool without a function": (chat(tools=[{"type": "function"}]), 400, "tools[0].function"),
    "tool without a name": (tool(), 400, "tools[0].name"),
    "tool with a path as name": (tool(name="../a"), 400, "tools[0].name"),
    "parameters of a text": (tool(name="a", parameters="x"), 400, "tools[0]"),
    "tool twice": (chat(tools=[TOOL, TOOL]), 400, "tools"),
    "too many tools": (chat(tools=[TOOL] * 129), 400, "tools"),
    "choice of an unknown tool": (
        chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "b"}}), 400, "tool_choice",
    ),
    "choice of a number": (chat(tool_choice=5), 400, "tool_choice"),
    "no input": ((RESPONSES, {"model": MODEL}), 400, "input"),
    "input of a number": (response(input=5), 400, "input"),
    "input of nothing": (response(input=[]), 400, "input"),
    "empty input": (response(input=""), 400, "input[0].content"),
    "item of a text": (response(input=["Hi"]), 400, "input[0].type"),
    "unknown item": (response(input=[{"type": "item_reference", "id": "a"}]), 400, "input[0].type"),
    "item of no role": (response(input=[{"content": "Hi"}]), 400, "input[0].role"),
    "output without a call": (
        response(input=[{"type": "function_call_output", "call_id": "c", "output": "3"}]), 400, "input",
    ),
    "call without a name": (response(input=[{"type": "function_call", "call_id": "c"}]), 400, "input[0].name"),
    "no such response": (response(previous_response_id="resp_nobody_in1"), 400, "previous_response_id"),
    "response of no thread": (response(previous_response_id="resp_"), 400, "previous_response_id"),
    "response of another form": (response(previous_response_id="../x"), 400, "previous_response_id"),
    "response of no message": (response(previous_response_id="resp_talk_in1"), 400, "previous_response_id"),
    "background": (response(background=True), 400, "background"),
    "conversation": (response(conversation="c"), 400, "conversation"),
    "include": (response(include=["reasoning.encrypted_content"]), 400, "include"),
    "verbosity": (response(text={"verbosity": "low"}), 400, "text.verbosity"),
    "unknown format": (response(text={"format": {"type": "xml"}}), 400, "text.format"),
    "unknown reasoning": (response(reasoning={"effort": 5}), 400, "reasoning.effort"),
    "instructions of a list": (response(instructions=["a"]), 400, "instructions"),
    "tool of the host": (response(tools=[{"type": "code_interpreter"}]), 400, "tools[0].type"),
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server() as server, server.client() as client:
        client.talked(id="talk")
        yield client


def state(client: CheckedClient) -> Any:
    roots = client.server.call(lambda app: app.runtime.roots())
    return roots, json.dumps(client.server.call(lambda app: app.runtime.snapshot("talk")), default=str)


@pytest.mark.parametrize("name", CASES)
def test_bad_input_names_its_parameter_and_changes_nothing(client: CheckedClient, name: str) -> None:
    (path, body), status, parameter = CASES[name]
    before = state(client)
    answer = client.request("POST", path, body)

    assert (answer.status_code, answer.json()["error"]["param"]) == (status, parameter), answer.text
    assert answer.json()["error"]["message"]
    assert state(client) == before


@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"{", 400, "bad_json"),
        (b"\xff", 400, "bad_json"),
        (b'{"model": "a", "model": "b"}', 400, "bad_json"),
        (b'{"messages": ' + b"[" * 100 + b"]" * 100 + b"}", 400, "bad_json"),
        (b'"' + b"a" * 9_000_000 + b'"', 413, "too_large"),
    ],
)
def test_bytes_that_are_no_json_are_refused(client: CheckedClient, content: bytes, status: int, code: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client.http.post(CHAT, content=content, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
