"""Bad input for the route of MCP: it is refused in the words of the protocol or as a problem, and changes nothing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.mcp_wire import ACCEPT, NEW, OLD, McpWire
from tests.fixtures.server import LiveServer, live_server

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
    CAPABILITIES: {},
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
SEND = {"name": "send_message", "arguments": {"text": "Hi", "thread": "talk"}}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": SEND}
MODERN = {"mcp-protocol-version": NEW, "mcp-method": "tools/call", "mcp-name": "send_message"}
MODERN_CALL = {**CALL, "params": {**SEND, "_meta": META}}
NO_SESSION = {"mcp-session-id": ""}


def raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


# The body, headers beside those of the session, and the statuses that may answer.
CASES: dict[str, tuple[Any, dict[str, str], tuple[int, ...]]] = {
    # not JSON, or not JSON that the server reads
    "no JSON": (raw("hello"), {}, (400,)),
    "half a message": (raw('{"jsonrpc": "2.0"'), {}, (400,)),
    "empty": (raw(""), {}, (400,)),
    "bytes": (raw(b'{"jsonrpc": "\xff"}'), {}, (400,)),
    "NUL": (raw('{"jsonrpc": "2.0", "id": 1, "method": "tools/list\\u0000"}'), {}, (400,)),
    "half a character": (raw('{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}'), {}, (400,)),
    "key twice": (raw('{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "tools/list"}'), {}, (400,)),
    "infinity": (raw('{"jsonrpc": "2.0", "id": Infinity, "method": "tools/list"}'), {}, (400,)),
    "deep": (raw("[" * 50_000 + "]" * 50_000), {}, (400,)),
    "long number": (raw('{"jsonrpc": "2.0", "id": ' + "9" * 5000 + ', "method": "ping"}'), {}, (400,)),
    # JSON that is no message
    "text": ("hello", {}, (400,)),
    "null": (raw("null"), {}, (400,)),
    "number": (5, {}, (400,)),
    "nothing in it": ({}, {}, (400,)),
    "batch": ([LIST, CALL], {}, (400,)),
    "empty batch": ([], {}, (400,)),
    "other version of JSON-RPC": ({**CALL, "jsonrpc": "1.0"}, {}, (400,)),
    "no version of JSON-RPC": ({"id": 1, "method": "tools/call", "params": SEND}, {}, (400,)),
    "method of a number": ({**CALL, "method": 5}, {}, (400,)),
    "no method": ({"jsonrpc": "2.0", "id": 1, "params": SEND}, {}, (400,)),
    "id of an object": ({**CALL, "id": {}}, {}, (422,)),
    "id of a list": ({**CALL, "id": [1]}, {}, (422,)),
    "id of half a number": ({**CALL, "id": 1.5}, {}, (422,)),
    "id of null": ({**CALL, "id": None}, {}, (422,)),
    "id of a truth": ({**CALL, "id": True}, {}, (422,)),
    "params of a list": ({**CALL, "params": [1]}, {}, (400,)),
    "response to nothing": ({"jsonrpc": "2.0", "id": 99, "result": {}}, {}, (202,)),
    "error for nothing": ({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}}, {}, (202,)),
    "cancelled nothing": (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 999}}, {}, (202,),
    ),
    "cancelled a list": (
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}}, {}, (202,),
    ),
    "unknown notification": ({"jsonrpc": "2.0", "method": "notifications/dance"}, {}, (202,)),
    # sessions
    "no session": (CALL, NO_SESSION, (400, 404)),
    "other session": (CALL, {"mcp-session-id": "0" * 32}, (404,)),
    "traversal as a session": (CALL, {"mcp-session-id": "../../etc/passwd"}, (404,)),
    "long session": (CALL, {"mcp-session-id": "a" * 10_000}, (404,)),
    "unknown version": (CALL, {"mcp-protocol-version": "1999-01-01"}, (400,)),
    "version of a word": (CALL, {"mcp-protocol-version": "latest"}, (400,)),
    # headers
    "accepts nothing": (CALL, {"accept": "text/html"}, (406,)),
    "accepts JSON only": (CALL, {"accept": "application/json"}, (406,)),
    "form": (raw("a=b"), {"content-type": "application/x-www-form-urlencoded"}, (415,)),
    "text as its type": (CALL, {"content-type": "text/plain"}, (415,)),
    "foreign origin": (CALL, {"origin": "https://evil.example"}, (403,)),
    "foreign site": (CALL, {"sec-fetch-site": "cross-site"}, (403,)),
    "foreign host": (CALL, {"host": "evil.example"}, (421,)),
    "wrong token": (CALL, {"authorization": "Bearer no"}, (401,)),
    "no token": (CALL, {"authorization": ""}, (401,)),
    "huge": (raw(b" " * 2_000_000), {}, (413,)),
    # messages of 2026
    "no envelope": (CALL, MODERN, (400,)),
    "other method in the header": (MODERN_CALL, {**MODERN, "mcp-method": "tools/list"}, (400,)),
    "other name in the header": (MODERN_CALL, {**MODERN, "mcp-name": "list_threads"}, (400,)),
    "batch of 2026": ([MODERN_CALL], MODERN, (400,)),
    "no JSON of 2026": (raw("hello"), MODERN, (400,)),
    "initialize of 2026": ({**MODERN_CALL, "method": "initialize"}, {**MODERN, "mcp-method": "initialize"}, (400, 404)),
    "capabilities of a number": (
        {**CALL, "params": {**SEND, "_meta": {**META, CAPABILITIES: 5}}}, MODERN, (400,),
    ),
    "unknown method of 2026": ({**MODERN_CALL, "method": "dance"}, {**MODERN, "mcp-method": "dance"}, (400, 404)),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server(most_body_bytes=1_000_000) as server:
        with server.client() as client:
            client.talked(id="talk")
        yield server


@pytest.fixture(scope="module")
def wire(server: LiveServer) -> Iterator[McpWire]:
    with McpWire(server) as wire:
        yield wire


def state(server: LiveServer) -> Any:
    return server.call(lambda app: app.runtime.roots())


def send(wire: McpWire, body: Any, headers: dict[str, str]) -> Any:
    """The response to a message; headers that are empty are left out."""
    own = {"content-type": "application/json", "accept": ACCEPT, **wire.headers()}
    merged = {name: value for name, value in {**own, **headers}.items() if value}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = wire.http.build_request("POST", "/mcp", content=content, headers=merged)
    for name, value in headers.items():
        if not value and name in request.headers:
            del request.headers[name]
    return wire.http.send(request)


@pytest.mark.parametrize("name", CASES)
def test_a_bad_message_is_refused_and_changes_nothing(wire: McpWire, name: str) -> None:
    body, headers, statuses = CASES[name]
    before = state(wire.server)
    response = send(wire, body, headers)

    assert response.status_code in statuses, (response.status_code, response.text)
    if response.status_code >= 400 and response.text:
        value = response.json()
        assert value.get("code") or value["error"]["message"]
    assert "Traceback" not in response.text
    assert state(wire.server) == before


# Requests of a session that are answered with an error of the protocol.
WRONG: dict[str, tuple[str, Any]] = {
    "unknown method": ("dance", {}),
    "tool of a number": ("tools/call", {"name": 5}),
    "no tool": ("tools/call", {}),
    "arguments of a list": ("tools/call", {"name": "list_threads", "arguments": [1]}),
    "cursor of a number": ("resources/list", {"cursor": 5}),
    "no uri": ("resources/read", {}),
    "uri of an object": ("resources/read", {"uri": {}}),
    "long uri": ("resources/read", {"uri": "antiphon://threads/" + "a" * 100_000}),
    "traversal": ("resources/read", {"uri": "antiphon://threads/../../etc/passwd"}),
    "prompts": ("prompts/list", {}),
}


# In the protocol of 2026 the name is in a header too.
NO_HEADER = {"tool of a number", "uri of an object", "long uri"}


@pytest.mark.parametrize(
    ("version", "name"), [*((OLD, name) for name in WRONG), *((NEW, name) for name in WRONG if name not in NO_HEADER)]
)
def test_a_wrong_request_has_an_error_and_changes_nothing(server: LiveServer, version: str, name: str) -> None:
    method, params = WRONG[name]
    before = state(server)
    with McpWire(server, version) as wire:
        response, _ = wire.exchange(method, params)

    assert response["error"]["code"] in (-32601, -32602, -32600)
    assert "Traceback" not in str(response)
    assert state(server) == before


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(wire: McpWire, method: str) -> None:
    response = wire.http.request(method, "/mcp", headers=wire.headers())

    assert (response.status_code, response.json()["code"]) == (405, "wrong_method")


def test_a_stream_needs_a_session(wire: McpWire) -> None:
    for headers in ({}, {"mcp-session-id": "nobody"}):
        response = wire.http.get("/mcp", headers={"accept": "text/event-stream", **headers})
        assert response.status_code in (400, 404)
    assert wire.http.delete("/mcp", headers={"mcp-session-id": "nobody"}).status_code == 404
    assert wire.http.get("/mcp", headers={**wire.headers(), "accept": "text/html"}).status_code == 406


@pytest.mark.parametrize("last", ["soon", "-1", "9" * 60, "99999", "\u00b2"])
def test_an_id_that_is_none_resumes_nothing(wire: McpWire, last: str) -> None:
    headers = {**wire.headers(), "accept": "text/event-stream", "last-event-id": last.encode("utf-8")}
    response = wire.http.get("/mcp", headers=headers)

    assert response.status_code == 200
    assert "data" not in response.text


def test_the_session_still_works(wire: McpWire) -> None:
    assert [row["id"] for row in wire.data("list_threads")["items"]] == ["talk"]
