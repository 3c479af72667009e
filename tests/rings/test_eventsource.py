"""A reply followed with EventSource, of the npm package and of Chromium, has no gap and no repeat when it is cut."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.facades import kitchen
from tests.fixtures.scripted_team import script
from tests.fixtures.server import LiveServer, live_server
from tests.rings.node import run_script

pytestmark = pytest.mark.rings
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WORDS = [step for number in range(40) for step in ({"text": f"word{number} "}, {"delay_ms": 60})]


def follow(server: LiveServer, folder: Path, *browser: str) -> tuple[Any, list[str]]:
    """Follow a thread while a reply arrives; return what the script has got, and the ids of all activities."""
    with server.client() as client:
        thread = client.chat(model=script(folder, {"steps": WORDS}))
        result = run_script("eventsource.mjs", server.address, server.settings.token, thread, *browser)
        return result, [row["cursor"] for row in client.get(f"/threads/{thread}/events?limit=1000")["items"]]


def check(result: Any, ids: list[str]) -> None:
    assert result["status"] == 202
    assert result["ids"] == ids
    assert len(ids) > 20
    first, *others = result["lastIds"]
    assert (first, result["cuts"], len(others)) == (None, 3, 3)
    # Each time the client came back by itself, with the id of a message that it had got.
    assert sorted(others, key=ids.index) == others


def test_the_npm_package_misses_nothing_and_gets_nothing_twice(tmp_path: Path) -> None:
    with live_server(app=kitchen, retry_ms=20) as server:
        check(*follow(server, tmp_path))


def test_chromium_misses_nothing_and_gets_nothing_twice(tmp_path: Path) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        pytest.skip("needs Chromium; on Debian, run `apt-get install chromium`")
    with live_server(app=kitchen, retry_ms=20) as server:
        check(*follow(server, tmp_path, browser))
