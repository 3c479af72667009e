"""Bad input for the facades: each case has its problem, and the state of the store is as before."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixtures.facades import agui_body, question, vercel_body
from tests.fixtures.server import CheckedClient, live_server

A = "/agui"
V = "/vercel/chat"
SCRIPTED = {"model": "scripted:demo"}


def agui(thread: str = "talk", *messages: Any, **more: Any) -> dict[str, Any]:
    return {**agui_body(thread), "messages": list(messages), **more}


def user(content: Any = "hi", id: Any = "q") -> dict[str, Any]:
    return {"id": id, "role": "user", "content": content}


def resume(**entry: Any) -> dict[str, Any]:
    return agui(resume=[{"interruptId": "r1", "status": "resolved", "payload": "x", **entry}])


def without(body: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in keys}


def approval(id: str = "r9/call", **more: Any) -> dict[str, Any]:
    part = {"type": "dynamic-tool", "state": "approval-responded", "approval": {"id": id, "approved": True, **more}}
    return {"id": "m1", "role": "assistant", "parts": [part]}


def parts(*items: Any) -> dict[str, Any]:
    return {"id": "u", "role": "user", "parts": list(items)}


# A path, a body, the status and the code.
CASES: dict[str, tuple[str, Any, int, str]] = {
    "AG-UI: nothing": (A, {}, 422, "bad_body"),
    "AG-UI: a list": (A, [], 422, "bad_body"),
    "AG-UI: no thread": (A, without(agui(), "threadId"), 422, "bad_body"),
    "AG-UI: no run": (A, without(agui(), "runId"), 422, "bad_body"),
    "AG-UI: thread of a number": (A, agui(5), 422, "bad_body"),  # type: ignore[arg-type]
    "AG-UI: messages of a text": (A, {**agui(), "messages": "hi"}, 422, "bad_body"),
    "AG-UI: message of a text": (A, agui("talk", "hi"), 422, "bad_body"),
    "AG-UI: unknown field": (A, agui(role="admin"), 422, "bad_body"),
    "AG-UI: message without an id": (A, agui("talk", without(user(), "id")), 422, "bad_body"),
    "AG-UI: id of a number": (A, agui("talk", user(id=7)), 422, "bad_body"),
    "AG-UI: empty id": (A, agui("talk", user(id="")), 422, "bad_body"),
    "AG-UI: long id": (A, agui("talk", user(id="a" * 201)), 422, "bad_body"),
    "AG-UI: id with a line break": (A, agui("talk", user(id="a\nb")), 422, "bad_body"),
    "AG-UI: no content": (A, agui("talk", without(user(), "content")), 422, "bad_body"),
    "AG-UI: empty content": (A, agui("talk", user("")), 422, "bad_body"),
    "AG-UI: content of a number": (A, agui("talk", user(5)), 422, "bad_body"),
    "AG-UI: part of a text": (A, agui("talk", user(["hi"])), 422, "bad_body"),
    "AG-UI: part of another type": (A, agui("talk", user([{"type": "exec", "text": "x"}])), 422, "bad_body"),
    "AG-UI: image by address": (
        A, agui("talk", user([{"type": "image", "source": {"type": "url", "value": "http://a/b"}}])), 422, "bad_body",
    ),
    "AG-UI: image that is none": (
        A,
        agui("talk", user([{"type": "image", "source": {"type": "data", "value": "eA==", "mimeType": "text/html"}}])),
        422, "bad_body",
    ),
    "AG-UI: no such thread to follow": (A, agui("nobody"), 404, "unknown_thread"),
    "AG-UI: no such thread to answer": (
        A, agui("nobody", user(), resume=[{"interruptId": "r", "status": "cancelled"}]), 404, "unknown_thread",
    ),
    "AG-UI: id with a path": (A, agui("../../etc/passwd", user(), forwardedProps=SCRIPTED), 422, "bad_settings"),
    "AG-UI: id of nothing": (A, agui("", user(), forwardedProps=SCRIPTED), 422, "bad_settings"),
    "AG-UI: id of a word of commands": (A, agui("last", user(), forwardedProps=SCRIPTED), 422, "bad_settings"),
    "AG-UI: settings of a text": (A, agui("new", user(), forwardedProps="x"), 422, "bad_body"),
    "AG-UI: unknown setting": (A, agui("new", user(), forwardedProps={"modle": "x"}), 422, "bad_body"),
    "AG-UI: unknown kind": (A, agui("new", user(), forwardedProps={"kind": "poem"}), 422, "bad_body"),
    "AG-UI: owner": (A, agui("new", user(), forwardedProps={"owner": "me"}), 422, "bad_body"),
    "AG-UI: another id": (A, agui("new", user(), forwardedProps={"id": "other"}), 422, "bad_body"),
    "AG-UI: workspace": (A, agui("new", user(), forwardedProps={"kind": "run", "workspace": "/"}), 422, "bad_body"),
    "AG-UI: no such model": (
        A, agui("new", user(), forwardedProps={"model": "scripted:nothing"}), 422, "unusable_model",
    ),
    "AG-UI: no such tool": (A, agui("new", user(), forwardedProps={"tools": ["shell"]}), 403, "not_allowed"),
    "AG-UI: short topic": (A, agui("new", user(), forwardedProps={"kind": "debate"}), 422, "bad_settings"),
    "AG-UI: answer to nothing": (A, resume(), 409, "unknown_request"),
    "AG-UI: answer without an id": (A, agui(resume=[{"status": "resolved"}]), 422, "bad_body"),
    "AG-UI: answer of another status": (A, resume(status="maybe"), 422, "bad_body"),
    "AG-UI: answer of a number": (A, resume(payload=5), 422, "bad_body"),
    "AG-UI: answer with an unknown field": (A, resume(payload={"outside": True}), 422, "bad_body"),
    "AG-UI: answer of another type": (A, resume(payload={"approved": "yes"}), 422, "bad_body"),
    "AG-UI: two answers to one": (A, agui(resume=[*resume()["resume"], *resume()["resume"]]), 422, "bad_body"),
    "Vercel: nothing": (V, {}, 422, "bad_body"),
    "Vercel: no id": (V, without(vercel_body("talk", question("a")), "id"), 422, "bad_body"),
    "Vercel: no trigger": (V, without(vercel_body("talk", question("a")), "trigger"), 422, "bad_body"),
    "Vercel: unknown trigger": (V, vercel_body("talk", question("a"), trigger="shout"), 422, "bad_body"),
    "Vercel: unknown field": (V, vercel_body("talk", question("a"), system="x"), 422, "bad_body"),
    "Vercel: no messages": (V, vercel_body("talk"), 422, "bad_body"),
    "Vercel: message without an id": (V, vercel_body("talk", without(question("a"), "id")), 422, "bad_body"),
    "Vercel: id with a space": (V, vercel_body("talk", question("a", "b c")), 422, "bad_body"),
    "Vercel: message without parts": (V, vercel_body("talk", without(question("a"), "parts")), 422, "bad_body"),
    "Vercel: no parts": (V, vercel_body("talk", parts()), 422, "bad_body"),
    "Vercel: part of a number": (V, vercel_body("talk", parts(5)), 422, "bad_body"),
    "Vercel: text of a number": (V, vercel_body("talk", parts({"type": "text", "text": 5})), 422, "bad_body"),
    "Vercel: file by address": (
        V, vercel_body("talk", parts({"type": "file", "mediaType": "image/png", "url": "http://a/b"})), 422, "bad_body",
    ),
    "Vercel: file of the host": (
        V, vercel_body("talk", parts({"type": "file", "mediaType": "image/png", "url": "file:///etc/passwd"})),
        422, "bad_body",
    ),
    "Vercel: last message of the assistant": (
        V, vercel_body("talk", {"id": "m1", "role": "assistant", "parts": []}), 422, "bad_body",
    ),
    "Vercel: last message of nobody": (V, vercel_body("talk", {"id": "m1"}), 422, "bad_body"),
    "Vercel: approval of nothing": (V, vercel_body("talk", approval()), 409, "unknown_request"),
    "Vercel: approval without a request": (V, vercel_body("talk", approval("x")), 409, "unknown_request"),
    "Vercel: approval of a text": (V, vercel_body("talk", approval(approved="yes")), 422, "bad_body"),
    "Vercel: answer to nothing": (
        V, vercel_body("talk", {"id": "m1"}, answer={"requestId": "x", "text": "y"}), 409, "unknown_request",
    ),
    "Vercel: answer of another type": (V, vercel_body("talk", {"id": "m1"}, answer={"requestId": 5}), 422, "bad_body"),
    "Vercel: no such thread to repeat": (
        V, vercel_body("nobody", question("a"), trigger="regenerate-message"), 404, "unknown_thread",
    ),
    "Vercel: no such message to repeat": (
        V, vercel_body("talk", question("a", "no"), trigger="regenerate-message"), 409, "refused",
    ),
    "Vercel: id with a path": (V, vercel_body("../x", question("a"), thread=SCRIPTED), 422, "bad_settings"),
    "Vercel: wrong settings": (V, vercel_body("new", question("a"), thread={"maxTurns": "many"}), 422, "bad_body"),
    "Vercel: no such model": (
        V, vercel_body("new", question("a"), thread={"model": "scripted:nothing"}), 422, "unusable_model",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server() as server, server.client() as client:
        client.talked(id="talk")
        yield client


def state(client: CheckedClient) -> Any:
    """All trees with their steps, and the state of a thread."""
    roots = client.server.call(lambda app: app.runtime.roots())
    return roots, json.dumps(client.server.call(lambda app: app.runtime.snapshot("talk")), default=str)


@pytest.mark.parametrize("name", CASES)
def test_bad_input_has_its_problem_and_changes_nothing(client: CheckedClient, name: str) -> None:
    path, body, status, code = CASES[name]
    before = state(client)
    response = client.request("POST", path, body)

    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert response.json()["detail"]
    assert state(client) == before


@pytest.mark.parametrize("path", [A, V])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"authorization": "Bearer no"}, 401),
        ({"origin": "https://evil.example"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "evil.example"}, 421),
        ({"content-type": "text/plain"}, 415),
    ],
)
def test_the_rules_of_the_server_hold(client: CheckedClient, path: str, headers: dict[str, str], status: int) -> None:
    before = state(client)
    body = agui("talk", user()) if path == A else vercel_body("talk", question("a"))

    assert client.request("POST", path, body, headers=headers).status_code == status
    assert state(client) == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", A, 405), ("PUT", V, 405), ("POST", f"{V}/talk/stream", 405), ("GET", f"{V}/{'a' * 300}/stream", 422)],
)
def test_other_methods_and_addresses_are_refused(client: CheckedClient, method: str, path: str, status: int) -> None:
    assert client.request(method, path).status_code == status
