"""Figures and actions of replies in the browser: stopped, regenerated, and clicked twice."""

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import FilePayload, expect

from tests.e2e.fixtures import Pages
from tests.e2e.test_chat import QUICK, SLOW, open_chat, thread_of
from tests.fixtures.server import LiveServer

Script = Callable[[str], str]
SECONDS = re.compile(r"\d+\.\d s")


def test_a_stopped_reply_shows_its_time_and_about_its_tokens(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW))
    app.send("Count")
    expect(app.live()).to_contain_text("word3")

    app.button("Stop").click()

    app.expect_state("stopped")
    expect(app.rows().last).to_contain_text(re.compile(r"about \d+ tokens"))
    expect(app.rows().last).to_contain_text(SECONDS)


def test_a_regenerated_reply_does_not_show_the_time_since_its_question(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_chat(pages, server, script(QUICK), "Hello")
    expect(app.rows().last).to_contain_text(SECONDS)
    with server.client() as client:
        client.post(f"/threads/{thread_of(app)}/retry")
        server.wait_until_idle(thread_of(app))

    app.page.reload()

    expect(app.rows().last).to_contain_text("2/2")
    expect(app.rows().last).to_contain_text("tokens")
    expect(app.rows().last).not_to_contain_text(SECONDS)


def test_a_reply_that_was_seen_from_its_beginning_shows_its_own_time(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_chat(pages, server, script(SLOW), "Count")

    app.rows().last.get_by_role("button", name="Regenerate").click()
    expect(app.live()).to_contain_text("word3")

    expect(app.rows().last).to_contain_text("2/2")
    app.expect_state("completed")
    expect(app.rows().last).to_contain_text(SECONDS)


def test_a_double_click_on_regenerate_asks_for_one_reply(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(SLOW), "Count")

    app.rows().last.get_by_role("button", name="Regenerate").dblclick()

    expect(app.rows().last).to_contain_text("2/2")
    app.expect_state("completed")
    expect(app.page.locator(".toast.error")).to_have_count(0)
    expect(app.rows().last).to_contain_text("2/2")


def test_files_that_were_sent_are_folded_with_their_names(pages: Pages, server: LiveServer, screenshots: Path) -> None:
    app = open_chat(pages, server, "scripted:demo", "One")
    files: list[FilePayload] = [
        {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"first line\n"},
        {"name": "gnp\u202etxt.exe", "mimeType": "text/plain", "buffer": b"<b>x</b>"},
    ]
    app.page.get_by_label("Files to attach").set_input_files(files)
    expect(app.page.get_by_role("list", name="Attached files")).to_contain_text("gnp‹U+202E›txt.exe")
    app.send("Read these")
    app.expect_state("completed")
    message = app.rows().nth(2)

    cards = message.locator("details.card")
    expect(cards.locator(".card-name")).to_have_text(["notes.txt", "gnp‹U+202E›txt.exe"])
    expect(message.locator(".said")).to_have_text("Read these")
    expect(message.get_by_text("first line")).not_to_be_visible()
    cards.first.locator("summary").click()
    expect(message.get_by_text("first line")).to_be_visible()
    app.shoot(screenshots, "chat-files")
    assert app.serious_faults() == []


def test_the_key_of_regenerate_pressed_twice_asks_for_one_reply(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_chat(pages, server, script(SLOW), "Count")
    app.page.get_by_role("log").focus()

    app.page.keyboard.press("r")
    app.page.keyboard.press("r")

    expect(app.rows().last).to_contain_text("2/2")
    app.expect_state("completed")
    expect(app.page.locator(".toast.error")).to_have_count(0)
    expect(app.rows().last).to_contain_text("2/2")
