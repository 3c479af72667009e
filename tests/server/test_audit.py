"""The audit log: changes and refused attempts, in files of bounded size, without secrets."""

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.server.audit import AuditEvent, AuditLog, read_audit
from antiphon.server.limits import REFUSALS_PER_MINUTE
from antiphon.server.tokens import TokenFile
from tests.fixtures.mcp_wire import McpWire
from tests.fixtures.server import CheckedClient, LiveServer, live_server

CHAT = {"kind": "chat", "model": "scripted:demo"}


def event(request: str) -> AuditEvent:
    return AuditEvent(1, request, "ann", "ann", "127.0.0.1", "POST", "/threads", None, 201)


def client_of(server: LiveServer, folder: Path, name: str, **facts: Any) -> CheckedClient:
    _, token = TokenFile(folder).add(name, **{"user": name, "scope": "write", "expires": None, "now": 1, **facts})
    return CheckedClient(server, {"authorization": f"Bearer {token}"})


def rows(folder: Path) -> list[tuple[Any, ...]]:
    """User, token, method, route, thread, status and code of the events, the oldest first."""
    keys = ("user", "token", "method", "route", "thread", "status", "code")
    return [tuple(each[key] for key in keys) for each in reversed(list(read_audit(folder)))]


def test_changes_are_written_with_user_token_route_thread_and_status(tmp_path: Path) -> None:
    with live_server(folder=tmp_path) as server, client_of(server, tmp_path, "ci", user="ann") as ann:
        response = ann.request("POST", "/threads", CHAT)
        thread = response.json()["id"]
        ann.get(f"/threads/{thread}")
        ann.problem("POST", f"/threads/{thread}/skip", {})
        with server.client() as operator:
            operator.request("DELETE", f"/threads/{thread}")
        first = next(each for each in read_audit(tmp_path) if each["n"] == 1)

    assert rows(tmp_path) == [
        ("ann", "ci", "POST", "/threads", thread, 201, None),
        ("ann", "ci", "POST", "/threads/{id}/skip", thread, 409, "wrong_kind"),
        ("", "operator", "DELETE", "/threads/{id}", thread, 204, None),
    ]
    assert first["request"] == response.headers["x-request-id"]
    assert (tmp_path / "audit.jsonl").stat().st_mode & 0o777 == 0o600


SAID = {"id": "m", "role": "user", "content": "Hello", "parts": [{"type": "text", "text": "Hello"}]}
BY_PROTOCOL: dict[str, Any] = {
    "/v1/chat/completions": {"model": "scripted:demo", "messages": [{"role": "user", "content": "Hello"}]},
    "/v1/responses": {"model": "scripted:demo", "input": "Hello"},
    "/agui": {"threadId": "t", "runId": "r", "messages": [SAID], "forwardedProps": {"model": "scripted:demo"}},
    "/vercel/chat": {
        "id": "t",
        "trigger": "submit-message",
        "messages": [SAID],
        "thread": {"model": "scripted:demo"},
    },
}


@pytest.mark.parametrize("path", BY_PROTOCOL)
def test_a_change_by_another_protocol_names_its_thread(tmp_path: Path, path: str) -> None:
    with live_server(folder=tmp_path) as server, client_of(server, tmp_path, "ann") as ann:
        assert ann.http.post(path, json=BY_PROTOCOL[path]).status_code == 200
        (thread,) = [row["id"] for row in ann.get("/threads")["items"]]

    assert rows(tmp_path) == [("ann", "ann", "POST", path, thread, 200, None)]


def test_refused_attempts_are_written(tmp_path: Path) -> None:
    with live_server(folder=tmp_path) as server:
        with server.client() as operator:
            foreign = operator.chat()
        with client_of(server, tmp_path, "ann", scope="read") as ann:
            ann.problem("GET", f"/threads/{foreign}")
            ann.problem("GET", "/threads/unknown")
            ann.problem("POST", "/threads", CHAT)
        httpx2.get(f"{server.address}/threads", headers={"authorization": "Bearer wrong"})

    assert rows(tmp_path)[1:] == [
        ("ann", "ann", "GET", "/threads/{id}", foreign, 404, "unknown_thread"),
        ("ann", "ann", "POST", "/threads", None, 403, "insufficient_scope"),
        ("", None, "GET", "none", None, 401, "unauthenticated"),
    ]


def test_a_flood_of_refused_attempts_does_not_replace_the_log(tmp_path: Path) -> None:
    with live_server(folder=tmp_path) as server:
        with server.client() as operator:
            operator.chat()
        with httpx2.Client(base_url=server.address) as client:
            for _ in range(80):
                client.get("/threads")

    assert len(rows(tmp_path)) <= 1 + 60 + 5


def test_a_flood_of_changes_over_the_limit_does_not_replace_the_log(tmp_path: Path) -> None:
    settings = {"token_requests_per_minute": 1, "folder": tmp_path}
    with live_server(**settings) as server, client_of(server, tmp_path, "ann") as ann:
        ann.post("/threads", CHAT)
        for _ in range(REFUSALS_PER_MINUTE + 40):
            ann.http.post("/threads", json=CHAT)

    statuses = [row[5] for row in rows(tmp_path)]
    assert statuses[0] == 201
    assert statuses.count(429) < REFUSALS_PER_MINUTE + 20


def test_full_files_are_replaced_and_the_numbers_continue(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, 600, 3)
    for number in range(1, 31):
        log.write(event(str(number)))
    log.close()
    again = AuditLog(tmp_path, 600, 3)
    again.write(event("31"))
    again.close()
    numbers = [each["n"] for each in read_audit(tmp_path)]

    assert numbers == list(range(31, 31 - len(numbers), -1))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    assert all(path.stat().st_size <= 600 for path in tmp_path.iterdir())
    assert next(each["n"] for each in read_audit(tmp_path, before=30)) == 29


def test_a_line_that_was_cut_is_skipped(tmp_path: Path) -> None:
    log = AuditLog(tmp_path, 10_000, 2)
    log.write(event("a"))
    log.close()
    path = tmp_path / "audit.jsonl"
    path.write_bytes(path.read_bytes() + b'{"n": 2, "at"')
    log.write(event("b"))
    log.close()

    assert [(each["n"], each["request"]) for each in read_audit(tmp_path)] == [(2, "b"), (1, "a")]


def test_a_disk_that_refuses_is_no_error_of_the_request(tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").mkdir()
    log = AuditLog(tmp_path, 10_000, 2)

    log.write(event("a"))
    assert json.dumps([path.name for path in tmp_path.iterdir()]) == '["audit.jsonl"]'


def test_calls_over_mcp_are_written_with_their_thread(tmp_path: Path) -> None:
    arguments = {"text": "Hello", "model": "scripted:demo", "waitSeconds": 0}
    with live_server(folder=tmp_path) as server, McpWire(server) as wire:
        created = wire.result("tools/call", {"name": "send_message", "arguments": arguments})
        thread = created["structuredContent"]["thread"]
        wire.result("tools/call", {"name": "stop_thread", "arguments": {"thread": thread}})
        server.wait_until_idle(thread)

    assert [row[4] for row in rows(tmp_path) if row[3] == "/mcp"][-2:] == [thread, thread]
