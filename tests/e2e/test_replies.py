"""Figures and actions of replies in the browser: stopped, regenerated, and clicked twice."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

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
