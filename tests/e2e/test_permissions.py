"""Cards of permission in the browser: the tool of an MCP server, what is seen of its arguments, and the keyboard."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest
from playwright.sync_api import Locator, expect

from antiphon.app import App
from antiphon.providers.registry import Models
from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages
from tests.e2e.test_chat import open_chat, thread_of
from tests.fixtures import mcp_tools
from tests.fixtures.server import LiveServer, live_server

Script = Callable[[str], str]
TOOL = "notes__echo"
HARM = '<img src=x onerror="window.harm = 1"><script>window.harm = 1</script>'
TURNED = "\u202etxt.exe"


class AppWithServer(App):
    """An app whose tools are those of an MCP server in a process of its own."""

    def __init__(self, path: Path) -> None:
        self.servers = mcp_tools.toolbox(mcp_tools.server("ok", name="notes"))
        super().__init__(path, models=Models(), toolbox=self.servers)

    async def __aenter__(self) -> Self:
        await self.servers.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *reason: object) -> None:
        await super().__aexit__(*reason)
        await self.servers.__aexit__(None, None, None)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[LiveServer]:
    with live_server(app=lambda: AppWithServer(tmp_path / "t.db")) as server:
        yield server


def echoing(text: str) -> str:
    """A script whose model calls the tool of the MCP server, and says something about the result."""
    return f"""
[[replies]]
after = "{TOOL}"
steps = [{{ text = "It was said again." }}]
[[replies]]
steps = [{{ tool = "{TOOL}", arguments = {{ text = {json.dumps(text)} }} }}]
"""


def open_card(pages: Pages, server: LiveServer, model: str) -> tuple[WebApp, Locator]:
    """A chat whose model wants to call the tool; return its page and the card that asks."""
    app = open_chat(pages, server, model, "Go on", tools=[TOOL], consent={"mode": "ask"})
    card = app.page.get_by_role("region", name=f": {TOOL}")
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
    return app, card


def fits(card: Locator) -> bool:
    """Whether nothing in a card is wider than what is seen of it."""
    return bool(
        card.evaluate(
            """card => [card, ...card.querySelectorAll('*')].every((element) =>
                element.scrollWidth <= element.clientWidth + 1 || element.clientWidth === 0)
                && card.scrollWidth <= card.clientWidth + 1"""
        )
    )


def test_the_tool_of_an_mcp_server_is_asked_for_allowed_and_shown(
    pages: Pages, served: LiveServer, script: Script, screenshots: Path
) -> None:
    app, card = open_card(pages, served, script(echoing(HARM)))
    expect(card.get_by_text(f"wants to call {TOOL}")).to_be_visible()
    expect(card).to_contain_text("<script>window.harm = 1</script>")
    app.shoot(screenshots, "mcp-permission")
    assert app.serious_faults() == []

    card.get_by_role("button", name="Allow once").click()

    app.expect_state("completed")
    call = app.page.locator(".card.tool")
    expect(call.locator(".card-name")).to_have_text(TOOL)
    call.locator("summary").click()
    expect(call.get_by_role("region").last).to_have_text(HARM)
    expect(app.rows().last).to_contain_text("It was said again.")
    assert call.locator("img, script").count() == 0
    assert app.page.evaluate("window.harm") is None


@pytest.mark.parametrize("width", [1280, 390])
def test_arguments_without_blanks_are_seen_to_their_end(
    pages: Pages, served: LiveServer, script: Script, width: int
) -> None:
    app, card = open_card(pages, served, script(echoing("w" * 1500 + TURNED)))
    app.page.set_viewport_size({"width": width, "height": 844})

    expect(card).to_contain_text("‹U+202E›txt.exe")

    assert fits(card)
    assert not app.has_sideways_scrolling()


def test_the_head_of_a_card_shows_how_long_it_waits_on_a_narrow_page(
    pages: Pages, served: LiveServer, script: Script, screenshots: Path
) -> None:
    app, card = open_card(pages, served, script(echoing("a word")))
    app.page.set_viewport_size({"width": 320, "height": 844})
    clock = card.locator(".card-time")
    # As long as the line of a request that expires in hours.
    clock.evaluate("clock => { clock.textContent = 'waiting 12:59:59 · expires in 23:59:59' }")

    assert fits(card)
    app.shoot(screenshots, "mcp-permission-narrow")


def test_the_form_of_a_call_shows_what_its_field_hides(
    pages: Pages, served: LiveServer, script: Script, screenshots: Path
) -> None:
    app, card = open_card(pages, served, script(echoing(f"gnp{TURNED}")))

    card.get_by_role("button", name="Edit…").click()

    expect(card.get_by_text("Sent as gnp‹U+202E›txt.exe")).to_be_visible()
    app.shoot(screenshots, "mcp-permission-edit")
    card.get_by_label("text").fill("plain")
    expect(card.get_by_text("Sent as")).to_have_count(0)


@pytest.mark.parametrize("form", ["Deny…", "Edit…"])
@pytest.mark.parametrize("way", ["Back", "Escape"])
def test_a_form_of_a_card_takes_the_focus_and_gives_it_back(
    pages: Pages, served: LiveServer, script: Script, form: str, way: str
) -> None:
    app, card = open_card(pages, served, script(echoing("a word")))
    button = card.get_by_role("button", name=form)
    button.focus()

    app.page.keyboard.press("Enter")
    expect(card.get_by_role("textbox")).to_be_focused()
    if way == "Back":
        card.get_by_role("button", name="Back").focus()
        app.page.keyboard.press("Enter")
    else:
        app.page.keyboard.press("Escape")

    expect(card.get_by_role("button", name=form)).to_be_focused()


def test_the_focus_stays_where_a_call_was_allowed(pages: Pages, served: LiveServer, script: Script) -> None:
    app, card = open_card(pages, served, script(echoing("a word")))
    card.get_by_role("button", name="Allow once").focus()

    app.page.keyboard.press("Enter")

    app.expect_state("completed")
    expect(app.page.get_by_role("log")).to_be_focused()
    with served.client() as client:
        assert client.get(f"/threads/{thread_of(app)}")["status"] == "completed"
