"""Threads without the key of their model: they wait, say which key is missing, and continue when a window gives it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.testing.fake_llm import FakeLLM
from tests.fixtures.server import CheckedClient, LiveServer, live_server

CANARY_KEY = "sk-canary-0123456789abcdefghij"
KEYS = {"keys": {"ANTHROPIC_API_KEY": CANARY_KEY, "MISTRAL_API_KEY": CANARY_KEY}}
MODEL = "anthropic:fake-text"
PAINTER = {"name": "painter", "whenToUse": "always", "systemPrompt": "Paint."}
RUN = {"kind": "run", "model": MODEL, "agents": [PAINTER], "arbiter": {"kind": "rules"}}
DEBATE = {
    "kind": "debate",
    "topic": "Is water wet?",
    "models": ["mistral:fake-text"],
    "judge": {"model": "scripted:debate"},
    "maxRounds": 1,
}


@pytest.fixture
def urls() -> Iterator[dict[str, str]]:
    with BackgroundLoop() as background, OpenOnLoop(background, FakeLLM()) as fake:
        yield {name: fake.base_url(name) for name in ("anthropic", "mistral")}


@contextmanager
def serving(folder: Path, urls: dict[str, str], mode: Any = "local") -> Iterator[LiveServer]:
    with live_server(folder / "s.db", socket=folder / "s.sock", base_urls=urls, mode=mode) as server:
        yield server


def give_keys(window: CheckedClient, keys: dict[str, Any] = KEYS) -> None:
    assert window.request("PUT", "/local/keys", keys).status_code == 204


def create(server: LiveServer, body: dict[str, Any]) -> str:
    """Create a thread in a window that has the key."""
    with server.window("first") as window:
        give_keys(window)
        return str(window.post("/threads", body)["id"])


def forsaken_chat(server: LiveServer) -> str:
    """Return a chat with a question that waits for a key."""
    thread = create(server, {"kind": "chat", "model": MODEL})
    server.local.windows.forget(thread)  # as after a restart
    with server.window("second") as window:
        window.post(f"/threads/{thread}/messages", {"text": "Hello"})
    assert server.wait_until_idle(thread) == "waiting"
    return thread


def test_a_thread_without_its_key_waits_and_says_which_key_is_missing(short_folder: Path, urls: dict[str, str]) -> None:
    with serving(short_folder, urls) as server, server.window("second") as window:
        thread = forsaken_chat(server)

        (request,) = window.get(f"/threads/{thread}")["requests"]

    assert request["reason"] == "provider_error"
    assert "ANTHROPIC_API_KEY" in request["text"]
    assert f"antiphon chat --thread {thread}" in request["text"]


def test_it_continues_by_itself_when_a_window_gives_the_key(short_folder: Path, urls: dict[str, str]) -> None:
    with serving(short_folder, urls) as server, server.window("third") as window:
        thread = forsaken_chat(server)
        give_keys(window, {"keys": {"OPENAI_API_KEY": CANARY_KEY}})
        assert window.get(f"/threads/{thread}")["status"] == "waiting"

        give_keys(window)

        assert server.wait_until_idle(thread) == "completed"
        assert window.get(f"/threads/{thread}")["requests"] == []


def test_it_waits_also_after_a_restart_and_nothing_of_the_key_is_stored(
    short_folder: Path, urls: dict[str, str]
) -> None:
    with serving(short_folder, urls) as server:
        thread = forsaken_chat(server)
    with serving(short_folder, urls) as server, server.window() as window:
        before = window.get(f"/threads/{thread}")["status"]
        give_keys(window)
        after = server.wait_until_idle(thread)

    assert (before, after) == ("waiting", "completed")
    stored = b"".join(path.read_bytes() for path in short_folder.iterdir() if path.is_file())
    assert CANARY_KEY.encode() not in stored


@pytest.mark.parametrize("answer", ["retry", "respond"])
def test_a_window_with_the_key_continues_it_by_an_answer(short_folder: Path, urls: dict[str, str], answer: str) -> None:
    with serving(short_folder, urls, "serve") as server, server.window("third") as window:
        thread = forsaken_chat(server)
        server.local.windows.forget(thread)
        give_keys(window)
        assert window.get(f"/threads/{thread}")["status"] == "waiting"
        no = {"requestId": "wait-1", "decision": "deny"}
        assert window.problem("POST", f"/threads/{thread}/respond", no) == (409, "refused")

        window.post(f"/threads/{thread}/{answer}", {"requestId": "wait-1"} if answer == "respond" else {})

        assert server.wait_until_idle(thread) == "completed"


def test_an_answer_without_the_key_leaves_it_waiting(short_folder: Path, urls: dict[str, str]) -> None:
    with serving(short_folder, urls) as server, server.window("keyless") as window:
        thread = forsaken_chat(server)
        window.post(f"/threads/{thread}/respond", {"requestId": "wait-1"})

        assert server.wait_until_idle(thread) == "waiting"
        assert [request["id"] for request in window.get(f"/threads/{thread}")["requests"]] == ["wait-2"]


@pytest.mark.parametrize("body", [RUN, DEBATE], ids=["run", "debate"])
def test_runs_and_debates_wait_and_continue_where_they_were(
    short_folder: Path, urls: dict[str, str], body: dict[str, Any]
) -> None:
    with serving(short_folder, urls) as server, server.window("third") as window:
        thread = create(server, body)
        server.local.windows.forget(thread)
        window.post(f"/threads/{thread}/start", {"text": "Paint it."} if body is RUN else {})
        assert server.wait_until_idle(thread) == "waiting"
        assert "_API_KEY" in window.get(f"/threads/{thread}")["requests"][0]["text"]

        give_keys(window)

        assert server.wait_until_idle(thread) == "completed"


def test_a_client_over_tcp_does_not_use_the_keys_of_a_window(short_folder: Path, urls: dict[str, str]) -> None:
    with (
        serving(short_folder, urls, "serve") as server,
        server.window("first") as window,
        server.client() as client,
    ):
        thread = create(server, {"kind": "chat", "model": MODEL})
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})
        assert server.wait_until_idle(thread) == "waiting"
        give_keys(window)
        assert client.get(f"/threads/{thread}")["status"] == "waiting"

        window.post(f"/threads/{thread}/retry")

        assert server.wait_until_idle(thread) == "completed"


def test_stopping_over_tcp_leaves_the_keys_to_the_thread(short_folder: Path, urls: dict[str, str]) -> None:
    with serving(short_folder, urls, "serve") as server, server.client() as client:
        thread = create(server, {"kind": "chat", "model": MODEL})
        client.post(f"/threads/{thread}/archive")

        assert server.local.windows.has_joined(thread)
