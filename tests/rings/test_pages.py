"""The examples in JavaScript on the pages of the facades run as they stand."""

import re

import pytest

from tests.fixtures.server import live_server
from tests.paths import DOCS
from tests.rings.node import run_code

pytestmark = pytest.mark.rings
PAGES = ("ag-ui.md", "vercel-ai.md")
EXAMPLE = re.compile(r"^```js\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [text for page in PAGES for text in EXAMPLE.findall((DOCS / page).read_text(encoding="utf-8"))]


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_runs_and_prints_a_reply(number: int) -> None:
    with live_server() as server:
        printed = run_code(EXAMPLES[number], ANTIPHON_URL=server.address, ANTIPHON_SERVER_TOKEN=server.settings.token)

    assert len(printed.split()) > 5
