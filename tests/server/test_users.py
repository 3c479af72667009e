"""Users of a server: tokens with scopes and expiry, and threads that only their owners see."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.app import App
from antiphon.chart.machine import create_machine
from antiphon.server.authentication import OPERATOR, Authentication
from antiphon.server.contracts import Contract
from antiphon.server.routes.web import ADDRESSES
from antiphon.server.settings import ServerSettings
from antiphon.server.tokens import SCOPES, Scope, TokenFile
from tests.fixtures.server import CONTRACTS, PATIENCE_S, CheckedClient, LiveServer, frames, live_server

CHAT = {"kind": "chat", "model": "scripted:demo"}
SSE = {"accept": "text/event-stream"}
FAR_MS = 2**50
# Bodies that their routes accept, so that the outcome depends on the thread alone.
BODIES: dict[str, Any] = {
    "PATCH /threads/{id}": {"title": "x"},
    "POST /threads/{id}/start": {"text": "x"},
    "POST /threads/{id}/messages": {"text": "x"},
    "POST /threads/{id}/respond": {"requestId": "r", "text": "x"},
    "POST /threads/{id}/revoke": {"permission": "p"},
    "POST /threads/{id}/perform": {"action": "stop"},
    "POST /threads/{id}/limits": {"maxCostUsd": 1},
    "POST /threads/{id}/agent": {"name": "x"},
    "POST /threads/{id}/interject": {"text": "x"},
    "POST /actors/{root}/events": {"event": {"type": "STOP"}},
}
WITH_ID = [each for each in CONTRACTS if "{id}" in each.path or "{root}" in each.path]
# The page of the web app is the same at all its addresses; it asks for threads by the other routes.
PAGES = [each for each in WITH_ID if each.media_types == ("text/html",)]
WITH_THREAD = [each for each in WITH_ID if not each.path.startswith("/charts") and each not in PAGES]


def name_of(contract: Contract) -> str:
    return f"{contract.method} {contract.path}"


class People:
    """A server with the users ann and bob, each with a thread."""

    def __init__(self, server: LiveServer, folder: Path) -> None:
        self.server = server
        self.tokens = TokenFile(folder)
        self.secrets: dict[str, str] = {}
        for name in ("ann", "bob"):
            self.add(name)
        with self.client("ann") as client:
            self.thread = client.talked("Which gooseberry?")
        with self.client("bob") as client:
            self.foreign = client.talked("Which gooseberry is bitter?")

    def add(self, name: str, user: str = "", scope: Scope = "write", expires: int | None = None) -> str:
        _, token = self.tokens.add(name, user=user or name, scope=scope, expires=expires, now=1)
        self.secrets[name] = token
        return token

    def client(self, name: str) -> CheckedClient:
        return CheckedClient(self.server, {"authorization": f"Bearer {self.secrets[name]}"})


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    folder = tmp_path_factory.mktemp("users") / "server"
    with live_server(folder=folder, token_check_s=0.02, token_requests_per_minute=100_000) as server:
        yield People(server, folder)


@pytest.fixture
def ann(people: People) -> Iterator[CheckedClient]:
    with people.client("ann") as client:
        yield client


@pytest.fixture
def bob(people: People) -> Iterator[CheckedClient]:
    with people.client("bob") as client:
        yield client


def answer(client: CheckedClient, contract: Contract, id: str) -> tuple[int, Any, list[str]]:
    """Status, body and headers of an answer about a thread, without its name and the id of the request."""
    path = contract.path.replace("{id}", id).replace("{root}", id)
    response = client.request(contract.method, path, BODIES.get(name_of(contract)))
    body = response.text.replace(id, "ID")
    is_page = response.headers.get("content-type", "").startswith("text/html")
    return (
        response.status_code,
        body if is_page else json.loads(body or "null"),
        sorted(name for name in response.headers if name != "date"),
    )


# Nothing is running under a name that a client chooses; the routes of windows are not for TCP; the page of the web app
# is the same at each address.
STATUSES = {
    "GET /vercel/chat/{id}/stream": 204,
    "PUT /local/threads/{id}": 403,
    **dict.fromkeys((f"GET {address}" for address in ADDRESSES), 200),
}


@pytest.mark.parametrize("contract", WITH_THREAD, ids=name_of)
def test_a_thread_of_another_user_is_like_an_unknown_one(
    people: People, ann: CheckedClient, contract: Contract
) -> None:
    before = people.server.call(lambda app: app.runtime.roots())
    unknown = answer(ann, contract, "0" * len(people.foreign))

    assert answer(ann, contract, people.foreign) == unknown
    assert unknown[0] == STATUSES.get(name_of(contract), 404)
    assert people.server.call(lambda app: app.runtime.roots()) == before


@pytest.mark.parametrize("contract", PAGES, ids=name_of)
def test_the_page_at_the_address_of_a_thread_says_nothing_about_it(
    people: People, ann: CheckedClient, contract: Contract
) -> None:
    pages = [ann.request("GET", contract.path.replace("{id}", id)) for id in (people.thread, people.foreign, "nothing")]

    assert [page.status_code for page in pages] == [200, 200, 200]
    assert len({page.text for page in pages}) == 1


def test_charts_of_machines_that_are_no_threads_are_the_operators(tmp_path: Path) -> None:
    lamp = create_machine({"id": "lamp", "initial": "off", "states": {"off": {}}})
    with live_server(app=lambda: App(":memory:", machines=[lamp]), folder=tmp_path) as server:
        people = People(server, tmp_path)
        with people.client("ann") as ann, server.client() as operator:
            own = {row["id"] for row in ann.get("/charts")["items"]}
            all_charts = {row["id"] for row in operator.get("/charts")["items"]}

            assert all_charts - own == {"lamp"}
            assert ann.problem("GET", "/charts/lamp") == (404, "unknown_chart")
            assert "lamp" not in ann.request("GET", "/charts/lamps").json()["detail"].replace("lamps", "")


@pytest.mark.parametrize("body", [{"text": 5}, {"text": "a", "x": 1}])
def test_a_wrong_body_does_not_tell_that_a_foreign_thread_exists(
    people: People, ann: CheckedClient, body: object
) -> None:
    for id in (people.foreign, "unknown"):
        assert ann.problem("POST", f"/threads/{id}/messages", body) == (404, "unknown_thread")


def test_a_user_sees_the_own_thread_and_the_operator_sees_all(people: People, ann: CheckedClient) -> None:
    assert ann.get(f"/threads/{people.thread}")["owner"] == "ann"
    with people.server.client() as operator:
        assert operator.get(f"/threads/{people.foreign}")["owner"] == "bob"
        owners = {row["owner"] for row in operator.get("/threads?limit=1000")["items"]}
    assert {"ann", "bob"} <= owners


def test_lists_searches_and_trees_have_own_threads_only(people: People, ann: CheckedClient) -> None:
    assert {row["owner"] for row in ann.get("/threads?all=true&limit=1000")["items"]} == {"ann"}
    assert {row["id"] for row in ann.get("/threads?words=gooseb")["items"]} == {people.thread}
    assert ann.get("/threads?words=bitter")["items"] == []
    ids = [row["id"] for row in ann.get("/actors?limit=1000")["items"]]
    assert people.thread in ids
    assert people.foreign not in ids


def test_pages_of_own_trees_and_of_a_search_continue(ann: CheckedClient, bob: CheckedClient) -> None:
    for number in range(3):
        ann.talked(f"quince {number}")
        bob.talked(f"quince {number}")
    ids = []
    page = ann.get("/actors?limit=2")
    while page["items"]:
        ids += [row["id"] for row in page["items"]]
        page = ann.get("/actors", params={"limit": 2, "after": page["next"] or "~"})
    first = ann.get("/threads?words=quince&limit=2")
    second = ann.get("/threads", params={"words": "quince", "limit": 2, "after": first["next"]})

    assert ids == sorted({*ids})
    assert {*ids} == {row["id"] for row in ann.get("/threads?all=true&limit=1000")["items"]}
    assert [row["owner"] for row in (*first["items"], *second["items"])] == ["ann"] * 3


def test_the_owner_is_that_of_the_token(people: People, ann: CheckedClient) -> None:
    assert ann.post("/threads", {**CHAT, "owner": "ann"})["owner"] == "ann"
    assert ann.problem("POST", "/threads", {**CHAT, "owner": "bob"}) == (403, "not_allowed")
    assert ann.problem("POST", "/threads", {**CHAT, "owner": ""}) == (403, "not_allowed")
    assert ann.problem("GET", "/threads?owner=bob") == (403, "not_allowed")
    assert ann.post(f"/threads/{people.thread}/fork")["owner"] == "ann"


def test_ids_cannot_be_guessed_and_are_not_chosen_by_users(people: People, ann: CheckedClient) -> None:
    taken = people.foreign
    ids = [
        ann.chat(),
        ann.post(f"/threads/{people.thread}/fork")["id"],
        ann.post(f"/actors/{people.thread}/fork")["id"],
    ]

    assert all(len(id) == 24 and int(id, 16) >= 0 for id in ids)
    for id in (taken, "free"):
        assert ann.problem("POST", "/threads", {**CHAT, "id": id}) == (403, "not_allowed")


def test_idempotency_keys_belong_to_their_users(people: People, ann: CheckedClient, bob: CheckedClient) -> None:
    key = {"idempotency-key": "make-tea"}
    made = [client.request("POST", "/threads", CHAT, headers=key) for client in (ann, bob, ann)]

    assert [response.status_code for response in made] == [201, 201, 200]
    assert made[0].json()["id"] == made[2].json()["id"] != made[1].json()["id"]
    path = f"/threads/{people.thread}/messages"
    sent = ann.post(path, {"text": "Once"}, headers=key)
    people.server.wait_until_idle(people.thread)
    assert ann.post(path, {"text": "Once"}, headers=key)["status"] == "duplicate"
    with people.server.client() as operator:
        assert operator.post(path, {"text": "Again"}, headers=key)["status"] == sent["status"] == "accepted"
    people.server.wait_until_idle(people.thread)


def read_events(client: CheckedClient, path: str, act: Any, last: str) -> list[tuple[str, str]]:
    """The kinds and threads of the changes until a thread is removed; `act` runs when the list is up to date."""
    changes = []
    with client.http.stream("GET", path, headers=SSE) as response:
        for frame in (frame for frame in frames(response.iter_lines()) if "data" in frame):
            change = frame["data"]
            changes.append((change["kind"], change.get("thread", "")))
            if change["kind"] == "behind":
                last = act() or last
            if changes[-1] == ("removed", last):
                break
    return changes


def test_a_stream_of_all_threads_has_own_ones_only(people: People, ann: CheckedClient, bob: CheckedClient) -> None:
    def act() -> str:
        foreign = bob.talked()
        bob.request("DELETE", f"/threads/{foreign}")
        own = ann.talked()
        ann.request("DELETE", f"/threads/{own}")
        return own

    with people.client("ann") as reader:
        changes = read_events(reader, f"/events?threads={people.thread}", act, "")
    own = changes[-1][1]

    assert {thread for _, thread in changes} == {"", people.thread, own}
    assert ("created", own) in changes


def test_a_foreign_thread_on_a_stream_is_like_an_unknown_one(people: People) -> None:
    with people.client("ann") as reader:
        both = [
            read_events(reader, f"/events?threads={id},{people.thread}", lambda: None, id)
            for id in (people.foreign, "unknown")
        ]

    assert [[kind for kind, _ in changes] for changes in both] == [["behind", "removed"]] * 2


def scoped(people: People, scope: Scope) -> CheckedClient:
    if scope not in people.secrets:
        people.add(scope, user="ann", scope=scope)
    return people.client(scope)


def code_of(body: Any) -> object:
    """The code of a problem, or that of an error in the form of another protocol."""
    return body["error"].get("code") if isinstance(body.get("error"), dict) else body["code"]


@pytest.mark.parametrize("contract", CONTRACTS, ids=name_of)
@pytest.mark.parametrize("scope", SCOPES)
def test_every_route_needs_the_scope_of_its_contract(people: People, contract: Contract, scope: Scope) -> None:
    path = contract.path.replace("{id}", "unknown").replace("{root}", "unknown")
    is_allowed = contract.scope == "none" or SCOPES.index(scope) >= SCOPES.index(contract.scope)
    with scoped(people, scope) as client, client.http.stream(contract.method, path, headers={"accept": "*/*"}) as got:
        code = code_of(json.loads(got.read())) if got.status_code >= 400 else ""

    assert (code != "insufficient_scope") == is_allowed


def test_scopes_follow_the_methods_unless_a_route_says_otherwise() -> None:
    usual = {each for each in CONTRACTS if each.scope == ("read" if each.method == "GET" else "write")}

    assert {f"{name_of(each)} {each.scope}" for each in {*CONTRACTS} - usual} == {
        "GET /audit admin",
        "GET /metrics admin",
        "POST /backup admin",
        "GET /healthz none",
        "GET /readyz none",
    }


def test_a_user_signs_in_with_a_cookie(people: People) -> None:
    token = people.secrets["ann"]
    with httpx2.Client(base_url=people.server.address) as client:
        entry = client.get(f"/?token={token}")
        rows = client.get("/threads?limit=1000").json()["items"]

    assert entry.status_code == 303
    assert token not in entry.headers["set-cookie"]
    assert {row["owner"] for row in rows} == {"ann"}


def test_a_token_is_stored_as_a_hash_only(people: People) -> None:
    text = people.tokens.path.read_text()

    assert not [token for token in people.secrets.values() if token in text]
    assert people.tokens.path.stat().st_mode & 0o777 == 0o600
    assert people.tokens.folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("way", ["bearer", "cookie"])
def test_revoking_a_token_refuses_it_and_ends_its_streams(people: People, way: str) -> None:
    token = people.add(f"short-{way}", user="ann")
    with httpx2.Client(base_url=people.server.address, timeout=PATIENCE_S) as client:
        if way == "cookie":
            client.get(f"/?token={token}")
        else:
            client.headers["authorization"] = f"Bearer {token}"
        with client.stream("GET", f"/threads/{people.thread}/events?after=1", headers=SSE) as response:
            lines = response.iter_lines()
            assert next(lines).startswith("retry")
            people.tokens.revoke(f"short-{way}")
            *_, last = [frame for frame in frames(lines) if "data" in frame]

        assert (last["event"], last["data"]["code"]) == ("problem", "unauthenticated")
        assert client.get("/threads").status_code == 401


def test_an_expired_token_is_refused(people: People) -> None:
    people.add("past", user="ann", expires=2)
    people.add("future", user="ann", expires=FAR_MS)
    with people.client("past") as past, people.client("future") as future:
        assert past.problem("GET", "/threads") == (401, "unauthenticated")
        assert future.get("/threads")["items"]


def test_the_end_of_a_token_by_time_ends_what_waits_for_it(tmp_path: Path) -> None:
    now = [10]
    _, token = TokenFile(tmp_path).add("ann", user="ann", scope="read", expires=100, now=1)

    async def main() -> list[bool]:
        authentication = Authentication(ServerSettings(folder=tmp_path, token_check_s=0.001), lambda: now[0])
        caller = authentication.find_by_token(token)
        assert caller is not None
        waiting = asyncio.create_task(authentication.wait_for_end(caller))
        operator = asyncio.create_task(authentication.wait_for_end(OPERATOR))
        await asyncio.wait([waiting], timeout=0.02)
        states = [waiting.done()]
        now[0] = 100
        await asyncio.wait_for(waiting, PATIENCE_S)
        states += [operator.done(), authentication.find_by_token(token) is not None]
        operator.cancel()
        return states

    assert asyncio.run(main()) == [False, False, False]


def test_the_last_use_of_a_token_is_stored(people: People, ann: CheckedClient) -> None:
    ann.get("/threads")

    # It is written by another thread of the server.
    assert any(record.used for _ in range(5000) for record in people.tokens.list() if record.name == "ann")


def test_a_file_of_tokens_that_others_can_change_lets_no_user_in(tmp_path: Path) -> None:
    with live_server(folder=tmp_path) as server:
        people = People(server, tmp_path)
        people.tokens.path.chmod(0o666)
        people.tokens.path.write_text(people.tokens.path.read_text() + " ")
        with people.client("ann") as client, server.client() as operator:
            assert client.problem("GET", "/threads") == (401, "unauthenticated")
            assert operator.get("/threads")["items"]


@pytest.mark.parametrize("store", [":memory:", "s.db"])
def test_a_prefix_finds_own_threads_behind_those_of_many_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    for module in ("index", "memory_index"):
        monkeypatch.setattr(f"antiphon.stores.{module}.MOST_IDS", 2)
    with live_server(store if store == ":memory:" else tmp_path / store, folder=tmp_path / "users") as server:
        people = People(server, tmp_path / "users")
        with server.client() as operator:
            for number, owner in enumerate(("bob", "bob", "bob", "ann", "ann")):
                operator.post("/threads", {**CHAT, "id": f"x{number}", "owner": owner})
        with people.client("ann") as ann:
            listed = ann.get("/threads?prefix=x")["items"]

    assert [row["id"] for row in listed] == ["x3", "x4"]
