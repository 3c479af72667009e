"""The inspector: charts in three views, steps back in time, events sent, branches, files, and the keyboard."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from antiphon.app import App
from antiphon.chart.machine import create_machine
from antiphon.server.models import ServedModels
from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages
from tests.fixtures.server import LiveServer, live_server

# Other work of the machine may slow a layout down.
expect.set_options(timeout=20_000)
# A machine with a nested state, a parallel one, a guard, an eventless transition and a context.
DOOR: dict[str, Any] = {
    "id": "door",
    "initial": "closed",
    "context": {"opened": 0},
    "states": {
        "closed": {
            "description": "Nobody comes in.",
            "on": {
                "OPEN": [{"target": "open", "guard": "mayOpen", "actions": "count"}, {"actions": "complain"}],
                "BREAK": "broken",
            },
        },
        "open": {
            "type": "parallel",
            "on": {"CLOSE": "closed"},
            "states": {
                "light": {"initial": "off", "states": {"off": {"always": "on"}, "on": {}}},
                "bell": {"initial": "silent", "states": {"silent": {"on": {"RING": "loud"}}, "loud": {}}},
            },
        },
        "broken": {"type": "final"},
    },
}


def large_chart() -> dict[str, Any]:
    """A chart of 66 states."""
    groups = {}
    for group in range(6):
        states = {
            f"s{n}": {"on": {"NEXT": f"s{(n + 1) % 10}", "JUMP": f"#large.g{(group + 1) % 6}"}} for n in range(10)
        }
        groups[f"g{group}"] = {"initial": "s0", "states": states}
    return {"id": "large", "initial": "g0", "states": groups}


def door_machine() -> Any:
    from antiphon import assign

    return create_machine(
        DOOR,
        actions={"count": assign({"opened": lambda context: context["opened"] + 1}), "complain": lambda: None},
        guards={"mayOpen": lambda context: context["opened"] < 2},
    )


def hosted() -> App:
    return App(":memory:", models=ServedModels(), machines=[door_machine(), create_machine(large_chart())])


@pytest.fixture(scope="module")
def inspected() -> Iterator[LiveServer]:
    with live_server(app=hosted) as server:
        yield server


class Inspector:
    """The inspector with an actor."""

    def __init__(self, pages: Pages, server: LiveServer, machine: str = "door", **options: Any) -> None:
        self.server = server
        self.root = str(server.call(lambda app: app.runtime.create(machine)))
        self.app: WebApp = pages.open(server, f"/inspector/{self.root}", **options)
        self.page: Page = self.app.page

    def send(self, type: str, **keys: Any) -> None:
        """Send an event as another program does."""
        with self.server.client() as client:
            client.post(f"/actors/{self.root}/events", {"event": {"type": type, **keys}})

    def view(self, name: str) -> None:
        self.page.get_by_role("group", name="View").get_by_role("button", name=name).click()

    def state(self, id: str) -> Locator:
        return self.page.locator(f'[data-state="{id}"]')

    def expect_active(self, id: str, *, is_active: bool = True) -> None:
        pattern = re.compile(r"\bon\b")
        if is_active:
            expect(self.state(id)).to_have_class(pattern)
        else:
            expect(self.state(id)).not_to_have_class(pattern)

    def events(self) -> Locator:
        return self.page.get_by_role("list", name="Events").get_by_role("button")

    def write(self, event: str) -> None:
        self.page.get_by_label("Event as JSON").fill(event)
        self.page.get_by_role("button", name="Send", exact=True).click()

    def status(self) -> Locator:
        return self.page.locator(".bench-value")


@pytest.fixture
def door(pages: Pages, inspected: LiveServer) -> Inspector:
    return Inspector(pages, inspected)


def test_an_event_is_followed_live_and_its_transitions_are_lit(door: Inspector) -> None:
    door.expect_active("door.closed")
    door.send("OPEN")

    door.expect_active("door.open.light.on")
    door.expect_active("door.closed", is_active=False)
    expect(door.status()).to_have_text("open.(light.on, bell.silent)")
    lit = door.page.locator(".row.taken")
    expect(lit).to_have_count(2)
    expect(lit.first).to_contain_text("OPEN [mayOpen] / count")
    expect(door.page.get_by_role("list", name="Changed by this step")).to_contain_text("opened01")


def test_steps_back_and_forth_in_time(door: Inspector) -> None:
    for type in ("OPEN", "RING", "CLOSE"):
        door.send(type)
    door.expect_active("door.closed")
    expect(door.events()).to_have_count(4)
    door.page.keyboard.press("ArrowLeft")

    door.expect_active("door.open.bell.loud")
    expect(door.page.get_by_role("button", name="back to live")).to_contain_text("Step 3 of 4")
    door.page.keyboard.press("ArrowLeft")
    door.expect_active("door.open.bell.silent")
    door.page.keyboard.press("ArrowRight")
    door.expect_active("door.open.bell.loud")
    door.send("OPEN")
    expect(door.events()).to_have_count(5)
    door.expect_active("door.open.bell.loud")
    door.page.keyboard.press("Escape")
    door.expect_active("door.open.bell.silent")


def test_the_address_names_the_step_and_the_actor(pages: Pages, inspected: LiveServer) -> None:
    with inspected.client() as client:
        thread = client.talked()
    app = pages.open(inspected, f"/inspector/{thread}")
    app.page.get_by_role("list", name="Events").get_by_role("button").nth(2).click()
    app.page.get_by_role("list", name="Actors of this tree").get_by_role("button", name="chat").first.click()
    app.expect_address(r"actor=chat.*")
    app.expect_address(r"step=\d+")

    app.page.reload()

    expect(app.page.get_by_role("heading", level=1)).to_have_text("chat")
    expect(app.page.get_by_role("button", name="back to live")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.page).not_to_have_url(re.compile("step="))


def test_an_event_is_chosen_from_those_that_can_happen_and_sent(door: Inspector) -> None:
    now = door.page.locator(".events-now").get_by_role("button")
    expect(now).to_have_text(["OPEN", "BREAK"])
    now.first.click()
    expect(door.page.get_by_label("Event as JSON")).to_have_value('{\n  "type": "OPEN"\n}')
    door.page.get_by_label("Event as JSON").press("Control+Enter")

    expect(door.page.get_by_text("OPEN was taken.")).to_be_visible()
    door.expect_active("door.open.bell.silent")
    expect(now).to_have_text(["RING", "CLOSE"])


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ('{"type": "RING"}', "does not take RING now"),
        ('{"type": "xstate.init"}', "reserved"),
        ('{"type": 5}', "with a"),
        ("{", "not JSON"),
    ],
)
def test_a_refused_event_says_why_and_changes_nothing(door: Inspector, event: str, reason: str) -> None:
    door.write(event)

    expect(door.page.get_by_role("alert")).to_contain_text(reason)
    expect(door.events()).to_have_count(1)
    door.expect_active("door.closed")


def test_an_event_of_a_thread_is_checked_as_at_the_door(pages: Pages, inspected: LiveServer) -> None:
    with inspected.client() as client:
        thread = client.talked()
    app = pages.open(inspected, f"/inspector/{thread}")
    app.page.get_by_label("Event as JSON").fill('{"type": "RENAME", "title": 5}')
    app.button("Send", exact=True).click()

    expect(app.page.get_by_role("alert")).to_contain_text("title")


def test_a_branch_begins_at_a_step_and_says_that_side_effects_stay(door: Inspector) -> None:
    door.send("OPEN")
    door.send("RING")
    expect(door.events()).to_have_count(3)
    door.page.keyboard.press("ArrowLeft")
    door.expect_active("door.open.bell.silent")
    door.app.button("Branch from here").click()
    dialog = door.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Side effects stay done")
    dialog.get_by_role("button", name="Branch from step 2").click()

    door.page.wait_for_url(lambda url: "/inspector/" in url and door.root not in url)
    expect(door.events()).to_have_count(1)
    door.expect_active("door.open.bell.silent")
    door.write('{"type": "CLOSE"}')
    door.expect_active("door.closed")
    with door.server.client() as client:
        assert client.get(f"/actors/{door.root}")["actors"][0]["value"] == {"open": {"light": "on", "bell": "loud"}}


def test_actors_of_a_thread_are_a_tree_with_charts_of_their_own(pages: Pages, inspected: LiveServer) -> None:
    with inspected.client() as client:
        thread = client.talked(title="Trains")
    app = pages.open(inspected, f"/inspector/{thread}")
    tree = app.page.get_by_role("list", name="Actors of this tree")
    expect(app.page.get_by_role("link", name="Trains")).to_have_attribute("aria-current", "page")
    app.page.get_by_label("Filter events").fill("chunk reply")
    app.page.get_by_role("list", name="Events").get_by_role("button").first.click()
    tree.get_by_role("button", name="reply").click()

    expect(app.page.get_by_role("heading", name="chat/reply")).to_be_visible()
    expect(app.page.locator('[data-state="streaming.streaming"]')).to_have_class(re.compile(r"\bon\b"))
    expect(app.page.locator(".row.taken").first).to_contain_text("_CHUNK [isCurrentRequest]")
    tree.get_by_role("button", name="stream active").click()
    expect(app.page.get_by_text("is a task, which has no chart")).to_be_visible()


def test_events_are_filtered_and_steps_go_among_them(door: Inspector) -> None:
    for type in ("OPEN", "CLOSE", "OPEN", "CLOSE"):
        door.send(type)
    expect(door.events()).to_have_count(5)
    door.page.get_by_label("Filter events").fill("open")
    expect(door.events()).to_have_count(2)
    expect(door.page.get_by_text("2 of 5")).to_be_visible()
    door.page.get_by_role("heading", name="door").click()
    door.page.keyboard.press("ArrowLeft")
    door.page.keyboard.press("ArrowLeft")

    expect(door.page.get_by_role("button", name="back to live")).to_contain_text("Step 2 of 5")


def test_the_graph_is_laid_out_once_and_lit_without_another_layout(door: Inspector) -> None:
    door.view("Graph")
    canvas = door.page.locator(".canvas")
    expect(canvas).to_have_attribute("data-ready", "true")
    before = door.state("door.closed").locator("rect").first.bounding_box()
    door.send("OPEN")

    door.expect_active("door.open.light.on")
    expect(door.page.locator(".wire.taken")).to_have_count(2)
    expect(canvas).to_have_attribute("data-layouts", "1")
    door.send("CLOSE")
    door.expect_active("door.closed")
    assert door.state("door.closed").locator("rect").first.bounding_box() == before
    stored = door.page.evaluate("Object.keys(localStorage).filter(key => key.startsWith('antiphon.graph.')).length")
    assert stored == 1


FAILING_WORKER = """
onmessage = ({ data }) => postMessage(
  data.cmd === 'layout' ? { id: data.id, error: { message: 'no' } } : { id: data.id, data: {} },
);
"""


def test_a_layout_that_fails_becomes_the_outline(door: Inspector) -> None:
    door.page.route("**/elk-worker*", lambda route: route.fulfill(body=FAILING_WORKER, content_type="text/javascript"))
    door.view("Graph")

    expect(door.page.get_by_role("alert")).to_contain_text("could not be laid out")
    expect(door.page.get_by_role("list", name="States of door")).to_be_visible()


def test_the_layout_engine_is_served_unmodified_with_its_licence(door: Inspector) -> None:
    with door.page.expect_request(re.compile("elk-worker")) as asked:
        door.view("Graph")
    served = asked.value.response()
    assert served is not None
    licence = door.page.request.get("/assets/elkjs-license.txt")

    assert served.body() == Path("web/node_modules/elkjs/lib/elk-worker.min.js").read_bytes()
    assert "Eclipse Public License" in licence.text()
    assert "https://github.com/kieler/elkjs" in licence.text()


def test_the_outline_names_what_is_active_and_just_taken(door: Inspector) -> None:
    door.view("Outline")
    door.send("OPEN")
    outline = door.page.get_by_role("list", name="States of door")

    expect(outline.locator("[aria-current]")).to_have_count(2)
    expect(outline.get_by_role("button", name="silent initial (active)")).to_be_visible()
    expect(outline.locator("li.taken").first).to_contain_text("OPEN [mayOpen] / count → open (just taken)")
    outline.get_by_role("button", name="RING").click()
    expect(door.page.get_by_label("Event as JSON")).to_have_value('{\n  "type": "RING"\n}')


@pytest.mark.parametrize("view", ["Ladder", "Graph"])
def test_a_large_chart_is_readable_zoomed_and_searched(
    pages: Pages, inspected: LiveServer, screenshots: Path, view: str
) -> None:
    large = Inspector(pages, inspected, "large")
    large.view(view)
    canvas = large.page.locator(".canvas")
    expect(canvas).to_have_attribute("data-ready", "true", timeout=90_000)
    expect(large.page.locator(".canvas [data-state]")).to_have_count(67)
    assert float(canvas.get_attribute("data-scale") or 0) >= 0.8
    large.page.get_by_label("Find a state").fill("g4.s7")
    large.page.keyboard.press("Enter")
    expect(large.page.locator(".picked-state")).to_contain_text("large.g4.s7")
    expect(large.state("large.g4.s7").locator("rect").first).to_be_in_viewport()
    large.app.button("Fit the chart").click()
    expect(canvas).to_have_attribute("data-scale", re.compile(r"^(0\.[89]|1)"))
    large.app.shoot(screenshots, f"large-{view}-fit".lower())
    large.app.button("Show the whole chart").click()
    expect(canvas).not_to_have_attribute("data-scale", re.compile(r"^(0\.[89]|1)"))
    large.app.shoot(screenshots, f"large-{view}-whole".lower())
    if view == "Graph":
        names = canvas.locator(".part-name:visible")
        assert names.count() > 0
        assert min(box["height"] for name in names.all() if (box := name.bounding_box()) is not None) >= 11
    small = float(canvas.get_attribute("data-scale") or 0)
    large.app.button("Zoom in").click()
    expect(canvas).not_to_have_attribute("data-scale", f"{small:.2f}")


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the page."""
    transfer = page.evaluate_handle(
        "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name)); return data; }",
        [name, text],
    )
    page.dispatch_event(".inspector", "dragover", {"dataTransfer": transfer})
    page.dispatch_event(".inspector", "drop", {"dataTransfer": transfer})


def test_a_dropped_chart_is_drawn_without_the_server(pages: Pages, inspected: LiveServer) -> None:
    app = pages.open(inspected, "/inspector")
    expect(app.page.locator(".actor-root, .actors .hint").first).to_be_visible()
    expect(app.button("streaming")).to_be_visible()
    requests: list[str] = []
    app.page.on("request", lambda request: requests.append(request.url))
    drop(app.page, "door.json", json.dumps(DOOR))

    expect(app.page.locator('[data-state="door.open.bell.silent"]')).to_be_visible()
    expect(app.page.get_by_role("heading", name="door.json")).to_be_visible()
    assert [url for url in requests if "/assets/" not in url] == []
    drop(app.page, "wrong.json", '{"states": {"a": {"on": {"GO": "nowhere"}}}}')
    expect(app.page.get_by_role("alert")).to_contain_text("wrong.json: this chart cannot be read")
    app.button("Close").click()
    expect(app.page.get_by_role("heading", name="Inspector")).to_be_visible()


def test_a_journal_of_an_export_is_opened_and_gets_its_chart_dropped(pages: Pages, inspected: LiveServer) -> None:
    lines: list[dict[str, Any]] = [
        {"antiphon": "export", "format": 1, "boots": 1},
        {"tree": {"id": "old", "machine": "gate", "hash": "2:x", "seq": 2}},
        {
            "step": {
                "seq": 1,
                "at": 1,
                "to": "",
                "letter": None,
                "body": {"event": {"type": "xstate.init"}, "value": "closed"},
            }
        },
        {
            "step": {
                "seq": 2,
                "at": 9,
                "to": "",
                "letter": None,
                "body": {"event": {"type": "BREAK"}, "value": "broken"},
            }
        },
        {"end": {"tree": 1}},
    ]
    app = pages.open(inspected, "/inspector")
    drop(app.page, "store.jsonl", "\n".join(map(json.dumps, lines)))
    expect(app.page.get_by_text("The file has no chart of this actor.")).to_be_visible()
    drop(app.page, "door.json", json.dumps(DOOR))

    expect(app.page.locator('[data-state="door.broken"]')).to_have_class(re.compile(r"\bon\b"))
    app.page.keyboard.press("ArrowLeft")
    expect(app.page.locator('[data-state="door.closed"]')).to_have_class(re.compile(r"\bon\b"))


def test_a_saved_journal_is_opened_again(door: Inspector, tmp_path: Path) -> None:
    door.send("OPEN")
    expect(door.events()).to_have_count(2)
    with door.page.expect_download() as saved:
        door.app.button("Save the journal").click()
    saved.value.save_as(tmp_path / "saved.json")
    door.page.get_by_label("Open a file…").set_input_files(tmp_path / "saved.json")

    expect(door.page.get_by_role("heading", name="saved.json")).to_be_visible()
    expect(door.events()).to_have_count(2)
    door.expect_active("door.open.bell.silent")


def test_a_saved_journal_of_a_thread_shows_its_states_as_far_as_they_are_known(door: Inspector, tmp_path: Path) -> None:
    with door.server.client() as client:
        thread = client.talked()
    door.page.goto(f"/inspector/{thread}")
    with door.page.expect_download() as saved:
        door.app.button("Save the journal").click()
    saved.value.save_as(tmp_path / "saved.json")
    door.page.get_by_label("Open a file…").set_input_files(tmp_path / "saved.json")
    expect(door.page.get_by_text("saved.json").first).to_be_visible()
    actors = door.page.get_by_label("Actors of this tree")

    expect(actors.get_by_role("button").first).to_have_text("threadcompleted")
    expect(door.page.get_by_text("steps of other actors may have changed it")).to_have_count(0)
    door.page.keyboard.press("ArrowLeft")
    expect(actors.get_by_role("button").first).to_contain_text("running at step")
    expect(door.page.get_by_text("steps of other actors may have changed it")).to_be_visible()


def test_a_copied_test_passes(door: Inspector, tmp_path: Path) -> None:
    with door.server.client() as client:
        thread = client.talked()
    door.page.goto(f"/inspector/{thread}")
    door.app.button("Copy as test").click()
    text = door.page.get_by_role("dialog").get_by_label("Test").input_value()
    (tmp_path / "test_copied.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "test_thread_after_step_" in text
    assert ran.returncode == 0, ran.stdout


def test_everything_is_done_by_keyboard_alone(door: Inspector) -> None:
    page = door.page
    door.expect_active("door.closed")

    def tab_to(name: str, role: Any = "button") -> None:
        target = page.get_by_role(role, name=name).first
        for _ in range(60):
            if target.evaluate("element => element === document.activeElement"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{name} cannot be reached by Tab")

    tab_to("Outline")
    page.keyboard.press("Enter")
    tab_to("OPEN")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Event as JSON")).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(door.events()).to_have_count(2)
    tab_to("Branch from here")
    page.keyboard.press("ArrowLeft")
    expect(door.status()).to_have_text("closed")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(door.page.get_by_role("button", name="back to live")).to_be_visible()


@pytest.mark.parametrize("view", ["Ladder", "Graph", "Outline"])
def test_axe_finds_nothing_serious(door: Inspector, view: str, screenshots: Path) -> None:
    door.send("OPEN")
    door.view(view)
    door.page.wait_for_selector("[data-ready=true]")
    expect(door.events()).to_have_count(2)

    assert door.app.serious_faults() == []
    door.app.shoot(screenshots, f"inspector-{view.lower()}")


def test_axe_finds_nothing_serious_without_an_actor(pages: Pages, inspected: LiveServer, screenshots: Path) -> None:
    app = pages.open(inspected, "/inspector")
    app.button("streaming").click()
    expect(app.page.locator('[data-state="streaming.idle"]')).to_be_visible()
    of_chart = app.serious_faults()
    app.shoot(screenshots, "inspector-chart")
    app.button("Close").click()
    expect(app.button("streaming")).to_be_visible()

    assert of_chart == []
    assert app.serious_faults() == []
    app.shoot(screenshots, "inspector-start")


def test_a_narrow_window_shows_the_outline_and_scrolls_down_only(
    pages: Pages, inspected: LiveServer, screenshots: Path
) -> None:
    door = Inspector(pages, inspected, viewport={"width": 390, "height": 844})
    expect(door.page.get_by_role("list", name="States of door")).to_be_visible()

    assert door.page.evaluate("document.documentElement.scrollWidth") <= 390
    assert door.page.evaluate("document.querySelector('.inspector').scrollWidth") <= 390
    assert door.app.serious_faults() == []
    door.app.shoot(screenshots, "inspector-narrow")


def test_a_running_thread_is_followed(pages: Pages, inspected: LiveServer, screenshots: Path) -> None:
    with inspected.client() as client:
        thread = client.chat(title="A chat that runs")
        app = pages.open(inspected, f"/inspector/{thread}")
        expect(app.page.locator(".bench-value")).to_have_text("pending")
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})

    expect(app.page.locator(".bench-value")).to_have_text("completed")
    app.shoot(screenshots, "inspector-thread")


def test_a_connection_that_was_cut_goes_on(door: Inspector) -> None:
    door.expect_active("door.closed")
    door.page.context.set_offline(True)
    door.send("OPEN")
    door.page.context.set_offline(False)

    door.expect_active("door.open.bell.silent")
    expect(door.events()).to_have_count(2)


def test_a_step_that_could_not_be_read_is_read_again(door: Inspector) -> None:
    door.expect_active("door.closed")
    failures = iter([True, True])
    door.page.route("**/step?*", lambda route: route.abort() if next(failures, False) else route.continue_())
    door.send("OPEN")

    door.expect_active("door.open.bell.silent")
    expect(door.page.get_by_role("alert")).to_have_count(0)


def test_earlier_events_of_a_long_journal_are_loaded_on_demand(pages: Pages, inspected: LiveServer) -> None:
    async def create(app: App) -> str:
        root = await app.runtime.create("large")
        for _ in range(700):
            await app.runtime.send(root, {"type": "NEXT"})
        return root

    root = inspected.call(create)
    app = pages.open(inspected, f"/inspector/{root}")
    events = app.page.get_by_role("list", name="Events").get_by_role("button")
    expect(events).to_have_count(500)
    expect(app.page.locator(".bench-value")).to_have_text("g0.s0")
    app.button("Load earlier events").click()

    expect(events).to_have_count(701)
    expect(app.button("Load earlier events")).to_have_count(0)
    app.page.get_by_role("heading", name="large").click()
    app.page.keyboard.press("Home")
    expect(app.page.get_by_role("button", name="back to live")).to_contain_text("Step 1 of 701")


def test_a_deleted_tree_says_so(door: Inspector) -> None:
    door.expect_active("door.closed")

    async def delete(app: App) -> None:
        await app.runtime.delete(door.root)
        await asyncio.sleep(0)

    door.server.call(delete)

    expect(door.page.get_by_role("alert")).to_contain_text("was deleted after step 1")


def test_an_actor_that_does_not_exist_is_said_so_once(door: Inspector) -> None:
    door.page.goto("/inspector/nothing")

    expect(door.page.get_by_role("alert")).to_contain_text("This actor cannot be shown")
    expect(door.page.get_by_text("Loading…")).to_have_count(0)
    door.page.get_by_role("link", name="All actors").click()
    expect(door.page).to_have_url(re.compile(r"/inspector$"))


MODULE = """
from antiphon import assign, setup

counter = setup(actions={"count": assign({"n": lambda context, event: context["n"] + event["by"]})}).create_machine(
    {"id": "counter", "context": {"n": 0}, "on": {"COUNT": {"actions": "count"}}}
)
"""


def test_a_machine_of_the_user_is_opened_driven_and_copied_as_a_test(
    pages: Pages, browser: Browser, tmp_path: Path
) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    command = [sys.executable, "-m", "antiphon", "inspect", "--no-open", "shop:counter"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert process.stdout is not None
    try:
        page = browser.new_context().new_page()
        page.goto(process.stdout.readline().strip())
        expect(page.get_by_role("heading", name="counter")).to_be_visible()
        page.get_by_label("Event as JSON").fill('{"type": "COUNT", "by": 3}')
        page.get_by_role("button", name="Send", exact=True).click()
        expect(page.get_by_role("list", name="Changed by this step")).to_contain_text("n03")
        page.get_by_role("button", name="Copy as test").click()
        text = page.get_by_role("dialog").get_by_label("Test").input_value()
        page.context.close()
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()
    (tmp_path / "test_copied.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_copied.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert "from shop import counter as MACHINE" in text
    assert 'assert snapshot["context"]["n"] == 3' in text
    assert ran.returncode == 0, ran.stdout
