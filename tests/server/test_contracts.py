"""The contracts of routes: every route and every field of a body is exercised, and settings are those of the kinds."""

from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from antiphon.agents.service import SETTINGS as RUN_SETTINGS
from antiphon.app import App
from antiphon.chat.machine.context import DEFAULTS as CHAT_DEFAULTS
from antiphon.debate.machine.config import RULES as DEBATE_RULES
from antiphon.server.access import PUBLIC
from antiphon.server.asgi import contracts
from antiphon.server.bodies import CreateChat, CreateDebate, CreateRun
from antiphon.server.contracts import check_body, checks
from antiphon.server.facades.openai.bodies import ChatCompletionRequest, ResponseRequest
from antiphon.server.problems import ProblemError
from tests.fixtures.facades import question, run_agui, send_vercel
from tests.fixtures.mcp_wire import McpWire
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CONTRACTS, CheckedClient, live_server

TOPIC = "Should a city close its centre to private cars?"
NEW = {"kind", "id", "title", "owner"}
# Settings of windows of the server's machine.
LOCAL = {"workspace", "mode"}


def fields_of(kind: type) -> set[str]:
    return {*checks.shape(kind).fields}


def test_the_settings_of_new_threads_are_those_of_their_kinds() -> None:
    assert fields_of(CreateChat) - NEW - LOCAL == {*CHAT_DEFAULTS, "tools", "history"}
    assert fields_of(CreateRun) - NEW - {"mode"} == {*RUN_SETTINGS}
    assert fields_of(CreateDebate) - NEW == {*DEBATE_RULES} - {"id"}


def test_every_route_has_one_contract_and_says_what_it_does() -> None:
    routes = [(contract.method, contract.path) for contract in CONTRACTS]

    assert len({*routes}) == len(routes)
    assert all(contract.about[0].isupper() for contract in CONTRACTS)
    assert {tag for tag, _ in contracts()} == {
        "threads",
        "actions",
        "streams",
        "catalog",
        "actors",
        "administration",
        "web",
        "system",
        "openai",
        "ag-ui",
        "vercel",
        "mcp",
        "local",
    }


@pytest.mark.parametrize("body", [[], 5, None, {"kind": "chat", "x": 1}, {"kind": 5}])
def test_a_body_of_another_type_is_refused(body: Any) -> None:
    with pytest.raises(ProblemError) as caught:
        check_body(body, (CreateChat, CreateRun, CreateDebate))

    assert caught.value.code == "bad_body"


def test_the_document_is_complete_and_its_schemas_are_schemas() -> None:
    with live_server() as server, server.client() as client:
        document = client.get("/openapi.json")
    operations = {(method.upper(), path) for path, item in document["paths"].items() for method in item}

    assert operations == {(contract.method, contract.path) for contract in CONTRACTS}
    for name, schema in document["components"]["schemas"].items():
        jsonschema_rs.meta.validate(schema)
        assert schema.get("description") or name.startswith("_"), name


def test_the_document_says_which_routes_need_no_token() -> None:
    with live_server() as server, server.client() as client:
        document = client.get("/openapi.json")
    operations = {path: operation for path, item in document["paths"].items() for operation in item.values()}

    assert document["security"] == [{"token": []}]
    assert {path for path, operation in operations.items() if operation.get("security") == []} == {*PUBLIC}
    text = str(document)
    references = {part.partition("'")[0] for part in text.split("#/components/schemas/")[1:]}
    assert references <= {*document["components"]["schemas"]}


def chat_tour(client: CheckedClient) -> None:
    consent = {"mode": "ask", "overrides": [{"decision": "allow", "pattern": "fetch"}]}
    settings = {**CHAT_DEFAULTS, "model": "scripted:demo", "consent": consent, "autoStart": True}
    body = {"kind": "chat", "id": "tour", "title": "Tour", "owner": "me", **settings, "tools": []}
    thread = client.post("/threads", body)["id"]
    client.post(f"/threads/{thread}/start", {"text": "Hello"})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/messages", {"text": "Again", "onBusy": "reject", "options": {}})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/messages", {"parts": [{"type": "text", "text": "Once more"}]})
    client.post(f"/threads/{thread}/stop")
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/retry")
    client.server.wait_until_idle(thread)
    history = client.http.get(f"/threads/{thread}/export?format=json").json()
    assert history["messages"]
    (permission,) = client.get(f"/threads/{thread}")["permissions"]
    client.post(f"/threads/{thread}/revoke", {"permission": permission["id"]})
    mark = client.post(f"/threads/{thread}/checkpoints", {"name": "here"})["content"]["checkpoints"]
    client.post(f"/threads/{thread}/branches", {"name": "side", "turn": 1})
    client.post(f"/threads/{thread}/messages", {"text": "Aside"})
    client.server.wait_until_idle(thread)
    client.post(f"/threads/{thread}/perform", {"action": "switch", "payload": {"branch": "main"}})
    client.post(f"/threads/{thread}/merge", {"source": "side"})
    client.post(f"/threads/{thread}/merge/cancel")
    merging = client.post(f"/threads/{thread}/merge", {"source": "side", "strategy": "manual"})
    merge = merging["content"]["merge"]
    assert client.problem("POST", f"/threads/{thread}/merge/confirm") == (409, "refused")
    for conflict in merge["conflicts"]:
        client.post(f"/threads/{thread}/merge/resolve", {"conflict": conflict["id"], "pick": "ours"})
    client.post(f"/threads/{thread}/merge/confirm")
    client.post(f"/threads/{thread}/rewind", {"turns": 1})
    client.post(f"/threads/{thread}/rewind", {"checkpointId": next(iter(mark))})
    client.get(f"/threads/{thread}/checkpoints")
    client.post(f"/threads/{thread}/branches", {"from": "m1"})
    limits = {"maxToolRounds": 3, "maxThreadToolRounds": 9, "maxCostUsd": 1, "maxThreadCostUsd": 2}
    client.post(f"/threads/{thread}/limits", {**limits, "maxWallMs": 60_000, "maxThreadWallMs": 90_000})
    for path in ("limits", "usage", "events", "export"):
        client.request("GET", f"/threads/{thread}/{path}")
    client.request("PATCH", f"/threads/{thread}", {"title": "Named", "archived": False})
    client.post(f"/threads/{thread}/archive")
    client.post(f"/threads/{thread}/unarchive")
    fork = client.post(f"/threads/{thread}/fork", {"step": 2})["id"]
    assert client.request("DELETE", f"/threads/{fork}").status_code == 204


def run_tour(client: CheckedClient, model: str) -> None:
    agents = [
        {"name": name, "whenToUse": "always", "systemPrompt": "Do what is asked for."} for name in ("first", "second")
    ]
    body = {"kind": "run", "model": model, "agents": agents, "arbiter": {"kind": "rules"}, "defaultAgent": "first"}
    more = {"plan": {"steps": ["one", "two"]}, "tools": [], "consent": {"mode": "ask"}, "options": {}, "dryRun": False}
    more["fallback"] = []
    names = {"id": "job", "title": "Job", "owner": "me", "session": "s", "providerName": "scripted"}
    limits = {"maxIterations": 9, "maxFailures": 3, "maxCostUsd": 5, "maxWallMs": 60_000, "graceMs": 100}
    waits = {"backoffMs": 10, "longestBackoffMs": 20}
    run = client.post("/threads", {**body, **more, **names, **limits, **waits})["id"]
    client.post(f"/threads/{run}/start", {"text": "Work", "plan": {"steps": ["one", "two"]}})
    assert client.server.wait_until_idle(run) == "waiting"
    client.get(f"/threads/{run}/plan")
    client.post(f"/threads/{run}/skip")
    client.post(f"/threads/{run}/agent", {"name": "second"})
    client.server.wait_until_idle(run)
    for request in client.get(f"/threads/{run}")["requests"]:
        client.post(f"/threads/{run}/respond", {"requestId": request["id"], "text": "blue"})


def debate_tour(client: CheckedClient) -> None:
    sides = [{"id": side, "position": side, "model": "scripted:debate"} for side in ("for", "against")]
    body = {"kind": "debate", "id": "talk", "title": "Talk", "owner": "me", "topic": TOPIC, "participants": sides}
    limits = {"maxRounds": 1, "maxTokens": 500, "timeoutPerRound": 60, "costLimit": 2.0, "warnAtCost": 1.0}
    rules = {"onCostLimit": "judge", "earlyStop": False, "contextLimit": 8000, "format": "oxford"}
    debate = client.post("/threads", {**body, **limits, **rules, "judge": {"model": "scripted:debate"}})["id"]
    client.post("/threads", {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"]})
    client.post(f"/threads/{debate}/start")
    client.post(f"/threads/{debate}/pause")
    client.post(f"/threads/{debate}/interject", {"text": "Think of the bakers."})
    client.post(f"/threads/{debate}/limits", {"costLimit": 3})
    client.post(f"/threads/{debate}/resume")
    client.server.call(lambda app: until_taken(app, debate, "JUDGE_NOW"))
    client.post(f"/threads/{debate}/judge")


async def until_taken(app: App, id: str, event: str) -> None:
    async for _ in app.threads.steps(id):
        if event in (await app.threads.can(id)).get("debate", ()):
            return


def inspector_tour(client: CheckedClient) -> None:
    for path in ("/", "/docs", "/style.css", "/openapi.json", "/metrics", "/healthz", "/readyz", "/models", "/agents"):
        assert client.request("GET", path).status_code == 200
    for path in ("/tools", "/charts", "/charts/thread", "/charts/thread/mermaid", "/threads", "/threads/tour"):
        assert client.request("GET", path).status_code == 200
    assert client.request("GET", "/audit").status_code == 200
    assert client.request("POST", "/backup").status_code == 200
    for path in ("/new", "/chats/tour", "/runs/x", "/debates/x", "/inspector", "/inspector/tour", "/assets/theme.js"):
        assert client.request("GET", path).status_code == 200
    for path in ("/actors", "/actors/tour", "/actors/tour/snapshot", "/actors/tour/step", "/actors/tour/journal"):
        assert client.request("GET", path).status_code == 200
    client.post("/actors/tour/events", {"event": {"type": "RENAME", "title": "Sent"}, "to": ""})
    client.post("/actors/tour/fork", {"step": 1})
    with client.http.stream("GET", "/events", headers={"accept": "text/event-stream"}) as response:
        assert response.status_code == 200
    client.server.visited.add(("GET", "/events"))


def mcp_tour(client: CheckedClient) -> None:
    with McpWire(client.server) as wire:
        assert wire.data("list_threads")["items"]
        with wire.http.stream("GET", "/mcp", headers=wire.headers()) as response:
            assert response.status_code == 200
        assert wire.http.delete("/mcp", headers=wire.headers()).status_code == 200
    client.server.visited.update((method, "/mcp") for method in ("POST", "GET", "DELETE"))


def window_tour(client: CheckedClient, folder: Path) -> None:
    assert client.get("/local")["store"]
    assert client.get("/local/windows") == {"windows": {}}
    assert client.request("PUT", "/local/keys", {"keys": {"ANTHROPIC_API_KEY": "sk-1"}}).status_code == 204
    local = {"workspace": str(folder), "mode": "plan", "model": "scripted:demo"}
    chat = client.post("/threads", {"kind": "chat", **local})["id"]
    client.post("/threads", {"kind": "run", "mcp": "/servers.toml", **local})
    grants = {"workspace": "/", "mode": "ask", "models": ["scripted:demo"]}
    assert client.request("PUT", f"/local/threads/{chat}", grants).status_code == 204
    with client.opened(servers={}, environment={}, prices={"name": "prices.toml", "text": ""}) as facts:
        assert facts == {"tools": [], "problems": []}
    client.post("/local/hand-over", {"version": "1", "ifIdle": False})


def openai_tour(client: CheckedClient) -> None:
    common = {**dict.fromkeys(fields_of(ChatCompletionRequest) & fields_of(ResponseRequest)), "model": "scripted:demo"}
    chat = {**dict.fromkeys(fields_of(ChatCompletionRequest)), **common, "messages": [{"role": "user", "content": "a"}]}
    assert client.request("POST", "/v1/chat/completions", chat).status_code == 200
    response = {**dict.fromkeys(fields_of(ResponseRequest)), **common, "input": "a"}
    assert client.request("POST", "/v1/responses", response).status_code == 200
    for path in ("/v1/models", "/v1/models/scripted:demo"):
        assert client.request("GET", path).status_code == 200


def facade_tour(client: CheckedClient) -> None:
    settings = {"model": "scripted:demo"}
    more = {"forwardedProps": settings, "protocolVersion": "1.0", "parentRunId": "p", "state": {}, "resume": []}
    assert run_agui(client, "agui", "Hello", **more)[-1]["type"] == "RUN_FINISHED"
    chunks = send_vercel(client, "vercel", question("Hello"), thread=settings, messageId=None)
    assert chunks[-1] == "[DONE]"
    assert client.request("GET", "/vercel/chat/vercel/stream").status_code == 204


# The answers to permissions and limits, and imported histories, are exercised with tools in `routes/test_actions.py`.
ELSEWHERE = {
    "Respond": {"decision", "scope", "reason", "limit", "outside", "arguments"},
    "ResolveMerge": {"turns"},
    "CreateChat": {"history"},
}
ELSEWHERE["VercelChat"] = {"answer"}  # in `facades/test_vercel.py`


@pytest.mark.requirement("S4-120", "X-12")
def test_every_route_and_every_field_of_a_body_is_exercised(tmp_path: Path, short_folder: Path) -> None:
    asking = {"tool": "ask_user", "arguments": {"question": "Which blue?"}}
    model = script(tmp_path, {"after": "ask_user", "steps": [{"text": "Done."}]}, {"steps": [asking]})
    store = tmp_path / "store.db"
    with live_server(app=lambda: App(store), folder=tmp_path / "server") as server, server.client() as client:
        chat_tour(client)
        run_tour(client, model)
        debate_tour(client)
        facade_tour(client)
        inspector_tour(client)
        mcp_tour(client)
        openai_tour(client)
    with live_server(socket=short_folder / "s.sock") as local, local.window() as client:
        window_tour(client, tmp_path)
    server.visited |= local.visited
    for name, fields in local.sent.items():
        server.sent.setdefault(name, set()).update(fields)

    assert {(contract.method, contract.path) for contract in CONTRACTS} - server.visited == set()
    for kind in {kind for contract in CONTRACTS for kind in contract.takes}:
        name = kind.__name__
        assert fields_of(kind) - server.sent.get(name, set()) - ELSEWHERE.get(name, set()) == set(), name
