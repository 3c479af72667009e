"""The routes of runs and debates: start, steer, answer, judge, raise the limit."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.app import App
from tests.fixtures.scripted_team import script
from tests.fixtures.server import CheckedClient, live_server

TOPIC = "Should a city close its centre to private cars?"
PAINTER = {"name": "painter", "whenToUse": "always", "systemPrompt": "Paint what is asked for."}
HELPER = {"name": "helper", "whenToUse": "never", "systemPrompt": "Help with what is asked for."}


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=lambda: App(":memory:")) as server, server.client() as client:
        yield client


def asking(folder: Path) -> str:
    """A model that asks a question before it is done."""
    question = {"tool": "ask_user", "arguments": {"question": "Which blue?"}}
    return script(folder, {"after": "ask_user", "steps": [{"text": "Painted."}]}, {"steps": [question]})


async def until_taken(app: App, id: str, event: str) -> None:
    """Wait until a debate takes an event."""
    async for _ in app.threads.steps(id):
        if event in (await app.threads.can(id)).get("debate", ()):
            return


def run_of(client: CheckedClient, folder: Path, **settings: object) -> str:
    body = {"kind": "run", "model": asking(folder), "agents": [PAINTER, HELPER], "arbiter": {"kind": "rules"}}
    return str(client.post("/threads", {**body, **settings})["id"])


def test_a_run_asks_and_is_answered(client: CheckedClient, tmp_path: Path) -> None:
    run = run_of(client, tmp_path)
    client.post(f"/threads/{run}/start", {"text": "Paint the wall"})
    assert client.server.wait_until_idle(run) == "waiting"
    (request,) = client.get(f"/threads/{run}")["requests"]
    assert (request["reason"], request["text"]) == ("question", "Which blue?")

    client.post(f"/threads/{run}/respond", {"requestId": request["id"], "text": "light"})
    assert client.server.wait_until_idle(run) == "completed"
    assert client.get(f"/threads/{run}/usage")["kind"] == "run"


def test_a_run_is_steered(client: CheckedClient, tmp_path: Path) -> None:
    run = run_of(client, tmp_path)
    plan = {"steps": ["paint", "dry"]}
    client.post(f"/threads/{run}/start", {"text": "Paint the wall", "plan": plan})
    client.server.wait_until_idle(run)
    steps = client.get(f"/threads/{run}/plan")["plan"]["steps"]
    assert [step["description"] for step in steps] == ["paint", "dry"]

    skipped = client.post(f"/threads/{run}/skip")
    assert skipped["kind"] == "run"
    forced = client.post(f"/threads/{run}/agent", {"name": "helper"})
    assert forced["kind"] == "run"
    unknown = client.problem("POST", f"/threads/{run}/agent", {"name": "nobody"})
    assert unknown[0] in (409, 422)


def test_a_run_without_agents_has_the_default_team(client: CheckedClient) -> None:
    run = client.post("/threads", {"kind": "run", "model": "scripted:agents"})
    names = {agent["name"] for agent in client.get("/agents")["items"]}

    assert {*run["content"]["agents"]} == names
    assert client.get(f"/threads/{run['id']}/plan")["plan"] is None


@pytest.mark.requirement("S4-120", "X-12")
def test_a_debate_is_held(client: CheckedClient) -> None:
    debate = client.post("/threads", {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 1})
    id = debate["id"]
    client.post(f"/threads/{id}/start")
    client.post(f"/threads/{id}/interject", {"text": "Think of the bakers."})
    client.post(f"/threads/{id}/pause")
    assert client.get(f"/threads/{id}")["content"]["state"] == "paused"

    client.post(f"/threads/{id}/resume")
    assert client.server.wait_until_idle(id) == "completed"
    over = client.get(f"/threads/{id}")
    assert over["content"]["verdict"]["winner"]
    assert over["content"]["interjections"][0]["text"] == "Think of the bakers."


def test_the_judge_of_a_debate_decides_at_once(client: CheckedClient) -> None:
    body = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 9, "costLimit": 1.0}
    id = client.post("/threads", body)["id"]
    client.post(f"/threads/{id}/start")
    raised = client.post(f"/threads/{id}/limits", {"costLimit": 2.5})
    assert raised["kind"] == "debate"

    client.server.call(lambda app: until_taken(app, id, "JUDGE_NOW"))
    client.post(f"/threads/{id}/judge")
    assert client.server.wait_until_idle(id) == "completed"
    assert client.get(f"/threads/{id}")["content"]["verdict"]["winner"]


@pytest.mark.parametrize(
    ("kind", "path", "body"),
    [
        ("chat", "agent", {"name": "painter"}),
        ("chat", "skip", {}),
        ("chat", "judge", {}),
        ("chat", "interject", {"text": "Hm"}),
        ("debate", "skip", {}),
        ("debate", "rewind", {}),
        ("debate", "branches", {}),
        ("debate", "merge", {}),
        ("run", "limits", {"maxCostUsd": 3}),
        ("run", "pause", {}),
    ],
)
def test_actions_of_another_kind_are_refused(client: CheckedClient, kind: str, path: str, body: object) -> None:
    settings = {
        "chat": {"model": "scripted:demo"},
        "run": {"model": "scripted:agents"},
        "debate": {"topic": TOPIC, "models": ["scripted:debate"]},
    }[kind]
    thread = client.post("/threads", {"kind": kind, **settings})["id"]

    assert client.problem("POST", f"/threads/{thread}/{path}", body) == (409, "wrong_kind")
