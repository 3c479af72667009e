"""The web app in a page: what a person sees of it and does with it."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.fixtures.server import LiveServer

AXE = Path("web/node_modules/axe-core/axe.min.js")
THEMES = ("light", "dark")


class WebApp:
    """A page with the app."""

    def __init__(self, page: Page, server: LiveServer) -> None:
        self.page = page
        self.server = server

    def go(self, path: str) -> None:
        self.page.goto(path)

    def button(self, name: str, *, exact: bool = True) -> Locator:
        return self.page.get_by_role("button", name=name, exact=exact)

    def message_field(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message")

    def send(self, text: str) -> None:
        self.message_field().fill(text)
        self.message_field().press("Enter")

    def rows(self) -> Locator:
        """The messages that are in the document, without the reply in progress."""
        return self.page.locator("article[data-message]")

    def live(self) -> Locator:
        return self.page.locator("article[data-live]")

    def texts(self) -> Locator:
        """The texts of the messages that are shown, without names and buttons."""
        return self.page.locator("article[data-message] :is(.said, .markdown)")

    def expect_texts(self, *texts: str) -> None:
        expect(self.texts()).to_have_text(list(texts))

    def state(self) -> Locator:
        return self.page.locator(".chat-head .plate")

    def expect_state(self, state: str) -> None:
        expect(self.state()).to_have_text(state)

    def use_menu(self, menu: str, item: str, *, exact: bool = True) -> None:
        self.button(menu).click()
        self.button(item, exact=exact).click()

    def dialog(self) -> Locator:
        return self.page.get_by_role("dialog")

    def has_sideways_scrolling(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def set_theme(self, theme: str) -> None:
        self.page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)

    def shoot(self, folder: Path, name: str) -> None:
        """Make screenshots in both themes."""
        for theme in THEMES:
            self.set_theme(theme)
            self.page.screenshot(path=folder / f"{name}-{theme}.png")
        self.set_theme("light")

    def serious_faults(self) -> list[str]:
        """The faults that axe finds, serious and critical ones, in both themes."""
        self.page.evaluate(AXE.read_text())
        faults = []
        for theme in THEMES:
            self.set_theme(theme)
            result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            faults += [
                f"{theme}: {fault['id']} {node['html'][:160]} {node['failureSummary'][:200]}"
                for fault in result["violations"]
                if fault["impact"] in ("serious", "critical")
                for node in fault["nodes"]
            ]
        self.set_theme("light")
        return faults

    def expect_address(self, pattern: str) -> None:
        expect(self.page).to_have_url(re.compile(pattern))
