"""Long names and narrow pages: titles, topics, names and branches stay within the page, and nothing covers another."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.debates import Stage, debaters, open_stage
from tests.e2e.fixtures import Pages
from tests.e2e.test_chat import open_chat
from tests.fixtures.server import LiveServer

LONG = "w" * 300
NARROW = {"width": 390, "height": 844}


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with open_stage(tmp_path / "threads.db") as stage:
        yield stage


def right_of(place: Locator) -> float:
    box = place.bounding_box()
    assert box is not None
    return box["x"] + box["width"]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_long_word_in_a_topic_stays_in_the_page(pages: Pages, stage: Stage, screenshots: Path, width: int) -> None:
    id = stage.create(is_started=False, topic=f"Should {LONG}")
    app = pages.open(stage.server, f"/debates/{id}", viewport={"width": width, "height": 844})
    expect(app.button("Start")).to_be_visible()

    assert not app.has_sideways_scrolling()
    app.shoot(screenshots, f"debate-long-topic-{width}")


def test_a_long_name_is_whole_in_the_notice_of_a_pause(pages: Pages, stage: Stage, screenshots: Path) -> None:
    stage.gate.close()
    first, second = debaters("for", "against")
    id = stage.create(participants=[{**first, "name": "B" * 60}, second])
    app = pages.open(stage.server, f"/debates/{id}", viewport=NARROW)
    expect(app.page.get_by_text("Half the ground of our centre belongs to")).to_be_visible()

    app.button("Pause", exact=False).click()
    notice = app.page.locator(".notice").filter(has_text="was cut after")

    expect(notice).to_be_visible()
    assert right_of(notice.locator("p").first) <= NARROW["width"]
    assert notice.evaluate("notice => notice.scrollWidth <= notice.clientWidth")
    app.shoot(screenshots, "debate-long-name")


def test_the_model_stays_readable_beside_a_long_title(pages: Pages, server: LiveServer, screenshots: Path) -> None:
    app = open_chat(pages, server, "scripted:demo", title="A title of many words " * 8)
    button = app.button("scripted:demo")

    assert button.evaluate("button => button.scrollWidth <= button.clientWidth + 1")
    assert not app.has_sideways_scrolling()
    app.shoot(screenshots, "chat-long-title")


def test_a_merge_of_a_long_branch_fits_a_narrow_page(pages: Pages, server: LiveServer, screenshots: Path) -> None:
    app = open_chat(pages, server, "scripted:demo", "Hello")
    with server.client() as client:
        thread = app.page.url.rpartition("/")[2].partition("?")[0]
        client.post(f"/threads/{thread}/branches", {"name": f"Other{'w' * 200}", "turn": 0})
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})
        server.wait_until_idle(thread)
    app.page.reload()
    app.button("Branches 2").click()
    app.use_menu("Actions of branch main", "Merge into", exact=False)
    app.page.set_viewport_size(NARROW)

    dialog = app.dialog()
    expect(dialog.get_by_role("button", name="Close")).to_be_in_viewport(ratio=1)
    expect(dialog.get_by_role("button", name="Show both sides")).to_be_in_viewport(ratio=1)
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    app.shoot(screenshots, "merge-long-name")


@pytest.mark.parametrize("path", ["/chats/nope", "/inspector/nope"])
def test_an_address_without_a_thread_says_so_once_and_leads_on(
    pages: Pages, server: LiveServer, screenshots: Path, path: str
) -> None:
    app = pages.open(server, path, viewport=NARROW)
    alert = app.page.get_by_role("alert")
    expect(alert).to_contain_text("cannot be shown")

    expect(app.page.get_by_role("heading", level=1)).to_have_count(1)
    expect(app.page.get_by_text("Loading…")).to_have_count(0)
    expect(app.page.get_by_text("takes no event")).to_have_count(0)
    card = alert.bounding_box()
    menu = app.button("Threads").bounding_box()
    assert card is not None
    assert menu is not None
    assert card["y"] >= menu["y"] + menu["height"]
    app.shoot(screenshots, f"missing-{path.split('/')[1]}")
    assert app.serious_faults() == []
    alert.get_by_role("link").click()
    app.expect_address(r"/(inspector)?$")
