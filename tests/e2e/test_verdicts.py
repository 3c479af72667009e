"""Verdicts in the web app: scores, reasons with links to turns, and exports."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.app import WebApp
from tests.e2e.debates import Stage, debaters, judge_script, open_stage
from tests.e2e.fixtures import Pages


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with open_stage(tmp_path / "threads.db") as stage:
        yield stage


@pytest.fixture
def judged(pages: Pages, stage: Stage, tmp_path: Path) -> tuple[WebApp, str]:
    """A debate whose judge has named turns."""
    id = stage.create(judge=judge_script(tmp_path))
    app = pages.open(stage.server, f"/debates/{id}")
    expect(app.page.get_by_role("heading", name="Verdict: Ada wins by 7 points")).to_be_visible()
    return app, id


def test_scores_have_a_row_for_each_criterion(judged: tuple[WebApp, str]) -> None:
    app, _ = judged

    chart = app.page.get_by_role("img", name="Scores of the judge")

    expect(chart).to_have_accessible_name(
        "Scores of the judge: evidence Ada 82, Bruno 64; clarity Ada 70, Bruno 76; overall Ada 78, Bruno 71"
    )
    expect(chart.locator("circle.score-mark")).to_have_count(3)
    expect(chart.locator("rect.score-mark")).to_have_count(3)
    expect(chart.locator(".score-letter").first).to_have_text("B")


def test_a_claim_leads_to_its_turn(judged: tuple[WebApp, str]) -> None:
    app, _ = judged
    turn = app.page.get_by_role("article", name="Ada, Openings")

    app.page.get_by_role("link", name="Ada · Openings").click()

    expect(turn).to_be_focused()
    expect(turn).to_be_in_viewport()
    expect(app.page.get_by_role("link", name="Bruno · Round 1")).to_be_visible()
    expect(app.page.get_by_role("link", name="Ada · Round 1")).to_be_visible()


def test_a_link_to_a_turn_is_used_by_the_keyboard(judged: tuple[WebApp, str]) -> None:
    app, _ = judged

    app.page.get_by_role("link", name="Bruno · Round 1").focus()
    app.page.keyboard.press("Enter")

    expect(app.page.get_by_role("article", name="Bruno, Round 1")).to_be_focused()


@pytest.mark.parametrize(("label", "format"), [("Markdown", "md"), ("HTML page", "html"), ("JSON", "json")])
def test_a_debate_is_exported_as_the_server_writes_it(
    judged: tuple[WebApp, str], stage: Stage, label: str, format: str
) -> None:
    app, id = judged

    app.button("Export").click()
    with app.page.expect_download() as download:
        app.button(label, exact=True).click()

    text = Path(download.value.path()).read_text("utf-8")
    with stage.server.client() as client:
        assert text == client.http.get(f"/threads/{id}/export?format={format}").text
    assert download.value.suggested_filename.endswith(f".{format}")
    if format == "json":
        assert json.loads(text)["verdict"]["winner"] == "for"


def test_the_turns_of_each_debater_are_counted(judged: tuple[WebApp, str], stage: Stage) -> None:
    app, id = judged

    rows = app.page.get_by_role("region", name="Totals").get_by_role("row")

    expect(rows.filter(has_text="Ada")).to_have_text(re.compile(r"^Ada21032,4230\.\d s\$0\.0087$"))
    assert stage.read(id)["statistics"]["for"]["words"] == 103
    expect(rows.last).to_contain_text("with judge and cut turns")


def test_a_tie_has_no_winner(pages: Pages, stage: Stage, tmp_path: Path) -> None:
    path = tmp_path / "tie.toml"
    scores = {"for": 70, "against": 70}
    verdict = {"reasoning": "Both.", "criteria": {"evidence": scores}, "scores": scores, "winner": None}
    path.write_text(f"[[replies]]\nsteps = [{{ text = '''{json.dumps(verdict)}''' }}]\n")
    id = stage.create(judge={"model": f"scripted:{path}", "evaluationCriteria": ["evidence"]})
    app = pages.open(stage.server, f"/debates/{id}")

    expect(app.page.get_by_role("heading", name="Verdict: A tie")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_verdict_is_accessible(
    judged: tuple[WebApp, str], pages: Pages, stage: Stage, screenshots: Path, width: int
) -> None:
    _, id = judged
    app = pages.open(stage.server, f"/debates/{id}", viewport={"width": width, "height": 844})
    app.page.get_by_role("button", name="Verdict", exact=True).click()
    expect(app.page.locator("#verdict")).to_be_focused()

    app.shoot(screenshots, f"debate-verdict-{width}")

    assert app.serious_faults() == []
    assert app.page.evaluate("document.documentElement.scrollWidth") <= width


def test_three_debaters_have_three_shapes(pages: Pages, stage: Stage, screenshots: Path) -> None:
    id = stage.create(format="roundtable", maxRounds=2, participants=debaters("for", "against", "neutral"))
    app = pages.open(stage.server, f"/debates/{id}")
    expect(app.page.get_by_role("heading", name="Verdict: Ada wins by 4 points")).to_be_visible()

    app.shoot(screenshots, "debate-three")

    chart = app.page.get_by_role("img", name="Scores of the judge")
    assert {chart.locator(shape).count() for shape in ("circle", "rect", "path.score-mark")} == {5}
    assert app.serious_faults() == []
