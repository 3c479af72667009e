"""The routes of threads: create, list, search, open, rename, archive, delete, fork, export."""

from collections.abc import Iterator

import pytest

from tests.fixtures.server import CheckedClient, live_server


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server() as server, server.client() as client:
        yield client


def test_a_thread_is_created_and_opened(client: CheckedClient) -> None:
    created = client.post("/threads", {"kind": "chat", "model": "scripted:demo", "title": "Tea", "owner": "ann"})
    opened = client.get(f"/threads/{created['id']}")

    assert created == opened
    assert (opened["kind"], opened["status"], opened["title"], opened["owner"]) == ("chat", "pending", "Tea", "ann")
    assert "START" in opened["can"][""]


def test_a_thread_that_is_created_twice_with_one_key_is_one(client: CheckedClient) -> None:
    body = {"kind": "chat", "model": "scripted:demo"}
    first = client.request("POST", "/threads", body, headers={"Idempotency-Key": "make-tea"})
    second = client.request("POST", "/threads", body, headers={"Idempotency-Key": "make-tea"})

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    other = {"kind": "debate", "topic": "Should cars leave our city?", "models": ["scripted:debate"]}
    assert client.problem("POST", "/threads", other, headers={"Idempotency-Key": "make-tea"}) == (409, "key_reused")


def test_a_taken_id_is_refused(client: CheckedClient) -> None:
    client.chat(id="taken")

    body = {"kind": "chat", "model": "scripted:demo", "id": "taken"}
    assert client.problem("POST", "/threads", body) == (409, "exists")


def test_lists_have_pages_and_filters(client: CheckedClient) -> None:
    threads = [client.chat(owner="pages") for _ in range(5)]
    pages = [client.get("/threads?owner=pages&limit=2")]
    while pages[-1]["next"]:
        pages.append(client.get("/threads", params={"owner": "pages", "limit": 2, "after": pages[-1]["next"]}))

    assert [len(page["items"]) for page in pages] == [2, 2, 1]
    assert {row["id"] for page in pages for row in page["items"]} == {*threads}
    assert client.get("/threads?owner=pages&kind=run")["items"] == []
    assert client.get("/threads?owner=pages&status=running")["items"] == []


def test_a_search_finds_the_line_of_a_message(client: CheckedClient) -> None:
    thread = client.talked("Which gooseberry?")

    (row,) = client.get("/threads?words=gooseb")["items"]
    assert (row["id"], row["line"]) == (thread, "Which gooseberry?")


def test_a_thread_is_renamed_and_archived(client: CheckedClient) -> None:
    thread = client.chat(owner="shelf")
    changed = client.request("PATCH", f"/threads/{thread}", {"title": "New", "archived": True}).json()

    assert (changed["title"], changed["archived"]) == ("New", True)
    assert client.get("/threads?owner=shelf")["items"] == []
    assert len(client.get("/threads?owner=shelf&archived=true")["items"]) == 1
    assert client.post(f"/threads/{thread}/unarchive")["archived"] is False
    assert client.post(f"/threads/{thread}/archive")["archived"] is True
    assert client.post(f"/threads/{thread}/archive")["archived"] is True
    assert len(client.get("/threads?owner=shelf&all=true")["items"]) == 1


def test_a_deleted_thread_is_gone(client: CheckedClient) -> None:
    thread = client.talked()

    assert client.request("DELETE", f"/threads/{thread}").status_code == 204
    assert client.problem("GET", f"/threads/{thread}") == (404, "unknown_thread")
    assert client.problem("DELETE", f"/threads/{thread}") == (404, "unknown_thread")


def test_a_fork_continues_from_a_step(client: CheckedClient) -> None:
    thread = client.talked()
    fork = client.post(f"/threads/{thread}/fork")
    early = client.post(f"/threads/{thread}/fork", {"step": 1})

    assert len(fork["content"]["messages"]) == 2
    assert early["content"]["messages"] == {}
    assert client.problem("POST", f"/threads/{thread}/fork", {"step": 10_000}) == (409, "refused")


@pytest.mark.parametrize(("format", "start"), [("md", "# "), ("html", "<!doctype html>"), ("json", "{")])
def test_a_thread_is_exported(client: CheckedClient, format: str, start: str) -> None:
    thread = client.talked()
    response = client.http.get(f"/threads/{thread}/export?format={format}")

    assert response.text.lower().startswith(start)
    assert response.headers["content-disposition"] == f'attachment; filename="thread.{format}"'
    assert "sandbox" in response.headers["content-security-policy"]


def test_usage_has_the_cost_and_the_figures_of_the_kind(client: CheckedClient) -> None:
    usage = client.get(f"/threads/{client.talked()}/usage")

    assert usage["costUsd"] == 0.0
    assert usage["figures"]["metrics"]["outputTokens"] > 0
