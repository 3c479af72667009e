"""Requests are spans with their route, and hold neither tokens nor texts."""

from typing import Any

import httpx2
import pytest
from opentelemetry.trace import SpanKind

from antiphon.server.tokens import session_of
from tests.fixtures.mcp_wire import McpWire
from tests.fixtures.server import CANARY, live_server
from tests.fixtures.telemetry import Recorder, recorder

SECRET = "the-message-is-secret"


@pytest.fixture
def recorded() -> Recorder:
    result = recorder()
    result.clear()
    return result


def requests(recorded: Recorder) -> list[tuple[str, dict[str, Any]]]:
    """The spans of requests; all are there when the server has ended."""
    spans = [span for span in recorded.spans if span.kind is SpanKind.SERVER]
    return [(span.name, dict(span.attributes or {})) for span in spans]


def test_a_request_is_a_span_with_the_template_of_its_route(recorded: Recorder) -> None:
    with live_server() as server, server.client() as client:
        thread = client.chat()
        response = client.request("GET", f"/threads/{thread}")

    _, (name, attributes) = requests(recorded)
    assert name == "GET /threads/{id}"
    assert attributes == {
        "http.request.method": "GET",
        "http.route": "/threads/{id}",
        "http.response.status_code": 200,
        "antiphon.request.id": response.headers["x-request-id"],
    }


def test_a_request_that_reaches_no_route_has_no_text_of_its_client(recorded: Recorder) -> None:
    with live_server() as server, server.client() as client:
        client.http.get(f"/{SECRET}?token={CANARY}")
        client.http.request(SECRET.upper(), f"/{SECRET}")

    first, second = requests(recorded)
    assert (first[0], first[1]["http.response.status_code"]) == ("GET", 404)
    assert (second[0], second[1]["http.request.method"]) == ("_OTHER", "_OTHER")
    assert SECRET not in recorded.text().lower()


def test_no_secret_and_no_word_is_in_what_a_server_records(recorded: Recorder) -> None:
    with live_server() as server, server.client() as client:
        client.talked(SECRET)
        client.get("/threads", params={"q": SECRET})
        client.http.get(f"/?token={CANARY}")
        client.http.cookies.clear()
        httpx2.get(f"{server.address}/threads", headers={"authorization": f"Bearer {CANARY}x"})
        client.problem("POST", "/threads", {"kind": SECRET})
        with McpWire(server) as wire:
            wire.exchange("tools/call", {"name": SECRET, "arguments": {"text": SECRET}})

    names = {span.name for span in recorded.spans}
    text = recorded.text()
    assert {"POST /threads", "POST /threads/{id}/messages", "GET /threads", "POST /mcp"} <= names
    assert any(name.startswith("chat ") for name in names)
    assert [secret for secret in (CANARY, session_of(CANARY), SECRET) if secret in text] == []
