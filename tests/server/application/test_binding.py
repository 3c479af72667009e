"""Requests of windows that are answered without FastAPI get what FastAPI would answer."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from starlette.requests import Request

from antiphon.server.application.binding import NotOrdinary, read_call
from antiphon.server.parameters import Depends, Header, Query
from tests.fixtures.server import CheckedClient, live_server

FIRST_QUESTION = """
from pathlib import Path
import sys
from tests.fixtures.server import live_server
folder = Path(sys.argv[1])
with live_server(folder / "s.db", socket=folder / "s.sock", mode="local") as server:
    with server.window() as window:
        window.get("/local")
        thread = window.talked()
        window.get(f"/threads/{thread}/events", headers={"accept": "application/json"})
        print("fastapi" in sys.modules)
        window.get("/models")
        print("fastapi" in sys.modules)
"""


def test_a_first_question_does_not_load_fastapi_and_another_route_does(short_folder: Path) -> None:
    command = [sys.executable, "-c", FIRST_QUESTION, str(short_folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.split() == ["False", "True"]


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[CheckedClient, CheckedClient]]:
    """A window of a server without FastAPI, and of one with it."""
    folder = tmp_path_factory.mktemp("s")
    with (
        live_server(folder / "a.db", socket=folder / "a.sock", mode="local") as direct,
        live_server(folder / "b.db", socket=folder / "b.sock", mode="serve") as full,
        direct.window() as window,
        full.window() as other,
    ):
        yield window, other


CHAT = {"kind": "chat", "model": "scripted:demo", "id": "chat"}
JSON = {"accept": "application/json"}
REQUESTS: list[tuple[str, str, Any, dict[str, str]]] = [
    ("POST", "/threads", CHAT, {}),
    ("POST", "/threads", CHAT, {}),
    ("POST", "/threads", {"kind": "chat", "unknown": 1}, {}),
    ("POST", "/threads", {"kind": "none"}, {}),
    ("GET", "/threads/chat", None, {}),
    ("GET", "/threads/chat?content=false", None, {}),
    ("GET", "/threads/chat?content=no", None, {}),
    ("GET", "/threads/chat?content=perhaps", None, {}),
    ("GET", "/threads/chat?content=true&content=false", None, {}),
    ("GET", "/threads/nobody", None, {}),
    ("GET", f"/threads/{'x' * 201}", None, {}),
    ("GET", "/threads/a%2Fb", None, {}),
    ("GET", "/threads/chat/", None, {}),
    ("GET", "/threads?limit=2", None, {}),
    ("GET", "/threads?limit=0", None, {}),
    ("GET", "/threads?limit=1001", None, {}),
    ("GET", "/threads?limit=+1", None, {}),
    ("GET", "/threads?limit=1.0", None, {}),
    ("GET", "/threads?limit=", None, {}),
    ("GET", "/threads?kind=chat", None, {}),
    ("GET", "/threads?kind=poem", None, {}),
    ("GET", "/threads?archived=maybe", None, {}),
    ("GET", "/threads/chat/export?format=json", None, {}),
    ("GET", "/threads/chat/export?format=exe", None, {}),
    ("GET", "/threads/chat/events?after=wrong", None, JSON),
    ("GET", "/threads/chat/events", None, {"accept": "image/png"}),
    ("GET", "/threads/chat/events", None, {"accept": "x" * 1001}),
    ("GET", "/threads/chat/events?until=dawn", None, JSON),
    ("POST", "/threads/chat/stop", {}, {"idempotency-key": "with space"}),
    ("POST", "/threads/chat/stop", {}, {"idempotency-key": "key"}),
    ("POST", "/threads/chat/respond", {"requestId": "none", "text": "yes"}, {}),
    ("POST", "/threads/chat/messages", {"text": 1}, {}),
    ("PUT", "/local/keys", {"keys": {"OTHER": "x"}}, {}),
    ("PUT", "/threads/chat", {}, {}),
    ("HEAD", "/threads/chat", None, {}),
    ("GET", "/nothing", None, {}),
    ("DELETE", "/threads/chat", None, {}),
    ("DELETE", "/threads/chat", None, {}),
]
CHANGING = ("cursor", "listCursor", "next", "updated", "requestId")


def strip(value: Any) -> Any:
    """A reply without what differs between two servers: times and histories."""
    if isinstance(value, dict):
        return {name: strip(each) for name, each in value.items() if name not in CHANGING}
    return [strip(each) for each in value] if isinstance(value, list) else value


def answer(client: CheckedClient, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, str, Any]:
    response = client.http.request(method, path, headers=headers, **({} if body is None else {"json": body}))
    is_json = "json" in response.headers.get("content-type", "") and response.content
    return response.status_code, response.headers.get("content-type", ""), strip(response.json() if is_json else None)


def test_the_answers_are_those_of_fastapi(windows: tuple[CheckedClient, CheckedClient]) -> None:
    direct, full = windows
    for request in REQUESTS:
        assert answer(direct, *request) == answer(full, *request), request[:2]


async def find_name(name: str = "nobody") -> str:
    return name.upper()


async def endpoint(
    request: Request,
    name: Annotated[str, Depends(find_name)],
    limit: Annotated[int | None, Query(ge=1, le=9)] = None,
    is_new: bool = False,
    kind: Literal["a", "b"] | None = None,
    text: Annotated[str, Query(max_length=3, alias="t")] = "",
    x_note: Annotated[str, Header(max_length=5)] = "none",
) -> list[Any]:
    return [name, limit, is_new, kind, text, x_note]


def request_of(query: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Request:
    return Request({"type": "http", "query_string": query.encode(), "headers": list(headers), "path_params": {}})


def test_arguments_are_read_by_their_types_and_names() -> None:
    call = read_call(endpoint, request_of("name=ann&limit=9&is_new=true&kind=b&t=abc", ((b"x-note", b"hi"),)))

    assert asyncio.run(call.run()) == ["ANN", 9, True, "b", "abc", "hi"]
    assert asyncio.run(read_call(endpoint, request_of("")).run()) == ["NOBODY", None, False, None, "", "none"]


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=10", "limit=x", "is_new=1", "kind=c", "t=abcd", "t=a&t=b", "limit=" + "1" * 400]
)
def test_values_that_are_not_of_their_types_are_left_to_fastapi(query: str) -> None:
    with pytest.raises(NotOrdinary):
        read_call(endpoint, request_of(query))
