"""Markdown of models in the browser: what its lists and tables say, tags, and replies of a megabyte."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages
from tests.e2e.test_chat import open_chat
from tests.fixtures.server import LiveServer

Script = Callable[[str], str]
LISTS = """
5. five
6. six

- [ ] open task
- [x] task that is done

| left | right | middle |
|:-----|------:|:------:|
| 1    |     2 |   3    |
"""


def answered(pages: Pages, server: LiveServer, script: Script, text: str) -> WebApp:
    return open_chat(pages, server, script(f"[[replies]]\nsteps = [{{ text = '''{text}''' }}]"), "Write")


def test_numbers_boxes_and_columns_are_those_of_the_text(
    pages: Pages, server: LiveServer, script: Script, screenshots: Path
) -> None:
    app = answered(pages, server, script, LISTS)
    reply = app.rows().last

    expect(reply.locator("ol")).to_have_attribute("start", "5")
    expect(reply.get_by_role("checkbox")).to_have_count(2)
    expect(reply.get_by_role("checkbox").first).not_to_be_checked()
    expect(reply.get_by_role("checkbox").last).to_be_checked()
    expect(reply.get_by_role("checkbox").last).to_be_disabled()
    expect(reply.locator("td").nth(1)).to_have_css("text-align", "right")
    expect(reply.locator("td").nth(2)).to_have_css("text-align", "center")
    app.shoot(screenshots, "markdown")
    assert app.serious_faults() == []
