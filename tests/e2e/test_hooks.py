"""The hooks of `@antiphon/machines` in a browser, with a real server behind them."""

import mimetypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from antiphon.app import App
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from tests.e2e.fixtures import Pages
from tests.fixtures.debates import PRICES, brief
from tests.fixtures.server import LiveServer, live_server
from tests.paths import ROOT

TOPIC = "Should a city close its centre to private cars?"
SLOW = """
[[replies]]
when = "slow"
steps = [{ text = "one " }, { delay_ms = 60000 }, { text = "two" }]
[[replies]]
when = "fail$"
steps = [{ error = "9003", message = "no such model" }]
[[replies]]
steps = [{ text = "Hello " }, { text = "there" }]
"""


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with the hooks, built."""
    folder = tmp_path_factory.mktemp("hooks")
    config = "packages/machines/e2e/vite.config.ts"
    command = ["npx", "--no", "vite", "build", "--config", config, "--outDir", str(folder), "--emptyOutDir"]
    subprocess.run(command, cwd=ROOT / "web", check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture
def debates() -> Iterator[LiveServer]:
    models = Models(openers={"scripted": brief})
    with live_server(app=lambda: App(":memory:", models=models, prices=Prices(PRICES))) as server:
        yield server


def open_hooks(pages: Pages, server: LiveServer, hooks: Path, query: str) -> Page:
    """Open the page as if the server had it."""

    def serve(route: Route) -> None:
        name = route.request.url.partition("/hooks/")[2].partition("?")[0] or "index.html"
        kind = mimetypes.guess_type(name)[0] or "text/html"
        route.fulfill(body=(hooks / name).read_bytes(), content_type=kind)

    context = pages.context(server)
    context.route("**/hooks/**", serve)
    return pages.tab(server, context, f"/hooks/?{query}").page


def shown(page: Page, section: str, label: str) -> Locator:
    return page.get_by_role("region", name=section).get_by_label(label, exact=True)


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def say(page: Page, text: str) -> None:
    page.get_by_label("Prompt").fill(text)
    press(page, "Send")


@pytest.fixture
def chat(pages: Pages, server: LiveServer, hooks: Path, script: Callable[[str], str]) -> Page:
    with server.client() as client:
        id = client.post("/threads", {"kind": "chat", "model": script(SLOW)})["id"]
    return open_hooks(pages, server, hooks, f"chat={id}")


@pytest.mark.requirement("S0-56", "S0-61", "S0-63", "S0-T23", "S0-T30", "S0-T33")
def test_a_prompt_streams_to_its_end_and_the_next_follows(chat: Page) -> None:
    expect(shown(chat, "Chat", "State")).to_have_text("idle")
    for _ in range(2):
        say(chat, "Hi")
        expect(shown(chat, "Chat", "State")).to_have_text("complete")
        expect(shown(chat, "Chat", "Text")).to_have_text("Hello there")
        expect(shown(chat, "Chat", "Flags")).to_have_text("isComplete")

    expect(shown(chat, "Chat", "Messages")).to_have_text("4")


@pytest.mark.requirement("S0-61", "S0-86", "S0-B5")
def test_a_reply_in_flight_refuses_a_prompt_and_is_stopped_with_its_text(chat: Page) -> None:
    say(chat, "slow")
    expect(shown(chat, "Chat", "Text")).to_have_text("one")
    expect(shown(chat, "Chat", "Flags")).to_have_text("isLoading")
    press(chat, "Send")
    expect(shown(chat, "Chat", "Problem")).to_have_text("Busy")
    press(chat, "Stop")

    expect(shown(chat, "Chat", "State")).to_have_text("idle")
    expect(shown(chat, "Thread", "Status")).to_have_text("stopped")
    expect(shown(chat, "Chat", "Text")).to_have_text("one")


@pytest.mark.requirement("S0-62", "S0-60", "S0-T31", "S0-T32")
def test_an_error_is_shown_and_the_next_prompt_streams(chat: Page) -> None:
    say(chat, "fail")
    expect(shown(chat, "Chat", "Flags")).to_have_text("isError")
    expect(shown(chat, "Chat", "Error")).to_have_text("no such model")
    press(chat, "Reset")
    expect(shown(chat, "Chat", "State")).to_have_text("idle")

    say(chat, "Hi")
    expect(shown(chat, "Chat", "Text")).to_have_text("Hello there")


@pytest.mark.requirement("S0-66")
def test_leaving_the_page_stops_listening_and_not_the_work(chat: Page) -> None:
    say(chat, "slow")
    expect(shown(chat, "Chat", "Text")).to_have_text("one")
    press(chat, "Leave")
    press(chat, "Leave")

    expect(shown(chat, "Chat", "State")).to_have_text("idle")
    expect(shown(chat, "Thread", "Status")).to_have_text("running")


@pytest.mark.requirement("S3-03", "S3-09")
def test_a_thread_follows_the_server_and_refuses_what_its_chart_refuses(chat: Page) -> None:
    expect(shown(chat, "Thread", "Status")).to_have_text("pending")
    say(chat, "Hi")
    expect(shown(chat, "Thread", "Status")).to_have_text("completed")
    press(chat, "Stop thread")

    refusal = "STOP is not possible now; possible: START, RESTART, FOLLOW_UP, MERGED, ARCHIVE, UNARCHIVE, RENAME"
    expect(shown(chat, "Thread", "Refusal")).to_have_text(refusal)


@pytest.mark.requirement("S4-119", "S0-98")
def test_a_draft_is_there_after_a_reload_and_the_machine_begins_anew(chat: Page) -> None:
    say(chat, "Hi")
    expect(shown(chat, "Chat", "State")).to_have_text("complete")
    chat.get_by_label("Prompt").fill("Half a")
    chat.reload()

    expect(chat.get_by_label("Prompt")).to_have_value("Half a")
    expect(shown(chat, "Chat", "State")).to_have_text("idle")


@pytest.mark.requirement("S4-118")
def test_a_debate_is_held_by_its_hooks(pages: Pages, debates: LiveServer, hooks: Path) -> None:
    settings = {"kind": "debate", "topic": TOPIC, "models": ["scripted:debate"], "maxRounds": 2, "costLimit": 1.0}
    with debates.client() as client:
        id = client.post("/threads", settings)["id"]
    page = open_hooks(pages, debates, hooks, f"debate={id}")

    expect(shown(page, "Debate", "Topic")).to_have_text(TOPIC)
    expect(page.get_by_role("button", name="PAUSE")).to_be_disabled()
    press(page, "START_DEBATE")
    press(page, "PAUSE")
    expect(shown(page, "Debate", "State")).to_have_text("paused")
    press(page, "RESUME")

    expect(shown(page, "Debate", "State")).to_have_text("completed")
    expect(shown(page, "Debate", "Winner")).to_have_text("for")
    expect(shown(page, "Debate", "Round")).to_have_text("2 of 2")
