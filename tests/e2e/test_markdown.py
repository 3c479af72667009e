"""Markdown of models in the browser: what its lists and tables say, tags, and very long replies."""

from collections.abc import Callable
from pathlib import Path

import pytest
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
PARAGRAPHS = 6_000


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


def test_tags_are_shown_as_the_model_wrote_them(pages: Pages, server: LiveServer, script: Script) -> None:
    text = "Use <b>x</b> and </div>, then <Foo>. H<sub>2</sub>O\n\n<details open ontoggle=alert(1)>x</details>"
    app = answered(pages, server, script, text)
    reply = app.rows().last.locator(".markdown")

    expect(reply).to_contain_text("Use <b>x</b> and </div>, then <Foo>. H2O")
    expect(reply).to_contain_text("<details open ontoggle=alert(1)>x</details>")
    assert reply.locator("b, details").count() == 0


@pytest.mark.parametrize("way", ["sent", "opened"])
def test_a_very_long_reply_has_few_blocks_in_the_document(
    pages: Pages, server: LiveServer, script: Script, way: str
) -> None:
    text = "".join(f"Paragraph {number} with **bold** and `code`.\n\n" for number in range(PARAGRAPHS))
    model = script(f"[[replies]]\nsteps = [{{ text = '''{text}''' }}]")
    app = open_chat(pages, server, model, *(["Write"] if way == "opened" else []))
    if way == "sent":
        app.send("Write")

    app.expect_state("completed")
    last = app.page.get_by_text(f"Paragraph {PARAGRAPHS - 1} with bold and code.")
    expect(last).to_be_in_viewport()
    assert app.page.locator(".markdown p").count() < 1_000

    app.page.locator(".log").hover()
    app.page.mouse.wheel(0, -20_000)
    expect(last).not_to_be_in_viewport()
    seen = app.page.locator(".markdown p").filter(visible=True)
    expect(seen.first).to_be_visible()
    app.page.wait_for_function(
        """() => [...document.querySelectorAll('.markdown p')].some((words) => {
            const { top, bottom } = words.getBoundingClientRect();
            return top > 100 && bottom < 600;
        })"""
    )
