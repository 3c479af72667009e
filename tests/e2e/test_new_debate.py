"""The form of a new debate: what it starts, and what it refuses, at the fields."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.app import WebApp
from tests.e2e.debates import TOPIC, Stage, open_stage
from tests.e2e.fixtures import Pages


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with open_stage(tmp_path / "threads.db") as stage:
        yield stage


@pytest.fixture
def form(pages: Pages, stage: Stage) -> WebApp:
    app = pages.open(stage.server, "/new?kind=debate")
    expect(app.page.get_by_label("Model").first).to_have_attribute("placeholder", "scripted:debate")
    return app


def fill(page: Page, **values: str) -> None:
    for label, value in values.items():
        page.get_by_role("textbox", name=label.replace("_", " "), exact=True).fill(value)


def threads(stage: Stage) -> int:
    with stage.server.client() as client:
        return len(client.get("/threads")["items"])


def test_a_debate_is_started_from_the_form(form: WebApp, stage: Stage) -> None:
    fill(form.page, Topic=TOPIC, Rounds="1", Warn_at="0.5", Cost_limit="1")

    form.button("Start the debate").click()

    form.expect_address(r"/debates/\w+$")
    expect(form.page.get_by_role("heading", name="Verdict: Ada wins by 7 points")).to_be_visible()
    debate = stage.read(form.page.url.rpartition("/")[2])
    assert (debate["topic"], debate["format"], debate["maxRounds"]) == (TOPIC, "oxford", 1)
    assert (debate["costTracker"]["limitThreshold"], debate["costTracker"]["warningThreshold"]) == ("1", "0.5")


def test_wrong_settings_are_named_at_their_fields_and_nothing_is_created(form: WebApp, stage: Stage) -> None:
    fill(form.page, Topic="Cars?", Rounds="99", Warn_at="3", Cost_limit="2")
    form.page.get_by_label("Side").first.select_option("neutral")
    form.page.get_by_label("Model", exact=True).first.fill("gpt")

    form.button("Start the debate").click()

    topic = form.page.get_by_role("textbox", name="Topic")
    expect(topic).to_be_focused()
    expect(topic).to_have_accessible_description(re.compile("Topic must be a text of 10 to 500"))
    for words in (
        "Rounds must be a whole number from 1 to 10",
        "Warn at must be below costLimit, 2",
        "Model must be a reference like anthropic:claude-sonnet-5, or an object",
        "oxford needs participants for and against, and none that is neutral",
        "5 settings are wrong; the debate was not started.",
    ):
        expect(form.page.get_by_text(words)).to_be_visible()
    assert threads(stage) == 0


def test_problems_go_away_as_the_fields_are_mended(form: WebApp) -> None:
    form.button("Start the debate").click()
    expect(form.page.get_by_text("Topic must be a text of 10 to 500 characters")).to_be_visible()

    fill(form.page, Topic=TOPIC)

    expect(form.page.get_by_text("it must be a text")).to_have_count(0)
    expect(form.page.get_by_text("the debate was not started")).to_have_count(0)


def test_a_model_that_the_server_refuses_is_said_so(form: WebApp, stage: Stage) -> None:
    fill(form.page, Topic=TOPIC)
    form.page.get_by_label("Model", exact=True).first.fill("openai:gpt-6")

    form.button("Start the debate").click()

    expect(form.page.get_by_role("alert")).to_contain_text("The debate was not started")
    assert threads(stage) == 0


def test_a_round_table_has_more_debaters(form: WebApp, stage: Stage) -> None:
    fill(form.page, Topic=TOPIC, Rounds="1")
    form.page.get_by_role("radio", name="roundtable").check()
    form.button("Add a debater").click()
    form.page.get_by_role("group", name="Debater C").get_by_label("Name").fill("Zoë")

    form.button("Start the debate").click()

    expect(form.button("Zoë · neutral", exact=False)).to_be_visible()
    expect(form.page.get_by_role("heading", name="Verdict: Ada wins by 4 points")).to_be_visible()


def test_a_debater_is_removed_and_two_stay(form: WebApp) -> None:
    form.button("Add a debater").click()
    form.button("Add a debater").click()
    expect(form.button("Add a debater")).to_have_count(0)

    form.button("Remove debater C").click()
    form.button("Remove debater C").click()

    expect(form.page.get_by_role("group", name="Debater")).to_have_count(2)
    expect(form.page.get_by_role("button", name="Remove debater")).to_have_count(0)


def test_the_form_is_filled_in_and_sent_by_the_keyboard(form: WebApp) -> None:
    form.page.get_by_role("textbox", name="Topic").focus()
    form.page.keyboard.type(TOPIC)
    form.page.keyboard.press("Tab")
    form.page.keyboard.press("ArrowDown")
    expect(form.page.get_by_role("radio", name="lincoln-douglas")).to_be_checked()
    form.page.get_by_role("textbox", name="Rounds").focus()
    form.page.keyboard.press("Enter")

    expect(form.page.get_by_text("lincoln-douglas · 2 debaters")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 390])
def test_the_form_is_accessible(pages: Pages, stage: Stage, screenshots: Path, width: int) -> None:
    app = pages.open(stage.server, "/new?kind=debate", viewport={"width": width, "height": 900})
    app.button("Start the debate").click()
    expect(app.page.get_by_text("Topic must be")).to_be_visible()

    app.shoot(screenshots, f"debate-form-{width}")

    assert app.serious_faults() == []
    assert app.page.evaluate("document.documentElement.scrollWidth") <= width
