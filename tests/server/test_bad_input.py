"""Bad input: each case has its status and its code, changes nothing, and is never an error of the server."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.server import CANARY, PATIENCE_S, CheckedClient, live_server

TOPIC = "Should a city close its centre to private cars?"
JSON = {"content-type": "application/json"}
M = "/threads/talk/messages"
NEW = "/threads"
CHAT: dict[str, Any] = {"kind": "chat", "model": "scripted:demo"}
DEBATE: dict[str, Any] = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"]}
MODEL = {"provider": "openai", "modelId": "m"}
RUN: dict[str, Any] = {"kind": "run", "model": "scripted:agents"}
MEDIA = "wrong_media_type"
SSE = {"accept": "text/event-stream"}
Case = tuple[str, str, Any, dict[str, str], int, str]


def raw(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


# Method, path, body (bytes as they are, anything else as JSON), headers, status, code.
CASES: dict[str, Case] = {
    # JSON that is none
    "no JSON": ("POST", M, raw("{text: 1}"), JSON, 400, "bad_json"),
    "cut JSON": ("POST", M, raw('{"text": "a'), JSON, 400, "bad_json"),
    "two values": ("POST", M, raw("{} {}"), JSON, 400, "bad_json"),
    "NaN": ("POST", "/threads/talk/limits", raw('{"maxCostUsd": NaN}'), JSON, 400, "bad_json"),
    "Infinity": ("POST", "/threads/talk/limits", raw('{"maxCostUsd": -Infinity}'), JSON, 400, "bad_json"),
    "huge float": ("POST", "/threads/talk/limits", raw('{"maxCostUsd": 1e999}'), JSON, 400, "bad_json"),
    "huge integer": ("POST", "/threads/talk/fork", raw('{"step": ' + "9" * 5000 + "}"), JSON, 400, "bad_json"),
    "key twice": ("POST", M, raw('{"text": "a", "text": "b"}'), JSON, 400, "bad_json"),
    "key twice inside": ("POST", M, raw('{"parts": [{"type": "text", "type": "x"}]}'), JSON, 400, "bad_json"),
    "too deep": ("POST", M, raw('{"text": ' + "[" * 100 + "]" * 100 + "}"), JSON, 400, "bad_json"),
    "far too deep": ("POST", M, raw("[" * 200_000), JSON, 400, "bad_json"),
    "deep objects": ("POST", M, raw('{"a":' * 5000 + "1" + "}" * 5000), JSON, 400, "bad_json"),
    "invalid UTF-8": ("POST", M, raw(b'{"text": "\xff\xfe"}'), JSON, 400, "bad_json"),
    "UTF-16": ("POST", M, '{"text": "a"}'.encode("utf-16"), JSON, 400, "bad_json"),
    "byte order mark": ("POST", M, raw(b'\xef\xbb\xbf{"text": "a"}'), JSON, 400, "bad_json"),
    "NUL escaped": ("POST", M, raw(r'{"text": "a\u0000b"}'), JSON, 400, "bad_json"),
    "NUL itself": ("POST", M, raw(b'{"text": "a\x00b"}'), JSON, 400, "bad_json"),
    "NUL in a key": ("POST", M, raw(r'{"te\u0000xt": "a"}'), JSON, 400, "bad_json"),
    "half a character": ("POST", M, raw(r'{"text": "\ud83d"}'), JSON, 400, "bad_json"),
    "line break in a text": ("POST", M, raw('{"text": "a\nb"}'), JSON, 400, "bad_json"),
    # media types and sizes
    "a form": ("POST", M, raw("text=a"), {"content-type": "application/x-www-form-urlencoded"}, 415, MEDIA),
    "plain text": ("POST", M, raw('{"text": "a"}'), {"content-type": "text/plain"}, 415, MEDIA),
    "no media type": ("POST", M, raw('{"text": "a"}'), {}, 415, MEDIA),
    "another charset": ("POST", M, raw("{}"), {"content-type": "application/json; charset=utf-16"}, 415, MEDIA),
    "multipart": ("POST", M, raw("--x--"), {"content-type": "multipart/form-data; boundary=x"}, 415, MEDIA),
    "too large": ("POST", M, raw('{"text": "' + "a" * 1_100_000 + '"}'), JSON, 413, "too_large"),
    # bodies of another type
    "a list": ("POST", M, [], {}, 422, "bad_body"),
    "a text": ("POST", M, "hello", {}, 422, "bad_body"),
    "null": ("POST", M, raw("null"), JSON, 422, "bad_body"),
    "nothing to say": ("POST", M, {}, {}, 422, "bad_body"),
    "text and parts": ("POST", M, {"text": "a", "parts": []}, {}, 422, "bad_body"),
    "text of a number": ("POST", M, {"text": 1}, {}, 422, "bad_body"),
    "text of null": ("POST", M, {"text": None}, {}, 422, "bad_body"),
    "parts of a text": ("POST", M, {"parts": "a"}, {}, 422, "bad_body"),
    "parts of texts": ("POST", M, {"parts": ["a"]}, {}, 422, "bad_body"),
    "part of no type": ("POST", M, {"parts": [{"text": "a"}]}, {}, 409, "refused"),
    "part of another type": ("POST", M, {"parts": [{"type": "exec", "text": "a"}]}, {}, 409, "refused"),
    "unknown field": ("POST", M, {"text": "a", "role": "system"}, {}, 422, "bad_body"),
    "forged prototype": ("POST", M, {"text": "a", "__proto__": {}}, {}, 422, "bad_body"),
    "unknown onBusy": ("POST", M, {"text": "a", "onBusy": "shout"}, {}, 422, "bad_body"),
    "no kind": ("POST", NEW, {"model": "scripted:demo"}, {}, 422, "bad_body"),
    "unknown kind": ("POST", NEW, {"kind": "thread"}, {}, 422, "bad_body"),
    "kind of a list": ("POST", NEW, {"kind": ["chat"]}, {}, 422, "bad_body"),
    "unknown setting": ("POST", NEW, {**CHAT, "modle": "x"}, {}, 422, "bad_body"),
    "setting of another kind": ("POST", NEW, {**CHAT, "topic": TOPIC}, {}, 422, "bad_body"),
    "wrong setting": ("POST", NEW, {**CHAT, "maxTurns": "many"}, {}, 422, "bad_body"),
    "true for a number": ("POST", NEW, {**CHAT, "maxBranches": True}, {}, 422, "bad_body"),
    "negative branches": ("POST", NEW, {**CHAT, "maxBranches": -1}, {}, 422, "bad_settings"),
    "negative limit": ("POST", NEW, {**CHAT, "maxCostUsd": -1}, {}, 422, "bad_settings"),
    "limit of zero": ("POST", NEW, {**CHAT, "contextLimit": 0}, {}, 422, "bad_settings"),
    "history of nothing": ("POST", NEW, {**CHAT, "history": {"messages": 7}}, {}, 422, "bad_settings"),
    "wrong consent": ("POST", NEW, {**CHAT, "consent": {"mode": "always"}}, {}, 422, "bad_body"),
    "long title": ("POST", NEW, {**CHAT, "title": "a" * 501}, {}, 422, "bad_body"),
    "title of a number": ("PATCH", "/threads/talk", {"title": 5}, {}, 422, "bad_body"),
    "archived of a text": ("PATCH", "/threads/talk", {"archived": "yes"}, {}, 422, "bad_body"),
    "patched status": ("PATCH", "/threads/talk", {"status": "completed"}, {}, 422, "bad_body"),
    "patched owner": ("PATCH", "/threads/talk", {"owner": "me"}, {}, 422, "bad_body"),
    "id with a path": ("POST", NEW, {**CHAT, "id": "../../etc/passwd"}, {}, 422, "bad_settings"),
    "id of nothing": ("POST", NEW, {**CHAT, "id": ""}, {}, 422, "bad_settings"),
    "id of a word of commands": ("POST", NEW, {**CHAT, "id": "last"}, {}, 422, "bad_settings"),
    "id that is taken": ("POST", NEW, {**CHAT, "id": "talk"}, {}, 409, "exists"),
    "no model of that name": ("POST", NEW, {**CHAT, "model": "scripted:nothing"}, {}, 422, "unusable_model"),
    "no provider": ("POST", NEW, {**CHAT, "model": "nothing"}, {}, 422, "unusable_model"),
    "address with a password": ("POST", NEW, {**CHAT, "model": "openai+http://a:b@c/v1:m"}, {}, 422, "unusable_model"),
    "short topic": ("POST", NEW, {**DEBATE, "topic": "short"}, {}, 422, "bad_settings"),
    "no debaters": ("POST", NEW, {"kind": "debate", "topic": TOPIC}, {}, 422, "bad_settings"),
    "a key in the settings": (
        "POST", NEW,
        {**DEBATE, "participants": [{"id": "a", "position": "pro", "model": {**MODEL, "apiKey": "k"}}]},
        {}, 422, "bad_settings",
    ),
    "agents of nothing": ("POST", NEW, {**RUN, "agents": []}, {}, 422, "bad_settings"),
    "agent without a prompt": ("POST", NEW, {"kind": "run", "agents": [{"name": "a"}]}, {}, 422, "bad_settings"),
    "agent with a wrong rule": (
        "POST", NEW,
        {"kind": "run", "agents": [{"name": "a", "whenToUse": "b", "systemPrompt": "c", "transitions": 7}]},
        {}, 422, "bad_settings",
    ),
    "plan of nothing": ("POST", NEW, {**RUN, "plan": {"steps": 7}}, {}, 422, "bad_settings"),
    "workspace of a client": ("POST", NEW, {"kind": "run", "workspace": "/"}, {}, 403, "not_allowed"),
    # addresses
    "no route": ("GET", "/nothing", None, {}, 404, "unknown_route"),
    "no thread": ("GET", "/threads/nobody", None, {}, 404, "unknown_thread"),
    "no thread to stop": ("POST", "/threads/nobody/stop", None, {}, 404, "unknown_thread"),
    "no thread to follow": ("GET", "/threads/nobody/events", None, SSE, 404, "unknown_thread"),
    "no thread to delete": ("DELETE", "/threads/nobody", None, {}, 404, "unknown_thread"),
    "no actor": ("GET", "/actors/nobody", None, {}, 404, "unknown_actor"),
    "no actor to send to": ("POST", "/actors/nobody/events", {"event": {"type": "STOP"}}, {}, 404, "unknown_actor"),
    "traversal": ("GET", "/threads/..%2f..%2fetc%2fpasswd", None, {}, 404, "unknown_route"),
    "traversal of dots": ("GET", "/threads/%2e%2e", None, {}, 404, "unknown_thread"),
    "NUL in an id": ("GET", "/threads/a%00b", None, {}, 404, "unknown_thread"),
    "bytes in an id": ("GET", "/threads/%ff%fe", None, {}, 404, "unknown_thread"),
    "long id": ("GET", "/threads/" + "a" * 300, None, {}, 422, "bad_query"),
    "slash at the end": ("GET", "/threads/", None, {}, 404, "unknown_route"),
    "wrong method": ("PUT", "/threads", {}, {}, 405, "wrong_method"),
    "wrong method of a stream": ("POST", "/events", {}, {}, 405, "wrong_method"),
    "TRACE": ("TRACE", "/threads", None, {}, 405, "wrong_method"),
    "OPTIONS": ("OPTIONS", "/threads", None, {}, 405, "wrong_method"),
    # parameters and cursors
    "limit of zero items": ("GET", "/threads?limit=0", None, {}, 422, "bad_query"),
    "negative limit of items": ("GET", "/threads?limit=-1", None, {}, 422, "bad_query"),
    "many items": ("GET", "/threads?limit=100000", None, {}, 422, "bad_query"),
    "limit of a word": ("GET", "/threads?limit=ten", None, {}, 422, "bad_query"),
    "kind of a word": ("GET", "/threads?kind=poem", None, {}, 422, "bad_query"),
    "format of a word": ("GET", "/threads/talk/export?format=pdf", None, {}, 422, "bad_query"),
    "no cursor of a list": ("GET", "/threads?after=yesterday", None, {}, 400, "bad_cursor"),
    "negative cursor of a list": ("GET", "/threads?after=-5:x", None, {}, 400, "bad_cursor"),
    "huge cursor of a list": ("GET", "/threads?after=" + "9" * 100 + ":x", None, {}, 400, "bad_cursor"),
    "no cursor of a search": ("GET", "/threads?words=a&after=b", None, {}, 400, "bad_cursor"),
    "no cursor": ("GET", "/threads/talk/events?after=soon", None, {}, 400, "bad_cursor"),
    "negative cursor": ("GET", "/threads/talk/events?after=-1", None, {}, 400, "bad_cursor"),
    "huge cursor": ("GET", "/threads/talk/events?after=abc:" + "9" * 60, None, {}, 400, "bad_cursor"),
    "foreign cursor": ("GET", "/threads/talk/events?after=abc:3", None, {}, 409, "other_history"),
    "no last id": ("GET", "/threads/talk/events", None, {**SSE, "last-event-id": "soon"}, 400, "bad_cursor"),
    "no cursors of many": ("GET", "/events?threads=talk@soon", None, SSE, 400, "bad_cursor"),
    "cursor of no thread": ("GET", "/events?threads=@a:1", None, SSE, 400, "bad_cursor"),
    "too many threads": ("GET", "/events?threads=" + ",".join(map(str, range(65))), None, SSE, 422, "bad_query"),
    "negative step": ("GET", "/actors/talk/snapshot?step=-1", None, {}, 422, "bad_query"),
    "step of the future": ("GET", "/actors/talk/snapshot?step=99999", None, {}, 404, "unknown_step"),
    "negative fork": ("POST", "/threads/talk/fork", {"step": -1}, {}, 409, "refused"),
    "fork of the future": ("POST", "/actors/talk/fork", {"step": 99999}, {}, 404, "unknown_step"),
    "fork of half a step": ("POST", "/threads/talk/fork", {"step": 1.5}, {}, 422, "bad_body"),
    # events that may not come from outside
    "internal event": ("POST", "/actors/talk/events", {"event": {"type": "COMPLETE"}}, {}, 422, "bad_event"),
    "event of the engine": ("POST", "/actors/talk/events", {"event": {"type": "xstate.init"}}, {}, 422, "bad_event"),
    "event of the runtime": ("POST", "/actors/talk/events", {"event": {"type": "antiphon.x"}}, {}, 422, "bad_event"),
    "event without a type": ("POST", "/actors/talk/events", {"event": {}}, {}, 422, "bad_event"),
    "type of a number": ("POST", "/actors/talk/events", {"event": {"type": 5}}, {}, 422, "bad_event"),
    "unknown event": ("POST", "/actors/talk/events", {"event": {"type": "DANCE"}}, {}, 422, "bad_event"),
    "field too many": ("POST", "/actors/talk/events", {"event": {"type": "STOP", "x": 1}}, {}, 422, "bad_event"),
    "forged reply": (
        "POST", "/actors/talk/events",
        {"event": {"type": "REPLY.COMPLETED", "requestId": "r1", "message": {}}, "to": "chat"}, {}, 422, "bad_event",
    ),
    "no such address": ("POST", "/actors/talk/events", {"event": {"type": "STOP"}, "to": "a/b"}, {}, 409, "refused"),
    "unknown action": ("POST", "/threads/talk/perform", {"action": "dance"}, {}, 409, "refused"),
    "internal action": ("POST", "/threads/talk/perform", {"action": "REPLY.FAILED"}, {}, 409, "refused"),
    "action of the engine": ("POST", "/threads/talk/perform", {"action": "xstate.stop"}, {}, 422, "bad_event"),
    "forged type": ("POST", "/threads/talk/perform", {"action": "stop", "payload": {"type": "x"}}, {}, 422, "bad_body"),
    "no such branch": (
        "POST", "/threads/talk/perform", {"action": "switch", "payload": {"branch": "x"}}, {}, 409, "refused",
    ),
    "rewind too far": ("POST", "/threads/talk/rewind", {"turns": 99}, {}, 409, "refused"),
    "no such checkpoint": ("POST", "/threads/talk/rewind", {"checkpointId": "x"}, {}, 409, "refused"),
    "nothing to merge": ("POST", "/threads/talk/merge", {"source": "x"}, {}, 409, "refused"),
    "no merge to confirm": ("POST", "/threads/talk/merge/confirm", None, {}, 409, "refused"),
    "no request to answer": (
        "POST", "/threads/talk/respond", {"requestId": "x", "text": "y"}, {}, 409, "unknown_request",
    ),
    "no permission to take back": (
        "POST", "/threads/talk/revoke", {"permission": "x"}, {}, 409, "unknown_permission",
    ),
    "no name of a permission": ("POST", "/threads/talk/revoke", {}, {}, 422, "bad_body"),
    "answer to nothing": ("POST", "/threads/talk/respond", {"text": "y"}, {}, 422, "bad_body"),
    "limit of another kind": ("POST", "/threads/talk/limits", {"costLimit": 5}, {}, 422, "bad_body"),
    "no limits": ("POST", "/threads/talk/limits", {}, {}, 422, "bad_body"),
    "action of a run": ("POST", "/threads/talk/skip", None, {}, 409, "wrong_kind"),
    # administration
    "no page of the audit log": ("GET", "/audit?limit=0", None, {}, 422, "bad_query"),
    "many lines of the audit log": ("GET", "/audit?limit=100000", None, {}, 422, "bad_query"),
    "number of a word": ("GET", "/audit?before=yesterday", None, {}, 422, "bad_query"),
    "negative number": ("GET", "/audit?before=-1", None, {}, 422, "bad_query"),
    "huge number": ("GET", "/audit?before=" + "9" * 40, None, {}, 422, "bad_query"),
    "forged line": ("POST", "/audit", {"user": "x"}, {}, 405, "wrong_method"),
    "backup by a link": ("GET", "/backup", None, {}, 405, "wrong_method"),
    "backup of memory": ("POST", "/backup", None, {}, 403, "not_allowed"),
    "backup from a page": ("POST", "/backup", None, {"origin": "https://evil.example"}, 403, "foreign_origin"),
    # headers
    "empty key": ("POST", M, {"text": "a"}, {"idempotency-key": ""}, 400, "bad_header"),
    "long key": ("POST", M, {"text": "a"}, {"idempotency-key": "a" * 129}, 400, "bad_header"),
    "key with spaces": ("POST", M, {"text": "a"}, {"idempotency-key": "a b"}, 400, "bad_header"),
    "body of a GET": ("GET", "/threads", raw("{}"), JSON, 400, "bad_header"),
    "another form": ("GET", "/threads/talk/events", None, {"accept": "text/html"}, 406, "not_acceptable"),
    "foreign origin": ("POST", M, {"text": "a"}, {"origin": "https://evil.example"}, 403, "foreign_origin"),
    "foreign site": ("DELETE", "/threads/talk", None, {"sec-fetch-site": "cross-site"}, 403, "foreign_origin"),
    "foreign host": ("POST", M, {"text": "a"}, {"host": "evil.example"}, 421, "wrong_host"),
    "wrong token": ("POST", M, {"text": "a"}, {"authorization": "Bearer no"}, 401, "unauthenticated"),
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(most_body_bytes=65_536 * 16) as server, server.client() as client:
        client.talked(id="talk")
        yield client


def state(client: CheckedClient) -> Any:
    """All trees with their steps, and the state of a thread."""
    roots = client.server.call(lambda app: app.runtime.roots())
    return roots, json.dumps(client.server.call(lambda app: app.runtime.snapshot("talk")), default=str)


def test_there_are_more_than_eighty_cases() -> None:
    assert len(CASES) + len(RAW) >= 80


@pytest.mark.parametrize("name", CASES)
@pytest.mark.requirement("X-13")
def test_bad_input_has_its_problem_and_changes_nothing(client: CheckedClient, name: str) -> None:
    method, path, body, headers, status, code = CASES[name]
    before = state(client)
    content = {"content": body, "headers": headers} if isinstance(body, bytes) else {"headers": headers}
    response = client.request(method, path, None if isinstance(body, bytes) else body, **content)

    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert response.json()["detail"]
    assert state(client) == before


HEAD = f"Host: localhost\r\nAuthorization: Bearer {CANARY}\r\n"
CHUNKS = "Transfer-Encoding: chunked\r\n"
POST = f"POST /threads HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\n"
# Bytes on the wire, and the statuses that may answer them; 0 is a connection that is closed without an answer.
RAW: dict[str, tuple[bytes, tuple[int, ...]]] = {
    "no HTTP": (b"hello\r\n\r\n", (400,)),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 40 + b"\r\n\r\n", (400, 0)),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 0, 404, 421)),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", (400,)),
    "two hosts": (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", (400,)),
    "injected header": (f"GET /threads HTTP/1.1\r\n{HEAD}X: a\rb\r\n\r\n".encode(), (400,)),
    "NUL in a header": (f"GET /threads HTTP/1.1\r\n{HEAD}X: a\x00b\r\n\r\n".encode(), (400,)),
    "long header": (f"GET /threads HTTP/1.1\r\n{HEAD}X: {'a' * 200_000}\r\n\r\n".encode(), (400, 0)),
    "many headers": (f"GET /threads HTTP/1.1\r\n{HEAD}{'X: a' + chr(13) + chr(10)}".encode() * 9000, (400, 0)),
    "two lengths": (f"{POST}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}".encode(), (400,)),
    "length and chunks": (f"{POST}Content-Length: 2\r\n{CHUNKS}\r\n0\r\n\r\n".encode(), (400,)),
    "address of another host": (f"GET http://evil.example/threads HTTP/1.1\r\n{HEAD}\r\n".encode(), (421,)),
    "address with a name": (f"GET http://ann@localhost/threads HTTP/1.1\r\n{HEAD}\r\n".encode(), (400,)),
    "address without a host": (f"GET http:///threads HTTP/1.1\r\n{HEAD}\r\n".encode(), (400,)),
    "address of another protocol": (f"GET ftp://localhost/threads HTTP/1.1\r\n{HEAD}\r\n".encode(), (404,)),
    "negative length": (f"{POST}Content-Length: -1\r\n\r\n".encode(), (400,)),
    "wrong chunk": (f"{POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode(), (400, 0)),
    "huge length": (f"{POST}Content-Length: 99999999999\r\n\r\n".encode(), (413,)),
    "two tokens": (f"GET /threads HTTP/1.1\r\n{HEAD}Authorization: Bearer x\r\n\r\n".encode(), (400,)),
    "WebSocket": (
        f"GET /events HTTP/1.1\r\n{HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: YQ==\r\n"
        "Accept: text/html\r\nSec-WebSocket-Version: 13\r\n\r\n".encode(),
        (406,),
    ),
    "half a body, then closed": (f"{POST}Content-Length: 50\r\n\r\n{{".encode(), (0,)),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_bad_bytes_are_refused_and_change_nothing(client: CheckedClient, name: str) -> None:
    sent, statuses = RAW[name]
    before = state(client)
    with socket.create_connection(("127.0.0.1", client.server.port), PATIENCE_S) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            answer = connection.makefile("rb").readline()
        except OSError:  # it was closed while the rest was sent
            answer = b""

    status = int(answer.split()[1]) if answer else 0
    assert status in statuses, answer
    assert state(client) == before
    assert client.get("/healthz") == {"status": "ok"}
