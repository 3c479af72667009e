"""Debates in the web app: columns that stream, costs, pauses, interjections and what comes after a cut."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.app import WebApp
from tests.e2e.debates import TOPIC, Stage, debaters, judge_script, open_stage
from tests.e2e.fixtures import Pages

OPENING_FOR = "Half the ground of our centre belongs to"
OPENING_AGAINST = "A closed centre looks lovely on a postcard."
SECOND_FOR = "A charge by the hour sounds fair until"
SECOND_AGAINST = "I hear that permits will settle the hard"


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with open_stage(tmp_path / "threads.db") as stage:
        yield stage


def turn(app: WebApp, name: str, title: str) -> Locator:
    return app.page.get_by_role("article", name=f"{name}, {title}", exact=True)


def expect_verdict(app: WebApp) -> None:
    expect(app.page.get_by_role("heading", name="Verdict: Ada wins by 7 points")).to_be_visible()


def open_live(pages: Pages, stage: Stage, **config: object) -> tuple[WebApp, str]:
    """A debate whose debaters have begun with their openings, and wait."""
    stage.gate.close()
    id = stage.create(**config)
    app = pages.open(stage.server, f"/debates/{id}")
    expect(turn(app, "Ada", "Openings")).to_contain_text(OPENING_FOR)
    expect(turn(app, "Bruno", "Openings")).to_contain_text(OPENING_AGAINST)
    return app, id


def test_debaters_stream_side_by_side(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)

    first = turn(app, "Ada", "Openings").bounding_box()
    second = turn(app, "Bruno", "Openings").bounding_box()
    assert first is not None
    assert second is not None
    assert (first["y"], first["x"] + first["width"]) == pytest.approx((second["y"], second["x"]), abs=1)
    expect(turn(app, "Ada", "Openings")).to_have_attribute("aria-busy", "true")
    stage.gate.open()
    expect_verdict(app)
    expect(turn(app, "Ada", "Round 1")).to_contain_text("1,937 tokens · $0.0065")


def test_the_track_shows_where_the_debate_is(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage, maxRounds=2)
    track = app.page.get_by_role("list", name="Rounds")

    expect(track.locator("[aria-current=step]")).to_contain_text("in progress")
    stage.gate.let_through()
    expect(track.locator("[aria-current=step]")).to_contain_text("Round 1")
    stage.gate.open()
    expect(track.get_by_text("Verdict").first).to_be_visible()
    expect(track.locator("[data-mark=done]")).to_have_count(5)
    track.get_by_role("button", name="Openings").click()
    expect(app.page.get_by_role("region", name="Openings")).to_be_focused()


def test_the_meter_has_ticks_and_a_forecast(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage, maxRounds=2, costLimit=0.2, warnAtCost=0.15)

    stage.gate.let_through()
    meter = app.page.get_by_role("meter")

    expect(meter).to_have_attribute("aria-valuemax", "0.2")
    expect(meter).to_contain_text("warns $0.15")
    expect(meter).to_contain_text("stops $0.20")
    expect(app.page.get_by_text("of $0.20 · +$0.0044 a round")).to_be_visible()
    expect(meter).to_have_attribute("aria-valuetext", re.compile("about .0.0131 after the rounds that are left"))


@pytest.fixture
def warned(pages: Pages, stage: Stage) -> tuple[WebApp, str]:
    """A debate of two rounds that has passed its warning, with the dialog about it."""
    app, id = open_live(pages, stage, maxRounds=2, costLimit=0.2, warnAtCost=0.004)
    stage.gate.let_through()
    expect(app.page.get_by_role("dialog", name="spent")).to_contain_text(
        "passed the warning at $0.0040; it stops at $0.20"
    )
    return app, id


def test_a_warning_is_answered_with_continue(warned: tuple[WebApp, str], stage: Stage) -> None:
    app, id = warned

    app.button("Continue").click()

    expect(app.page.get_by_role("dialog")).to_have_count(0)
    assert [one["acknowledged"] for one in stage.read(id)["costTracker"]["warnings"]] == [True]
    stage.gate.open()
    expect_verdict(app)
    assert len(stage.read(id)["rounds"]) == 3


def test_a_warning_is_answered_with_the_judge(warned: tuple[WebApp, str], stage: Stage) -> None:
    app, id = warned

    app.page.get_by_role("dialog").get_by_role("button", name="Stop and judge").click()
    expect(app.page.get_by_role("heading", name="The judge decides")).to_be_visible()
    stage.gate.open()

    expect_verdict(app)
    assert len(stage.read(id)["rounds"]) == 1


def test_a_warning_is_answered_with_a_higher_limit(warned: tuple[WebApp, str], stage: Stage) -> None:
    app, id = warned

    app.button("Raise limit").click()
    amount = app.page.get_by_label("New limit in USD")
    amount.fill("0.1")
    app.button("Raise limit").click()
    expect(app.page.get_by_text("It must be above $0.20.")).to_be_visible()
    amount.fill("1.5")
    app.button("Raise limit").click()

    expect(app.page.get_by_role("dialog")).to_have_count(0)
    expect(app.page.get_by_role("meter")).to_contain_text("stops $1.50")
    assert stage.read(id)["costTracker"]["limitThreshold"] == "1.5"
    assert [one["acknowledged"] for one in stage.read(id)["costTracker"]["warnings"]] == [True]


def test_a_warning_that_is_put_off_can_be_opened_again(warned: tuple[WebApp, str]) -> None:
    app, _ = warned

    app.page.keyboard.press("Escape")
    expect(app.page.get_by_role("dialog")).to_have_count(0)
    app.page.reload()
    app.button("Cost warning").click()

    expect(app.button("Continue")).to_be_visible()


def test_a_debate_at_its_limit_continues_with_a_higher_one(pages: Pages, stage: Stage) -> None:
    model = {"provider": "scripted", "modelId": "debate", "maxTokens": 6_000}
    seats = [{"id": side, "position": side, "model": model} for side in ("for", "against")]
    id = stage.create(participants=seats, format="lincoln-douglas", costLimit=0.102)
    app = pages.open(stage.server, f"/debates/{id}")

    expect(app.page.get_by_role("alert")).to_contain_text("Stopped at the limit of $0.1020")
    app.button("Raise limit").click()
    app.page.get_by_label("New limit in USD").fill("5")
    app.button("Raise limit").click()

    expect_verdict(app)


def test_a_pause_says_what_was_cut_and_resume_repeats_it(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)
    stage.gate.let_through()
    expect(turn(app, "Ada", "Round 1")).to_contain_text(SECOND_FOR)
    stage.gate.let_through()
    expect(turn(app, "Bruno", "Round 1")).to_contain_text(SECOND_AGAINST)

    app.button("Pause").click()

    expect(app.page.get_by_role("heading", name="Paused in round 1")).to_be_visible()
    expect(
        app.page.get_by_text("Bruno was cut after 8 words. The turn is held again; all others are kept.")
    ).to_be_visible()
    expect(turn(app, "Bruno", "Round 1")).to_contain_text("cut after 8 words")
    app.page.reload()
    expect(app.page.get_by_text("Bruno had not finished; that turn is held again.")).to_be_visible()
    expect(turn(app, "Ada", "Round 1")).to_contain_text("nobody is parked on the rails.")
    stage.gate.open()
    app.button("Resume").click()
    expect_verdict(app)


def test_an_interjection_is_shown_in_its_round_and_heard(pages: Pages, stage: Stage) -> None:
    app, id = open_live(pages, stage)
    field = app.page.get_by_label("Say something to the debaters")

    field.fill("What about <b>ambulances</b>?")
    field.press("Enter")

    expect(app.page.get_by_role("region", name="Openings")).to_contain_text(
        "From the audience What about <b>ambulances</b>?"
    )
    expect(field).to_have_value("")
    assert [one["text"] for one in stage.read(id)["interjections"]] == ["What about <b>ambulances</b>?"]


def test_a_long_word_of_the_audience_stays_in_the_debate(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)
    field = app.page.get_by_label("Say something to the debaters")

    field.fill("q" * 400)
    field.press("Enter")

    expect(app.page.locator(".interjection")).to_be_visible()
    assert app.page.locator(".debate-body").evaluate("body => body.scrollWidth <= body.clientWidth")


def test_words_that_were_not_sent_are_kept(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)

    app.page.get_by_label("Say something to the debaters").fill("What about")
    app.page.reload()

    expect(app.page.get_by_label("Say something to the debaters")).to_have_value("What about")


def test_stop_in_a_round_lets_the_judge_decide(pages: Pages, stage: Stage) -> None:
    app, id = open_live(pages, stage, maxRounds=3)
    stage.gate.let_through()
    expect(turn(app, "Ada", "Round 1")).to_contain_text(SECOND_FOR)

    app.page.keyboard.press("j")
    app.button("Keep debating").click()
    assert stage.read(id)["state"] == "debating"
    app.button("Stop and judge", exact=False).click()
    app.button("Judge now").click()
    expect(app.page.get_by_role("heading", name="The judge decides")).to_be_visible()
    stage.gate.open()

    expect_verdict(app)
    assert stage.read(id)["outcome"] == "verdict"
    expect(app.page.get_by_role("list", name="Rounds").locator("[data-mark=skipped]")).to_have_count(3)


def test_a_debate_is_ended_without_a_verdict_only_after_a_question(pages: Pages, stage: Stage) -> None:
    app, id = open_live(pages, stage)

    app.button("End").click()
    app.button("Keep it").click()
    assert stage.read(id)["outcome"] is None
    app.button("End").click()
    app.button("End without a verdict").click()

    expect(app.page.get_by_role("heading", name="Stopped without a verdict")).to_be_visible()


def test_a_debate_that_was_not_started_can_be_started(pages: Pages, stage: Stage) -> None:
    id = stage.create(is_started=False)
    app = pages.open(stage.server, f"/debates/{id}")

    app.button("Start").click()

    expect_verdict(app)


def test_a_failure_says_why_and_is_retried(pages: Pages, stage: Stage, tmp_path: Path) -> None:
    judge = judge_script(tmp_path, '{ error = "2001", message = "The key is not valid", times = 1 }')
    id = stage.create(judge=judge)
    app = pages.open(stage.server, f"/debates/{id}")

    expect(app.page.get_by_role("alert")).to_contain_text("Judge: The key is not valid")
    app.page.get_by_role("alert").get_by_role("button", name="Retry").click()

    expect_verdict(app)


def test_a_debater_that_fails_is_asked_again(pages: Pages, stage: Stage, tmp_path: Path) -> None:
    script = tmp_path / "failing.toml"
    failing = '{ error = "1002", message = "Overloaded", times = 1, retry_after_ms = 100 }, { text = "Here I am." }'
    script.write_text(f"[[replies]]\nsteps = [{failing}]\n")
    seats = [*debaters("for"), *debaters("against", model=f"scripted:{script}")]
    id = stage.create(participants=seats)
    app = pages.open(stage.server, f"/debates/{id}")

    expect(turn(app, "Bruno", "Openings")).to_contain_text("Here I am.")
    expect_verdict(app)


def test_a_reload_in_the_middle_of_a_stream_loses_nothing(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)
    stage.gate.let_through()
    expect(turn(app, "Ada", "Round 1")).to_contain_text(SECOND_FOR)
    stage.gate.let_through()
    expect(turn(app, "Bruno", "Round 1")).to_contain_text(SECOND_AGAINST)

    app.page.reload()

    expect(turn(app, "Ada", "Round 1")).to_contain_text("They run on time from the day nobody is parked on the rails.")
    expect(turn(app, "Bruno", "Round 1")).to_contain_text(SECOND_AGAINST)
    stage.gate.open()
    expect_verdict(app)
    expect(turn(app, "Bruno", "Round 1")).to_contain_text("brings the money for the trams that we are promised.")


def test_a_second_tab_shows_the_same_words(pages: Pages, stage: Stage) -> None:
    app, id = open_live(pages, stage)
    other = pages.tab(stage.server, app.page.context, f"/debates/{id}")

    expect(turn(other, "Ada", "Openings")).to_contain_text(OPENING_FOR)
    stage.gate.open()

    expect_verdict(app)
    expect_verdict(other)


def test_a_debate_continues_after_the_server_was_restarted(pages: Pages, tmp_path: Path) -> None:
    with open_stage(tmp_path / "threads.db") as stage:
        app, _ = open_live(pages, stage)
        stage.gate.let_through()
        expect(turn(app, "Ada", "Round 1")).to_contain_text(SECOND_FOR)
        port = stage.server.port
    with open_stage(tmp_path / "threads.db", port=port):
        expect(app.page.get_by_role("heading", name="Interrupted in round 1: the server was stopped")).to_be_visible()
        expect(turn(app, "Ada", "Openings")).to_contain_text("We are opening it.")

        app.button("Resume").click()

        expect_verdict(app)


def test_the_whole_debate_is_led_by_the_keyboard(pages: Pages, stage: Stage) -> None:
    app, id = open_live(pages, stage)
    keyboard = app.page.keyboard

    keyboard.press("p")
    expect(app.page.get_by_role("heading", name="Paused in openings")).to_be_visible()
    keyboard.press("m")
    keyboard.type("And trams, j?")
    keyboard.press("Enter")
    expect(app.page.get_by_text("And trams, j?")).to_be_visible()
    keyboard.press("Escape")
    keyboard.press("1")
    expect(app.button("Ada · for", exact=False)).to_have_attribute("aria-pressed", "true")
    stage.gate.open()
    keyboard.press("r")

    expect_verdict(app)
    assert stage.read(id)["outcome"] == "verdict"


def test_a_column_is_widened_by_its_name(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)
    article = turn(app, "Bruno", "Openings")
    before = article.bounding_box()

    app.button("Bruno · against", exact=False).click()

    after = article.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"] * 1.2
    expect(app.button("Bruno · against", exact=False)).to_have_attribute("aria-pressed", "true")


def test_a_reader_who_scrolls_up_is_not_pulled_down(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage, maxRounds=3)
    stage.gate.let_through()
    for words in (SECOND_FOR, SECOND_AGAINST):
        expect(app.page.get_by_text(words)).to_be_visible()
        stage.gate.let_through()
    expect(turn(app, "Ada", "Round 2")).to_contain_text("The plumber keeps his permit")
    body = app.page.get_by_role("region", name="Turns")

    body.hover()
    app.page.mouse.wheel(0, -4_000)
    expect(app.button("Jump to latest")).to_be_visible()
    stage.gate.let_through()
    expect(turn(app, "Bruno", "Round 2")).to_contain_text("My opponents count passers-by")

    assert body.evaluate("element => element.scrollTop") == 0
    app.button("Jump to latest").click()
    expect(turn(app, "Bruno", "Round 2")).to_be_in_viewport()


def test_what_begins_and_ends_is_announced(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)
    status = app.page.get_by_role("status").first

    stage.gate.let_through()
    expect(status).to_contain_text("Ada speaks, Round 1")
    stage.gate.open()

    expect(status).to_contain_text("Verdict: Ada wins by 7 points")


def test_markup_of_models_names_and_topics_is_inert(pages: Pages, stage: Stage, tmp_path: Path) -> None:
    attack = "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"
    script = tmp_path / "attack.toml"
    script.write_text(f"[[replies]]\nsteps = [{{ text = '''{attack} [link](javascript:document.title=1) end''' }}]\n")
    seats = debaters("for", "against", model=f"scripted:{script}")
    seats[0]["name"] = attack[:78]
    id = stage.create(participants=seats, topic=attack)
    app = pages.open(stage.server, f"/debates/{id}")

    expect(turn(app, "Bruno", "Openings")).to_contain_text("end")

    assert app.page.title() != "owned"
    assert app.page.locator("main script, main img[onerror], main a[href^='javascript']").count() == 0
    expect(app.page.get_by_role("heading", level=1)).to_have_text(attack)


def test_a_debate_that_does_not_exist_is_said_so(pages: Pages, stage: Stage) -> None:
    app = pages.open(stage.server, "/debates/nothing")

    expect(app.page.get_by_role("alert")).to_contain_text("This thread cannot be shown")


def test_a_debate_that_is_deleted_meanwhile_is_said_so(pages: Pages, stage: Stage) -> None:
    id = stage.create()
    app = pages.open(stage.server, f"/debates/{id}")
    expect_verdict(app)

    with stage.server.client() as client:
        client.request("DELETE", f"/threads/{id}")

    expect(app.page.get_by_role("alert")).to_contain_text("This thread cannot be shown")


@pytest.mark.parametrize("width", [1280, 390])
def test_the_screen_of_a_live_debate_is_accessible(pages: Pages, stage: Stage, screenshots: Path, width: int) -> None:
    stage.gate.close()
    id = stage.create(maxRounds=3, costLimit=0.2, warnAtCost=0.15)
    app = pages.open(stage.server, f"/debates/{id}", viewport={"width": width, "height": 800 if width > 760 else 844})
    expect(turn(app, "Ada", "Openings")).to_contain_text(OPENING_FOR)
    stage.gate.let_through()
    expect(turn(app, "Ada", "Round 1")).to_contain_text(SECOND_FOR)
    stage.gate.let_through()
    expect(turn(app, "Bruno", "Round 1")).to_contain_text(SECOND_AGAINST)

    app.shoot(screenshots, f"debate-live-{width}")

    assert app.serious_faults() == []
    assert app.page.evaluate("document.documentElement.scrollWidth") <= width


def test_columns_are_swiped_on_a_phone(pages: Pages, stage: Stage) -> None:
    id = stage.create()
    app = pages.open(stage.server, f"/debates/{id}", viewport={"width": 390, "height": 844})
    expect_verdict(app)
    body = app.page.get_by_role("region", name="Turns")

    body.evaluate("element => element.scrollTo({left: 200, top: 0})")

    # It snaps to the second column, and the name stays above it.
    expect(app.button("Bruno · against", exact=False)).to_be_in_viewport(ratio=0.9)
    box = turn(app, "Bruno", "Openings").bounding_box()
    assert box is not None
    assert 0 <= box["x"] <= 390 - box["width"] + 1


def test_the_warning_dialog_is_accessible(warned: tuple[WebApp, str], screenshots: Path) -> None:
    app, _ = warned

    app.shoot(screenshots, "debate-warning")

    assert app.serious_faults() == []


def test_a_topic_is_the_title_of_the_screen(pages: Pages, stage: Stage) -> None:
    app, _ = open_live(pages, stage)

    expect(app.page.get_by_role("heading", level=1)).to_have_text(TOPIC)
    expect(app.page.get_by_text("oxford · 2 debaters · judge debate")).to_be_visible()
