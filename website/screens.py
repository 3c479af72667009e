"""Take the pictures of the web app in docs/images: `make e2e` must have run once, for Chromium's driver."""

import json
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

from playwright.sync_api import Page, sync_playwright

IMAGES = Path(__file__).parents[1] / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
SIZE = {"width": 1280, "height": 800}
# Names of pictures with their theme, kind of thread, and place.
SCREENS = (
    ("web-chat", "light", "chat", "/chats/{id}"),
    ("web-run", "light", "run", "/runs/{id}"),
    ("web-debate", "dark", "debate", "/debates/{id}"),
    ("web-inspector", "dark", "run", "/inspector/{id}"),
)
RESTING = ("completed", "waiting", "failed")


def threads_of(address: str, token: str) -> dict[str, str]:
    """Return the ids of the example threads by their kinds, once they have ended or wait."""
    while True:
        request = Request(f"{address}threads", headers={"Authorization": f"Bearer {token}"})
        with urlopen(request) as response:
            threads = json.load(response)["items"]
        if len(threads) >= 3 and all(thread["status"] in RESTING for thread in threads):
            return {thread["kind"]: thread["id"] for thread in threads}


def take(page: Page, name: str, place: str) -> None:
    """Open a place of the app and take its picture."""
    page.goto(place)
    page.wait_for_selector("main")
    page.evaluate("() => document.fonts.ready.then(() => true)")  # a function to poll is refused by the page's policy
    page.wait_for_timeout(1_000)  # until what is loaded by parts is drawn
    page.screenshot(path=IMAGES / f"{name}.png")


def main() -> None:
    """Serve the demonstration and take all pictures."""
    command = [sys.executable, "-m", "antiphon", "serve", "--demo", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as playwright:
        assert server.stdout is not None
        try:
            address, _, token = server.stdout.readline().strip().partition("?token=")
            ids = threads_of(address, token)
            browser = playwright.chromium.launch(executable_path=CHROMIUM)
            for name, theme, kind, place in SCREENS:
                context = browser.new_context(
                    base_url=address, viewport=SIZE, color_scheme=theme, reduced_motion="reduce"
                )
                page = context.new_page()
                page.goto(f"/?token={token}")
                take(page, name, place.format(id=ids[kind]))
                context.close()
            browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
