"""The pages of the facades name every event and every field."""

import re

from antiphon.server.contracts import checks
from antiphon.server.facades.agui import AguiInput
from antiphon.server.facades.pieces import NOTES
from antiphon.server.facades.vercel import VercelChat
from tests.fixtures.protocols import AGUI_FIELDS, CHUNK_FIELDS
from tests.paths import DOCS

AGUI = (DOCS / "ag-ui.md").read_text(encoding="utf-8")
VERCEL = (DOCS / "vercel-ai.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`[^|]*`) \|", re.MULTILINE)


def rows(page: str) -> set[str]:
    """The names in the first column of the tables of a page."""
    return {name for cell in ROW.findall(page) for name in re.findall(r"`([^`]+)`", cell)}


def test_every_event_and_every_field_of_ag_ui_has_its_row() -> None:
    assert {*AGUI_FIELDS} | {*checks.shape(AguiInput).fields} <= rows(AGUI)
    assert all(f"`{name}`" in AGUI for name in NOTES)


def test_every_chunk_and_every_field_of_the_ai_sdk_has_its_row() -> None:
    data = {f"data-{name.replace('_', '-')}" for name in NOTES}

    assert {*CHUNK_FIELDS} | {*checks.shape(VercelChat).fields} | data <= rows(VERCEL)
