"""The endpoints that the seeds ask for: one for each transition of a debate, and one surface for all machines."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App, own_machines
from antiphon.debate.machine.events import PUBLIC
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.providers.scripted import ScriptedModel
from tests.fixtures.command import antiphon
from tests.fixtures.debates import PRICES, brief
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, frames, live_server
from tests.server.routes.test_kinds import PAINTER, TOPIC, until_taken

SSE = {"accept": "text/event-stream"}
# The transitions that people cause, and the endpoint of each; the thread sends the others itself.
ENDPOINTS: dict[str, tuple[str, Any]] = {
    "START_DEBATE": ("start", {}),
    "PAUSE": ("pause", {}),
    "INTERJECT": ("interject", {"text": "Think of the bakers."}),
    "RAISE_LIMIT": ("limits", {"costLimit": 5}),
    "RESUME": ("resume", {}),
    "ACKNOWLEDGE_WARNING": ("perform", {"action": "ACKNOWLEDGE_WARNING"}),
    "JUDGE_NOW": ("judge", {}),
    "STOP": ("stop", {}),
    "RETRY": ("retry", {}),
}
OVER = ("completed", "failed", "stopped", "interrupted", "waiting")
OF_THREADS = {"message", "answer", "cancel", "resume", "retry"}


def open_brief(reference: Any) -> ScriptedModel:
    """A scripted model that says little."""
    if reference.model == "debate":
        return brief(reference)
    return ScriptedModel({"replies": [{"steps": [{"text": "Done."}]}]}, name=reference.model)


BRIEF = Models(openers={"scripted": open_brief})


def priced() -> App:
    """An app whose scripted models cost something."""
    return App(":memory:", models=BRIEF, prices=Prices(PRICES))


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=priced) as server, server.client() as client:
        yield client


def debate(client: CheckedClient, **settings: Any) -> str:
    body = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 9, "costLimit": 1.0}
    return str(client.post("/threads", {**body, **settings})["id"])


def events_of(client: CheckedClient, id: str) -> list[str]:
    """The events that the debate itself has taken."""
    items = client.get(f"/actors/{id}/journal?limit=1000")["items"]
    return [item["event"]["type"] for item in items if item["to"] == "debate"]


def act(client: CheckedClient, id: str, event: str) -> None:
    """Use the endpoint of a transition, once the debate takes the event."""
    if event != "START_DEBATE":
        client.server.call(lambda app: until_taken(app, id, event))
    path, body = ENDPOINTS[event]
    client.post(f"/threads/{id}/{path}", body)


@pytest.mark.requirement("S4-120")
def test_every_transition_of_people_has_an_endpoint() -> None:
    assert {*ENDPOINTS} == {*PUBLIC} - OF_THREADS


@pytest.mark.requirement("S4-120")
def test_each_endpoint_of_a_debate_causes_its_transition(client: CheckedClient) -> None:
    id = debate(client, warnAtCost=0.000001)
    act(client, id, "START_DEBATE")
    for event in ("PAUSE", "INTERJECT", "RAISE_LIMIT"):
        act(client, id, event)
    assert client.get(f"/threads/{id}")["content"]["state"] == "paused"
    act(client, id, "RESUME")  # the thread passes it on in the step of its own
    assert client.get(f"/threads/{id}")["content"]["state"] != "paused"
    for event in ("ACKNOWLEDGE_WARNING", "JUDGE_NOW"):
        act(client, id, event)
    assert client.server.wait_until_idle(id) == "completed"

    own = ["PAUSE", "INTERJECT", "RAISE_LIMIT", "ACKNOWLEDGE_WARNING", "JUDGE_NOW"]
    assert [type for type in events_of(client, id) if type in own] == own
    content = client.get(f"/threads/{id}")["content"]
    assert content["verdict"]["winner"]
    assert content["interjections"][0]["text"] == "Think of the bakers."
    assert [warning["acknowledged"] for warning in content["costTracker"]["warnings"]][:1] == [True]


@pytest.mark.requirement("S4-120")
def test_a_debate_is_stopped_by_its_endpoint(client: CheckedClient) -> None:
    id = debate(client)
    act(client, id, "START_DEBATE")
    act(client, id, "STOP")

    client.server.wait_until_idle(id)
    assert "STOP" in events_of(client, id)


@pytest.mark.requirement("S4-120")
def test_a_failed_debate_is_asked_to_repeat_by_its_endpoint(tmp_path: Path) -> None:
    broken = script(tmp_path, {"steps": [{"error": "9003", "message": "no such model"}]})
    with live_server(app=lambda: App(":memory:")) as server, server.client() as client:
        id = debate(client, models=[broken])
        act(client, id, "START_DEBATE")
        assert client.server.wait_until_idle(id) == "failed"
        assert "RETRY" not in client.get(f"/threads/{id}")["can"]["debate"]  # a model that does not exist stays away

        client.post(f"/threads/{id}/retry")
        client.server.wait_until_idle(id)
        items = client.get(f"/threads/{id}/events")["items"]
        runs = [(item["facts"]["runId"], item["facts"]["status"]) for item in items if item["kind"] == "status"]
        assert runs[-2:] == [("run-2", "running"), ("run-2", "failed")]


@pytest.mark.requirement("X-12")
def test_all_machines_are_listed_by_the_command_line_and_by_the_server(client: CheckedClient) -> None:
    listed = json.loads(antiphon("machines", "list", "--json").stdout)
    charts = {row["id"]: row for row in client.get("/charts")["items"]}

    assert {machine.id for machine in own_machines()} == {*charts} == {row["id"] for row in listed}
    for row in listed:
        chart = client.get(f"/charts/{row['id']}")
        assert {*chart["events"]} == {*row["events"]}
        assert chart["hash"] == charts[row["id"]]["hash"]


def followed(client: CheckedClient, id: str) -> list[str]:
    """The kinds of the activities of a thread, as its stream has them, until it has completed."""
    kinds: list[str] = []
    with client.http.stream("GET", f"/threads/{id}/events", headers=SSE) as response:
        for frame in frames(response.iter_lines()):
            if isinstance(frame.get("data"), dict):
                kinds.append(frame["data"]["kind"])
                if frame["data"]["facts"].get("status") in OVER:
                    return kinds
    raise AssertionError(kinds)


@pytest.mark.requirement("X-12")
def test_chats_runs_and_debates_have_one_surface(tmp_path: Path) -> None:
    store = tmp_path / "a.db"
    bodies: dict[str, Any] = {
        "chat": {"model": "scripted:word"},
        "run": {"model": "scripted:word", "agents": [PAINTER], "arbiter": {"kind": "rules"}},
        "debate": {"topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 1},
    }
    exports: dict[str, str] = {}
    with live_server(app=lambda: App(store, models=BRIEF), heartbeat_s=600) as server, server.client() as client:
        for kind, settings in bodies.items():
            id = client.post("/threads", {"kind": kind, "id": f"one-{kind}", **settings})["id"]
            client.post(f"/threads/{id}/start", {} if kind == "debate" else {"text": "Go"})
            assert "text" in followed(client, id)
            exports[id] = client.http.get(f"/threads/{id}/export").text

    rows = json.loads(antiphon("threads", "list", "--json", "--store", store).stdout)
    assert {row["id"]: row["status"] for row in rows} == dict.fromkeys(exports, "completed")
    for id, text in exports.items():
        assert antiphon("threads", "export", id, "--store", store).stdout.strip() == text.strip()
