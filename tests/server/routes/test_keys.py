"""`Idempotency-Key` on every route that changes a thread: a request that is repeated is taken once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.server.context import ServerContext
from antiphon.server.routes import threads
from antiphon.server.routes.threads import remember_deletion
from antiphon.server.settings import ServerSettings
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CONTRACTS, CheckedClient, live_server
from tests.server.routes.test_kinds import TOPIC, run_of, until_taken

KEY = {"Idempotency-Key": "k-1"}


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=lambda: App(":memory:")) as server, server.client() as client:
        yield client


def endless(folder: Path) -> str:
    return script(folder, {"steps": [{"text": "Waiting. "}, {"delay_ms": 600_000}]})


def steps(client: CheckedClient, thread: str) -> int:
    return int(client.server.call(lambda app: app.runtime.store.history(thread))[1])


def twice(client: CheckedClient, path: str, body: Any = None) -> tuple[Any, Any]:
    """The responses to a request and to its repetition, with the thread at rest between and after them."""
    thread = path.split("/")[2]
    first = client.post(path, body, headers=KEY)
    client.server.wait_until_idle(thread)
    before = steps(client, thread)
    second = client.post(path, body, headers=KEY)
    assert steps(client, thread) == before
    return first, second


def statuses(receipts: tuple[Any, Any]) -> list[str]:
    assert receipts[0]["cursor"] == receipts[1]["cursor"]
    return [receipt["status"] for receipt in receipts]


def test_a_thread_is_stopped_once(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.chat(model=endless(tmp_path))
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})

    assert statuses(twice(client, f"/threads/{thread}/stop")) == ["accepted", "duplicate"]


def test_a_late_repetition_stops_nothing(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.chat(model=endless(tmp_path))
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    client.post(f"/threads/{thread}/stop", headers=KEY)
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/messages", {"text": "Again"})

    assert client.post(f"/threads/{thread}/stop", headers=KEY)["status"] == "duplicate"
    assert client.get(f"/threads/{thread}")["status"] == "running"
    client.post(f"/threads/{thread}/stop", headers={"Idempotency-Key": "k-2"})
    assert client.server.wait_until_idle(thread) == "stopped"


def test_one_key_serves_different_actions(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.talked(model=script(tmp_path, {"steps": [{"text": "Hello."}]}))

    retried = client.post(f"/threads/{thread}/retry", headers=KEY)
    client.server.wait_until_idle(thread)
    archived = client.post(f"/threads/{thread}/archive", headers=KEY)
    assert (retried["status"], archived["archived"]) == ("accepted", True)


def test_what_failed_is_repeated_once(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.talked(model=script(tmp_path, {"steps": [{"text": "Hello."}]}))

    assert statuses(twice(client, f"/threads/{thread}/retry")) == ["accepted", "duplicate"]


def test_a_stopped_thread_is_resumed_once(client: CheckedClient, tmp_path: Path) -> None:
    slow = [{"text": "Waiting. "}, {"delay_ms": 300}, {"text": "Done."}]
    thread = client.chat(model=script(tmp_path, {"steps": slow}))
    client.post(f"/threads/{thread}/messages", {"text": "Hello"})
    client.post(f"/threads/{thread}/stop")
    client.server.wait_until_idle(thread)

    # It has completed when the repetition arrives, and there would be nothing to resume.
    assert statuses(twice(client, f"/threads/{thread}/resume")) == ["accepted", "duplicate"]


def test_a_debate_is_paused_resumed_and_judged_once(client: CheckedClient) -> None:
    body = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 9}
    debate = client.post("/threads", body)["id"]
    client.post(f"/threads/{debate}/start")
    client.post(f"/threads/{debate}/pause", headers=KEY)
    paused = client.post(f"/threads/{debate}/pause", headers=KEY)
    client.post(f"/threads/{debate}/resume", headers=KEY)
    resumed = client.post(f"/threads/{debate}/resume", headers=KEY)
    assert (paused["status"], resumed["status"]) == ("duplicate", "duplicate")

    client.server.call(lambda app: until_taken(app, debate, "JUDGE_NOW"))
    _, judged = twice(client, f"/threads/{debate}/judge")  # the debate is over when it is repeated
    assert judged["status"] == "completed"
    assert client.post(f"/threads/{debate}/pause", headers=KEY)["status"] == "duplicate"


def test_a_step_is_skipped_once(client: CheckedClient, tmp_path: Path) -> None:
    run = run_of(client, tmp_path)
    client.post(f"/threads/{run}/start", {"text": "Paint", "plan": {"steps": ["paint", "dry", "look"]}})
    client.server.wait_until_idle(run)
    client.post(f"/threads/{run}/skip", headers=KEY)
    client.server.wait_until_idle(run)
    client.post(f"/threads/{run}/skip", headers=KEY)

    plan = client.get(f"/threads/{run}/plan")["plan"]["steps"]
    assert [step["status"] for step in plan].count("skipped") == 1


def test_a_merge_is_begun_and_cancelled_or_confirmed_once(client: CheckedClient, tmp_path: Path) -> None:
    thread = client.talked(model=script(tmp_path, {"steps": [{"text": "Hello."}]}))
    client.post(f"/threads/{thread}/branches", {"name": "side"})
    client.post(f"/threads/{thread}/messages", {"text": "Aside"})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/perform", {"action": "switch", "payload": {"branch": "main"}})
    client.post(f"/threads/{thread}/merge", {"source": "side", "strategy": "manual"})
    twice(client, f"/threads/{thread}/merge/cancel")
    merge = client.post(f"/threads/{thread}/merge", {"source": "side", "strategy": "manual"})["content"]["merge"]
    for conflict in merge["conflicts"]:
        client.post(f"/threads/{thread}/merge/resolve", {"conflict": conflict["id"], "pick": "ours"})

    first, second = twice(client, f"/threads/{thread}/merge/confirm")
    assert first["content"]["branch"] == second["content"]["branch"] == "main"


def test_a_late_repetition_neither_archives_nor_renames(client: CheckedClient) -> None:
    thread = client.chat()
    client.post(f"/threads/{thread}/archive", headers=KEY)
    client.post(f"/threads/{thread}/unarchive", headers=KEY)
    assert not client.post(f"/threads/{thread}/archive", headers=KEY)["archived"]

    change = {"title": "First", "archived": True}
    changed = client.request("PATCH", f"/threads/{thread}", change, headers=KEY).json()
    assert (changed["title"], changed["archived"]) == ("First", True)
    client.request("PATCH", f"/threads/{thread}", {"title": "Second", "archived": False})
    late = client.request("PATCH", f"/threads/{thread}", change, headers=KEY).json()
    assert (late["title"], late["archived"]) == ("Second", False)


def test_a_fork_is_created_once(client: CheckedClient) -> None:
    thread = client.chat()
    first = client.request("POST", f"/threads/{thread}/fork", {}, headers=KEY)
    second = client.request("POST", f"/threads/{thread}/fork", {}, headers=KEY)
    other = client.post(f"/threads/{thread}/fork", {})["id"]

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"] != other


def test_a_thread_is_deleted_once_also_if_its_id_is_used_again(client: CheckedClient) -> None:
    client.chat(id="gone")
    assert client.request("DELETE", "/threads/gone", headers=KEY).status_code == 204
    client.chat(id="gone")

    assert client.request("DELETE", "/threads/gone", headers=KEY).status_code == 204
    assert client.get("/threads/gone")["status"] == "pending"
    assert client.problem("DELETE", "/threads/nobody", headers=KEY) == (404, "unknown_thread")


def test_the_keys_of_deletions_are_bounded() -> None:
    context = ServerContext(App(":memory:"), ServerSettings())
    for number in range(threads.MOST_DELETIONS + 5):
        remember_deletion(context, f"key:{number}")

    assert len(context.deletions) == threads.MOST_DELETIONS
    assert "key:4" not in context.deletions


@pytest.mark.parametrize("path", ["stop", "pause", "resume", "retry", "archive", "unarchive", "fork"])
def test_a_key_that_cannot_be_used_is_refused(client: CheckedClient, path: str) -> None:
    thread = client.chat()

    assert client.problem("POST", f"/threads/{thread}/{path}", {}, headers={"Idempotency-Key": "a b"})[1] in (
        "bad_header", "wrong_kind",
    )  # fmt: skip


def test_every_route_that_changes_a_thread_takes_a_key(client: CheckedClient) -> None:
    document = client.get("/openapi.json")["paths"]
    without = {
        f"{contract.method} {contract.path}"
        for contract in CONTRACTS
        if contract.path.startswith("/threads") and contract.method != "GET"
        and not any(
            each["name"] == "Idempotency-Key"
            for each in document[contract.path][contract.method.lower()].get("parameters", [])
        )
    }  # fmt: skip

    assert without == set()
