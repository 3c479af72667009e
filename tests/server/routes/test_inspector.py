"""The routes of models, tools, charts and actors, and those of the server itself."""

from collections.abc import Iterator

import pytest

from antiphon.app import App
from antiphon.chart.machine import create_machine
from tests.fixtures.server import CheckedClient, frames, live_server

LAMP = create_machine({"id": "lamp", "initial": "off", "states": {"off": {"on": {"GO": "on"}}, "on": {}}})
# A machine that passes through a state without an event, and chooses by a guard; it ends.
ROAD = create_machine(
    {
        "id": "road",
        "initial": "red",
        "states": {
            "red": {"on": {"GO": [{"target": "green", "guard": "isRush"}, "amber"], "END": "over"}},
            "amber": {"always": {"target": "green", "actions": lambda: None}},
            "green": {},
            "over": {"type": "final"},
        },
    },
    guards={"isRush": lambda: False},
)


@pytest.fixture(scope="module")
def client() -> Iterator[CheckedClient]:
    with live_server(app=lambda: App(":memory:", machines=[LAMP, ROAD])) as server, server.client() as client:
        yield client


def test_models_agents_and_tools_are_listed(client: CheckedClient) -> None:
    models = {row["reference"]: row for row in client.get("/models")["items"]}

    assert models["scripted:demo"]["usable"]
    assert len(client.get("/agents")["items"]) == 5
    assert client.get("/tools")["items"] == []


def test_charts_are_json_and_diagrams_with_a_hash(client: CheckedClient) -> None:
    charts = client.get("/charts")["items"]
    chart = client.get("/charts/debate")

    assert {"thread", "debate"} <= {row["id"] for row in charts}
    assert chart["hash"] == next(row["hash"] for row in charts if row["id"] == "debate")
    assert chart["chart"]["id"] == "debate"
    assert "PAUSE" in chart["public"]
    assert "VERDICT_READY" in chart["events"]
    assert client.http.get("/charts/debate/mermaid").text.startswith("stateDiagram-v2")
    assert client.problem("GET", "/charts/nothing") == (404, "unknown_chart")


def test_a_tree_is_inspected_at_any_step(client: CheckedClient) -> None:
    thread = client.talked()
    tree = client.get(f"/actors/{thread}")
    journal = client.get(f"/actors/{thread}/journal?limit=1000")["items"]

    assert [actor["address"] for actor in tree["actors"]] == ["", "chat"]
    assert tree["seq"] == len(journal)
    assert client.get(f"/actors/{thread}/snapshot")["snapshot"]["value"] == "completed"
    assert client.get(f"/actors/{thread}/snapshot?step=1")["snapshot"]["value"] == "pending"
    assert client.problem("GET", f"/actors/{thread}/snapshot?step=9999") == (404, "unknown_step")
    page = client.get(f"/actors/{thread}/journal?limit=2")
    assert [entry["seq"] for entry in page["items"]] == [1, 2]
    assert client.get(f"/actors/{thread}/journal?limit=2&after={page['next']}")["items"][0]["seq"] == 3


def test_a_step_has_the_transitions_that_it_took(client: CheckedClient) -> None:
    root = client.server.call(lambda app: app.runtime.create("road"))
    client.post(f"/actors/{root}/events", {"event": {"type": "GO"}})
    step = client.get(f"/actors/{root}/step?step=2")

    assert step["entry"]["event"] == {"type": "GO"}
    assert step["taken"] == [
        {"actor": "", "source": "road.red", "event": "GO", "index": 1, "targets": ["road.amber"]},
        {"actor": "", "source": "road.amber", "event": "", "index": 0, "targets": ["road.green"]},
    ]
    assert step == client.get(f"/actors/{root}/step")
    assert client.get(f"/actors/{root}/step?step=1")["taken"] == []
    assert client.problem("GET", f"/actors/{root}/step?step=3") == (404, "unknown_step")


def test_a_step_has_the_transitions_of_children_too(client: CheckedClient) -> None:
    thread = client.talked()
    journal = client.get(f"/actors/{thread}/journal?limit=1000")["items"]
    taken = [row for entry in journal for row in client.get(f"/actors/{thread}/step?step={entry['seq']}")["taken"]]

    assert {"", "chat", "chat/reply"} <= {row["actor"] for row in taken}
    reply = [row for row in taken if row["actor"] == "chat/reply" and row["event"] == "COMPLETE"]
    assert [row["source"] for row in reply] == ["streaming.streaming"]


def test_actors_have_their_charts_and_the_events_that_they_take(client: CheckedClient) -> None:
    actors = {row["address"]: row for row in client.get(f"/actors/{client.talked()}")["actors"]}
    chart = client.get(f"/charts/chat?hash={actors['chat']['hash']}")

    assert actors["chat"]["machine"] == chart["id"] == "chat"
    assert "message" in actors["chat"]["can"]
    assert chart["config"]["states"].keys() == chart["chart"]["states"].keys()
    assert client.problem("GET", "/charts/chat?hash=2:0") == (404, "unknown_chart")


def test_charts_of_other_machines_have_names_for_their_functions(client: CheckedClient) -> None:
    config = client.get("/charts/road")["config"]

    assert config["states"]["amber"]["always"] == {"target": "green", "actions": "<lambda>"}
    assert config["states"]["red"]["on"]["GO"][0]["guard"] == "isRush"


def test_a_journal_is_followed_until_its_tree_has_ended(client: CheckedClient) -> None:
    root = client.server.call(lambda app: app.runtime.create("road"))
    accept = {"accept": "text/event-stream"}
    with client.http.stream("GET", f"/actors/{root}/journal", headers=accept) as response:
        events = frames(response.iter_lines())
        first = next(frame for frame in events if "data" in frame)
        client.post(f"/actors/{root}/events", {"event": {"type": "END"}})
        second, last = events
    with client.http.stream(
        "GET", f"/actors/{root}/journal", headers={**accept, "last-event-id": first["id"]}
    ) as response:
        again = [frame for frame in frames(response.iter_lines()) if "data" in frame]

    assert [first["data"]["seq"], second["data"]["seq"], last["event"]] == [1, 2, "ended"]
    assert again == [second, last]


def test_a_cursor_of_another_past_moves_a_follower(client: CheckedClient) -> None:
    root = client.server.call(lambda app: app.runtime.create("road"))
    client.post(f"/actors/{root}/events", {"event": {"type": "END"}})
    headers = {"accept": "text/event-stream", "last-event-id": "elsewhere:1"}
    with client.http.stream("GET", f"/actors/{root}/journal", headers=headers) as response:
        names = [frame.get("event") for frame in frames(response.iter_lines()) if "data" in frame]

    assert names == ["moved", None, None, "ended"]


def test_the_follower_of_a_tree_that_is_deleted_gets_a_problem(client: CheckedClient) -> None:
    root = client.server.call(lambda app: app.runtime.create("road"))
    with client.http.stream("GET", f"/actors/{root}/journal", headers={"accept": "text/event-stream"}) as response:
        events = frames(response.iter_lines())
        next(frame for frame in events if "data" in frame)
        client.server.call(lambda app: app.runtime.delete(root))
        last = list(events)[-1]

    assert (last["event"], last["data"]["code"]) == ("problem", "unknown_actor")


def test_trees_are_listed_in_pages(client: CheckedClient) -> None:
    for _ in range(3):
        client.chat()
    first = client.get("/actors?limit=2")
    second = client.get(f"/actors?limit=2&after={first['next']}")

    ids = [row["id"] for row in (*first["items"], *second["items"])]
    assert ids == sorted(ids)
    assert len({*ids}) == len(ids) > 2


def test_events_are_sent_to_actors_and_checked(client: CheckedClient) -> None:
    thread = client.talked()
    path = f"/actors/{thread}/events"
    taken = client.post(path, {"event": {"type": "RENAME", "title": "Sent"}}, headers={"Idempotency-Key": "e"})
    again = client.post(path, {"event": {"type": "RENAME", "title": "Sent"}}, headers={"Idempotency-Key": "e"})

    assert (taken["status"], again["status"]) == ("accepted", "duplicate")
    assert client.get(f"/threads/{thread}")["title"] == "Sent"
    assert client.problem("POST", path, {"event": {"type": "COMPLETE"}}) == (422, "bad_event")
    refused = client.request("POST", path, {"event": {"type": "tool_results", "results": []}, "to": "chat"}).json()
    assert refused["code"] == "refused"
    assert "message" in refused["can"]["chat"]


def test_trees_of_other_machines_are_inspected_and_forked(client: CheckedClient) -> None:
    root = client.server.call(lambda app: app.runtime.create("lamp"))
    client.post(f"/actors/{root}/events", {"event": {"type": "GO"}})
    fork = client.post(f"/actors/{root}/fork", {"step": 1})["id"]

    assert client.get(f"/actors/{root}")["actors"][0]["value"] == "on"
    assert client.get(f"/actors/{fork}")["actors"][0]["value"] == "off"
    assert client.get(f"/actors/{fork}")["forkedFrom"] == root
    assert client.problem("GET", f"/threads/{root}") == (404, "unknown_thread")


def test_a_thread_that_is_forked_as_a_tree_has_its_own_id(client: CheckedClient) -> None:
    thread = client.talked()
    fork = client.post(f"/actors/{thread}/fork")["id"]

    assert client.get(f"/actors/{fork}/snapshot")["snapshot"]["context"]["threadId"] == fork


def test_the_server_describes_itself_without_scripts_and_other_hosts(client: CheckedClient) -> None:
    page = client.request("GET", "/docs")

    assert "<script" not in page.text
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert "script-src" not in page.headers["content-security-policy"]
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert "POST /threads/{id}/messages" in client.request("GET", "/docs").text
    assert client.request("GET", "/style.css").headers["content-type"].startswith("text/css")


def test_counters_are_by_route_and_hold_no_ids(client: CheckedClient) -> None:
    thread = client.talked()
    client.get(f"/threads/{thread}")
    text = client.request("GET", "/metrics").text

    assert 'antiphon_http_requests_total{method="GET",route="/threads/{id}",status="200"}' in text
    assert thread not in text


def test_health_and_readiness_need_no_token(client: CheckedClient) -> None:
    client.http.headers.pop("authorization")
    try:
        assert client.get("/healthz") == {"status": "ok"}
        assert client.get("/readyz")["status"] == "ready"
    finally:
        client.http.headers["authorization"] = f"Bearer {client.server.settings.token}"
