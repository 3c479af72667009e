"""The thread machine in the page of a chat: what a person does is seen at once, and the server decides."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.fixtures import Pages
from tests.e2e.test_chat import QUICK, SLOW, open_chat
from tests.fixtures.server import LiveServer

Script = Callable[[str], str]


@pytest.mark.requirement("S3-09")
def test_a_message_and_stop_are_seen_before_the_server_answers(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_chat(pages, server, script(SLOW))
    waiting: list[Route] = []
    app.page.route("**/messages", lambda route: waiting.append(route))
    app.page.route("**/stop", lambda route: waiting.append(route))

    app.send("Count")
    app.expect_state("running")
    waiting.pop().continue_()
    expect(app.page.get_by_text("word3")).to_be_visible()
    app.button("Stop").click()
    app.expect_state("stopped")
    waiting.pop().continue_()

    expect(app.button("Send")).to_be_visible()
    app.expect_state("stopped")


@pytest.mark.requirement("S3-03")
def test_a_message_that_the_server_refuses_was_not_sent(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_chat(pages, server, script(QUICK), "Hello")
    problem = {"code": "busy", "detail": "the thread is running", "title": "Busy", "status": 409}
    app.page.route("**/messages", lambda route: route.fulfill(status=409, json=problem))

    app.send("More")

    expect(app.page.get_by_text("the thread is running")).to_be_visible()
    app.expect_state("completed")
    expect(app.message_field()).to_have_value("More")
