"""The examples of `docs/openai.md` run with the package `openai`."""

import re

import pytest

from tests.fixtures.server import live_server
from tests.paths import DOCS

pytest.importorskip("openai")
pytestmark = pytest.mark.rings
EXAMPLE = re.compile(r"^```py\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_examples_run_in_order(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "openai.md").read_text(encoding="utf-8")
    namespace = {"__name__": "example"}
    with live_server() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", server.settings.token)
        for code in EXAMPLE.findall(page):
            exec(compile(code, "docs/openai.md", "exec"), namespace)

    assert "above freezing" in capsys.readouterr().out
