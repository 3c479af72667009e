"""A whole debate on the embedded model, offline; and the one in the docs, which was held by the same settings."""

import asyncio
import re
import socket
import tomllib
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.debate.export import debate_document
from antiphon.debate.machine.config import complete
from antiphon.threads.export.markdown import to_markdown
from tests.fixtures.debates import recorded
from tests.paths import DOCS

PAGE = DOCS / "examples" / "debate-local.md"
SETTINGS = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
PATIENCE_S = 300


def settings() -> dict[str, Any]:
    """The settings that the page names."""
    found = SETTINGS.search(PAGE.read_text("utf-8"))
    assert found is not None
    return tomllib.loads(found.group(1))


async def held(store: Path) -> dict[str, Any]:
    """A debate from its topic to wherever it comes to rest."""
    async with App(store) as app, asyncio.timeout(PATIENCE_S):
        id = await app.debates.create(settings())
        await app.debates.start(id)
        async for one in app.debates.until_idle(id, 1):
            assert one.kind != "error", one.facts["error"]
        return await app.debates.read(id)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets nobody speak to another computer."""
    connect = socket.socket.connect

    def only_here(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1", "localhost"), address
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", only_here)


@pytest.mark.requirement("S4-106", "S4-36", "S4-B28")
@pytest.mark.local
@pytest.mark.usefixtures("offline")
def test_a_debate_on_the_embedded_model_comes_to_a_verdict_offline(tmp_path: Path) -> None:
    """Two sides, one round, a judge held to the rubric by a grammar; shapes, not words."""
    found = asyncio.run(held(tmp_path / "store.db"))

    assert found["outcome"] == "verdict"
    assert [(one["phase"], len(one["responses"])) for one in found["rounds"]] == [("opening", 2), ("rebuttal", 2)]
    assert all(len(said["content"].split()) > 5 for one in found["rounds"] for said in one["responses"])
    verdict = found["verdict"]
    assert set(verdict["scores"]) == {"for", "against"}
    assert set(verdict["criteria"]) == {"argument", "evidence", "rebuttal", "clarity"}
    used = found["tokenUsage"]["local:smollm2"]
    assert (used["requestCount"], used["estimated"], used["totalCost"]) == (5, False, "0")
    assert f"# {settings()['topic']}" in to_markdown(debate_document(recorded(found)))


def test_the_debate_in_the_docs_is_one_by_the_settings_beside_it() -> None:
    """The page cannot be made again word for word; that it is whole and of this kind can be told."""
    config, text = complete(settings()), PAGE.read_text("utf-8")

    facts = "- Format: oxford\n- Sides: Ada (for), Bruno (against)\n- Status: completed\n- Cost: $0.00\n\n## Openings\n"
    assert re.search(rf"\n# {re.escape(config['topic'])}\n\n{re.escape(facts)}", text)
    assert [text.count(f"\n### {name}\n") for name in ("Ada", "Bruno")] == [2, 2]
    assert re.search(r"\n\| local:smollm2 \| 5 \| \d+ \| \d+ \| \d+ \| 0 \|\n", text)
    assert "do not let it decide anything" in text
