"""Runs in the browser: the start form, the timeline, permissions, and what a person decides while agents work."""

import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from antiphon.app import App
from antiphon.providers.registry import Models
from antiphon.tools import Workspace, workspace_tools
from tests.e2e.app import WebApp
from tests.e2e.fixtures import Pages
from tests.fixtures.server import LiveServer, live_server

Script = Callable[[str], str]
ARBITER = """
[[replies]]
system = 'arbiter'
when = 'evaluat'
steps = [{ text = '{"type": "COMPLETE", "summary": "The note is written.", "completed": [0, 1]}' }]

[[replies]]
system = 'arbiter'
steps = [{ text = '{"type": "SELECT_MODE", "mode": "developer", "reason": "A file is to be written."}' }]
"""
TEAM = (
    ARBITER
    + """
[[replies]]
system = 'tester'
steps = [{ text = "I have tested it." }]

[[replies]]
system = 'developer'
after = 'write_file'
steps = [{ text = "The note is **there**." }, { usage = { input = 90, output = 9 } }]

[[replies]]
system = 'developer'
steps = [
    { thinking = "A short note." },
    { text = "I will write the note." },
    { tool = "write_file", arguments = { path = "note.txt", content = "one\\ntwo\\n" } },
    { usage = { input = 80, output = 20 } },
]
"""
)
READER = (
    ARBITER
    + """
[[replies]]
system = 'developer'
after = 'list_files'
steps = [{ text = "I have seen everything." }]

[[replies]]
system = 'developer'
steps = [
    { tool = "list_files", arguments = {} },
    { tool = "list_files", arguments = { path = "." } },
    { tool = "list_files", arguments = {} },
    { tool = "list_files", arguments = { path = "." } },
]
"""
)
ASKING = (
    ARBITER
    + """
[[replies]]
system = 'developer'
after = 'ask_user'
steps = [{ text = "As you wish." }]

[[replies]]
system = 'developer'
steps = [{ tool = "ask_user", arguments = { question = "Which colour?", options = ["red", "green"] } }]
"""
)
COMMAND = (
    ARBITER
    + """
[[replies]]
system = 'developer'
after = 'shell'
steps = [{ text = "It is made." }]

[[replies]]
system = 'developer'
steps = [{ tool = "shell", arguments = { command = "touch made.txt && echo made" } }]
"""
)
EVIL = '<img src=x onerror="window.harm = 1"><script>window.harm = 1</script>'
PLAN = {"steps": ["Write the note", "Check the note"]}


@contextmanager
def workshop(folder: Path, port: int = 0) -> Iterator[LiveServer]:
    """A server whose agents work in a folder."""
    (folder / "work").mkdir(exist_ok=True)
    with Workspace(folder / "work") as workspace:
        toolbox = workspace_tools(workspace)
        with live_server(
            app=lambda: App(folder / "threads.db", models=Models(), toolbox=toolbox), port=port, retry_ms=100
        ) as server:
            yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LiveServer]:
    with workshop(tmp_path) as server:
        yield server


@pytest.fixture
def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def start_run(server: LiveServer, model: str, task: str = "Write a note", **settings: Any) -> str:
    """A run that was started, with a plan of two steps."""
    plan = settings.pop("plan", PLAN)
    with server.client() as client:
        body = {"kind": "run", "model": model, "tools": ["write_file", "list_files"], **settings}
        thread = str(client.post("/threads", body)["id"])
        client.post(f"/threads/{thread}/start", {"text": task, **({} if plan is None else {"plan": plan})})
    server.wait_until_idle(thread)
    return thread


def open_run(pages: Pages, server: LiveServer, model: str, **settings: Any) -> WebApp:
    options = settings.pop("page", {})
    thread = start_run(server, model, **settings)
    app = pages.open(server, f"/runs/{thread}", **options)
    expect(app.page.locator(".run[data-ready=true]")).to_be_visible()
    return app


def ask_card(app: WebApp) -> Locator:
    return app.page.get_by_role("region", name="Permission for developer: write_file")


def timeline(app: WebApp) -> Locator:
    return app.page.get_by_role("list", name="Timeline")


def expect_end(app: WebApp, words: str) -> None:
    expect(timeline(app).get_by_role("heading", name=words)).to_be_visible()


def note(folder: Path) -> str:
    path = folder / "work" / "note.txt"
    return path.read_text() if path.exists() else ""


def tab_to(page: Page, place: Locator, most: int = 80) -> None:
    """Press Tab until a place has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if place.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"{place} is not reached by the Tab key")


def test_the_form_starts_a_run_with_its_settings(pages: Pages, server: LiveServer, script: Script) -> None:
    app = pages.open(server, "/new?kind=run")
    app.page.get_by_label("Task").fill("Write a note")
    app.page.get_by_role("combobox", name="Model").fill(script(TEAM))
    app.page.get_by_label("researcher").uncheck()
    app.page.get_by_label("auto-edit").check()
    app.page.get_by_label("Turns").fill("7")
    app.page.get_by_label("Cost").fill("1.5")
    app.page.get_by_label("fetch_url").uncheck()
    app.button("Start the run").click()

    app.expect_address("/runs/.+")
    expect_end(app, "Done")
    with server.client() as client:
        (row,) = client.get("/threads?kind=run")["items"]
        content = client.get(f"/threads/{row['id']}")["content"]
    assert content["task"] == "Write a note"
    assert content["agents"] == ["planner", "developer", "tester", "reviewer"]
    assert content["limits"]["maxIterations"] == 7
    assert content["limits"]["maxCostUsd"] == 1.5
    assert content["consent"]["mode"] == "auto-edit"


def test_the_form_says_what_is_wrong_before_and_after_it_is_sent(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, "/new?kind=run")

    app.button("Start the run").click()
    expect(app.page.get_by_role("alert")).to_contain_text("Say what is to be done.")

    app.page.get_by_label("Task").fill("Write a note")
    app.page.get_by_label("developer").uncheck()
    app.button("Start the run").click()
    expect(app.page.get_by_role("alert")).to_contain_text("planner is followed by developer")

    app.page.get_by_label("developer").check()
    app.page.get_by_role("combobox", name="Model").fill("nobody:nothing")
    app.button("Start the run").click()
    expect(app.page.get_by_role("alert")).to_contain_text("nobody")


def test_a_form_that_was_left_is_filled_in_as_before(pages: Pages, server: LiveServer) -> None:
    app = pages.open(server, "/new?kind=run")
    app.page.get_by_label("Task").fill("A long task")

    app.page.get_by_role("link", name="Debate", exact=True).click()
    app.page.get_by_label("Topic").fill("Trains are better than cars")
    app.page.get_by_role("link", name="Run", exact=True).click()

    expect(app.page.get_by_label("Task")).to_have_value("A long task")
    app.page.get_by_role("link", name="Debate", exact=True).click()
    expect(app.page.get_by_label("Topic")).to_have_value("Trains are better than cars")


def test_a_request_shows_the_whole_change_and_focuses_nothing(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM), maxCostUsd=2)
    card = ask_card(app)

    expect(card).to_contain_text("asked because it creates a file")
    expect(card).to_contain_text(re.compile(r"expires in [45]:\d\d"))
    assert card.evaluate("card => !card.contains(document.activeElement)")
    expect(card).to_contain_text("+ one")
    expect(card).to_contain_text("+ two")
    card.get_by_text("Exact arguments").click()
    expect(card).to_contain_text('"content": "one\\ntwo\\n"')
    expect(card).to_contain_text("Nothing is allowed beyond single calls in this run.")
    expect(app.page.get_by_role("alert")).to_contain_text("An agent waits for you")
    expect(app.page.locator(".run-head").get_by_role("meter", name="Cost")).to_have_attribute("aria-valuemax", "2")


def test_allowing_once_makes_the_call_and_asks_again_for_the_next(
    pages: Pages, server: LiveServer, script: Script, tmp_path: Path
) -> None:
    app = open_run(pages, server, script(TEAM))

    ask_card(app).get_by_role("button", name="Allow once").click()

    expect_end(app, "Done")
    expect(timeline(app)).to_contain_text("The note is there.")
    expect(timeline(app)).to_contain_text("The note is written.")
    assert note(tmp_path) == "one\ntwo\n"
    expect(ask_card(app)).to_have_count(0)


def test_what_is_allowed_for_the_run_is_shown_as_standing(pages: Pages, server: LiveServer, script: Script) -> None:
    two = TEAM.replace(
        """steps = [{ text = "The note is **there**." }, { usage = { input = 90, output = 9 } }]""",
        """steps = [{ tool = "write_file", arguments = { path = "deep/note.txt", content = "x" } }]""",
    )
    app = open_run(pages, server, script(two))

    ask_card(app).get_by_role("button", name="Allow in this run: files of the workspace folder itself").click()

    expect(ask_card(app)).to_contain_text("deep/note.txt")
    expect(ask_card(app)).to_contain_text("Allowed in this run:")
    expect(ask_card(app)).to_contain_text("files in the workspace folder")
    expect(app.page.get_by_role("list", name="Standing permissions")).to_contain_text("files in the workspace folder")


def test_a_command_is_shown_whole_and_can_be_allowed_for_the_run(
    pages: Pages, server: LiveServer, script: Script, tmp_path: Path
) -> None:
    app = open_run(pages, server, script(COMMAND), tools=["shell"])
    card = app.page.get_by_role("region", name="Permission for developer: shell")

    expect(card).to_contain_text("touch made.txt && echo made")
    expect(card).to_contain_text("sandbox")
    card.get_by_role("button", name="Allow in this run: this exact command").click()

    expect_end(app, "Done")
    assert (tmp_path / "work" / "made.txt").exists()


HIDDEN_COMMAND = "echo safe" + " " * 300 + "; touch hidden.txt " + r"\n" * 60 + r"\u202e"
HIDING = (
    ARBITER
    + f"""
[[replies]]
system = 'developer'
steps = [{{ tool = "shell", arguments = {{ command = "{HIDDEN_COMMAND}" }} }}]
"""
)


def test_a_command_hides_nothing_from_the_person_who_allows_it(
    pages: Pages, server: LiveServer, script: Script, screenshots: Path
) -> None:
    app = open_run(pages, server, script(HIDING), tools=["shell"])
    card = app.page.get_by_role("region", name="Permission for developer: shell")

    command = card.locator("pre").first
    expect(command).to_contain_text("echo safe ‹300 blanks› ; touch hidden.txt")
    expect(command).to_contain_text("empty lines›")
    expect(command).to_contain_text("‹U+202E›")
    assert command.evaluate("pre => pre.scrollWidth <= pre.clientWidth && pre.scrollHeight <= pre.clientHeight")
    app.shoot(screenshots, "run-hidden-command")


def test_a_request_that_does_not_fit_is_shown_from_its_head(pages: Pages, server: LiveServer, script: Script) -> None:
    lines = "".join(f"line {number}\\n" for number in range(120))
    app = open_run(pages, server, script(TEAM.replace("one\\ntwo\\n", lines)))

    expect(ask_card(app).get_by_text("developer wants to call")).to_be_in_viewport()
    expect(ask_card(app).get_by_role("button", name="Allow once")).not_to_be_in_viewport()


def test_a_double_click_skips_one_step(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))

    app.button("Skip this step").dblclick()

    plan = app.page.get_by_role("region", name="Plan")
    expect(plan).to_contain_text("1 of 2 done")
    expect(ask_card(app)).to_be_visible()


def test_a_question_of_an_agent_is_answered_by_an_option_or_in_words(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    model = script(ASKING)
    app = open_run(pages, server, model)
    question = app.page.get_by_role("region", name="Question of developer")
    expect(question).to_contain_text("Which colour?")
    question.get_by_role("button", name="green").click()
    expect_end(app, "Done")

    app.go(f"/runs/{start_run(server, model)}")
    question.get_by_label("Your answer").fill("blue")
    question.get_by_label("Your answer").press("Enter")
    expect_end(app, "Done")


def test_a_denial_has_a_reason_that_the_agent_is_told(
    pages: Pages, server: LiveServer, script: Script, tmp_path: Path
) -> None:
    app = open_run(pages, server, script(TEAM))
    card = ask_card(app)

    card.get_by_role("button", name="Deny…").click()
    expect(card.get_by_label("Why?")).to_be_focused()
    card.get_by_label("Why?").fill("not in this folder")
    card.get_by_role("button", name="Deny", exact=True).click()

    expect_end(app, "Not done: a change was denied")
    expect(timeline(app).locator("[data-status=denied]")).to_contain_text("note.txt")
    assert note(tmp_path) == ""
    with server.client() as client:
        (row,) = client.get("/threads?kind=run")["items"]
        journal = json.dumps(client.get(f"/actors/{row['id']}/journal?limit=500"))
    assert '"type": "DENY"' in journal
    assert '"reason": "not in this folder"' in journal


def test_a_call_is_made_with_the_arguments_that_the_person_has_edited(
    pages: Pages, server: LiveServer, script: Script, tmp_path: Path
) -> None:
    app = open_run(pages, server, script(TEAM))
    card = ask_card(app)

    card.get_by_role("button", name="Edit…").click()
    card.get_by_role("button", name="Allow once with these arguments").click()
    expect(card.get_by_role("alert")).to_contain_text("Nothing was changed.")
    card.get_by_label("content").fill("three\n")
    card.get_by_role("button", name="Allow once with these arguments").click()

    expect_end(app, "Done")
    assert note(tmp_path) == "three\n"
    made = timeline(app).locator("details.card").first
    expect(made).to_contain_text("edited · note.txt +1 −0")
    made.locator("summary").first.click()
    expect(made).to_contain_text("+ three")


def test_the_timeline_has_decisions_with_reasons_and_folded_tool_cards(
    pages: Pages, server: LiveServer, script: Script
) -> None:
    app = open_run(pages, server, script(TEAM), consent={"mode": "auto-edit"})

    expect(timeline(app)).to_contain_text("A file is to be written.")
    expect(timeline(app).get_by_role("heading", name="developer")).to_be_visible()
    card = timeline(app).locator("details.card").first
    expect(card).to_contain_text("note.txt +2 −0")
    card.locator("summary").first.click()
    expect(card).to_contain_text("+ one")
    expect(card).to_contain_text("Created note.txt")


def test_calls_of_one_tool_in_a_row_are_one_line(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(READER))

    group = timeline(app).locator(".repeats")
    expect(group).to_contain_text("list_files ×4")
    expect(group.locator("details").first).not_to_be_visible()
    group.locator("summary").first.click()
    expect(group.locator("details.card")).to_have_count(4)


def test_the_plan_shows_how_far_it_is(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))
    plan = app.page.get_by_role("region", name="Plan")

    expect(plan).to_contain_text("0 of 2 done")
    expect(plan.locator("[aria-current=step]")).to_contain_text("Write the note")
    ask_card(app).get_by_role("button", name="Allow once").click()

    expect(plan).to_contain_text("2 of 2 done")
    expect(plan.get_by_role("progressbar", name="Plan")).to_have_attribute("aria-valuenow", "2")


def test_a_step_that_is_skipped_is_marked_in_the_plan(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))
    plan = app.page.get_by_role("region", name="Plan")

    app.button("Skip this step").click()

    expect(plan).to_contain_text("1 of 2 done")
    expect(plan.locator("[data-status=skipped]").last).to_contain_text("Write the note")
    expect(timeline(app)).to_contain_text("Step 1 skipped: Write the note")


def test_a_double_click_skips_one_step_only(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))
    plan = app.page.get_by_role("region", name="Plan")

    app.button("Skip this step").dblclick()

    expect(plan).to_contain_text("1 of 2 done")
    expect(timeline(app)).to_contain_text("Step 1 skipped: Write the note")
    with server.client() as client:
        (row,) = client.get("/threads?kind=run")["items"]
        journal = json.dumps(client.get(f"/actors/{row['id']}/journal?limit=500"))
    assert journal.count('"SKIP_STEP"') == 1


def test_a_person_chooses_the_next_agent(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))

    app.page.get_by_label("Agent", exact=True).select_option("tester")
    app.button("Let it work now").click()

    expect(timeline(app)).to_contain_text("You → tester")
    expect(timeline(app)).to_contain_text("I have tested it.")


def test_a_turn_is_started_again(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))

    app.button("Start this turn again").click()

    expect(timeline(app).get_by_role("heading", name="developer")).to_have_count(2)
    expect(timeline(app)).to_contain_text("cut short")
    expect(ask_card(app)).to_have_count(1)


def test_a_cancelled_run_says_so_after_it_was_confirmed(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))

    app.button("Cancel").click()
    app.page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    expect(ask_card(app)).to_be_visible()
    app.button("Cancel").click()
    app.page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()

    expect_end(app, "Cancelled")
    expect(timeline(app).locator(".card.tool[data-status=running]")).to_have_count(0)
    expect(app.button("Cancel", exact=True)).to_have_count(0)
    expect(ask_card(app)).to_have_count(0)


def test_a_run_that_has_ended_can_be_run_again(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM), maxIterations=1, consent={"mode": "plan"})
    expect_end(app, "Not done: a change was denied")

    app.button("Run again").click()

    expect(timeline(app).get_by_text("Task", exact=False).nth(1)).to_be_visible()
    expect(timeline(app).get_by_role("heading", name="Not done")).to_have_count(2)


def test_a_run_asks_again_when_it_is_resumed_after_the_server_was_started_again(
    pages: Pages, script: Script, free_port: int, tmp_path: Path
) -> None:
    with workshop(tmp_path, free_port) as server:
        app = open_run(pages, server, script(TEAM))
        expect(ask_card(app)).to_be_visible()
    with workshop(tmp_path, free_port):
        expect(app.page.locator(".run-head")).to_contain_text("interrupted")
        expect(ask_card(app)).to_have_count(0)
        app.button("Resume").click()

        expect(timeline(app)).to_contain_text("Resumed")
        expect(app.button("Resume")).to_have_count(0)
        assert note(tmp_path) == ""
        ask_card(app).get_by_role("button", name="Allow once").click()
        expect(timeline(app)).to_contain_text("The note is there.")
        assert note(tmp_path) == "one\ntwo\n"


def test_a_run_that_needs_the_person_is_first_in_the_list(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))
    threads = app.page.get_by_role("navigation", name="Threads")

    expect(threads).to_contain_text("Needs you")
    expect(threads.get_by_role("link", name="Write a note")).to_contain_text("permission")
    ask_card(app).get_by_role("button", name="Allow once").click()

    expect_end(app, "Done")
    expect(threads).not_to_contain_text("Needs you")


def test_an_answer_in_one_tab_closes_the_request_in_the_other(pages: Pages, server: LiveServer, script: Script) -> None:
    thread = start_run(server, script(TEAM))
    context = pages.context(server)
    first = pages.tab(server, context, f"/runs/{thread}")
    second = pages.tab(server, context, f"/runs/{thread}")
    expect(ask_card(second)).to_be_visible()

    ask_card(first).get_by_role("button", name="Allow once").click()

    expect_end(second, "Done")
    expect(ask_card(second)).to_have_count(0)


def test_an_answer_from_a_page_of_another_site_is_refused(
    pages: Pages, server: LiveServer, script: Script, tmp_path: Path
) -> None:
    thread = start_run(server, script(TEAM))
    app = pages.open(server)
    with server.client() as client:
        (request,) = client.get(f"/threads/{thread}")["requests"]

    answer = app.page.context.request.post(
        f"/threads/{thread}/respond",
        data={"requestId": request["id"], "decision": "allow"},
        headers={"origin": "http://other.example", "sec-fetch-site": "cross-site"},
    )

    assert answer.status == 403
    assert note(tmp_path) == ""


def test_words_to_the_agents_are_taken_while_they_work(pages: Pages, server: LiveServer, script: Script) -> None:
    app = open_run(pages, server, script(TEAM))
    field = app.page.get_by_label("Guidance for the agents")

    field.fill("Keep it short")
    field.press("Enter")

    expect(field).to_have_value("")
    expect(app.page.get_by_label("Words that no agent has read")).to_contain_text("Keep it short")
    with server.client() as client:
        (row,) = client.get("/threads?kind=run")["items"]
        journal = json.dumps(client.get(f"/actors/{row['id']}/journal?limit=500"))
    assert "Keep it short" in journal


def test_a_run_is_started_and_denied_with_the_keyboard_alone(pages: Pages, server: LiveServer, script: Script) -> None:
    app = pages.open(server, "/new?kind=run")
    page = app.page
    expect(page.get_by_label("Task")).to_be_visible()
    tab_to(page, page.get_by_label("Task"))
    page.keyboard.type("Write a note")
    tab_to(page, page.get_by_role("combobox", name="Model"))
    page.keyboard.press("Control+a")
    page.keyboard.type(script(TEAM))
    tab_to(page, app.button("Start the run"))
    page.keyboard.press("Enter")

    card = ask_card(app)
    expect(card.get_by_role("button", name="Deny…")).to_be_enabled()
    tab_to(page, card.get_by_role("button", name="Deny…"))
    page.keyboard.press("Enter")
    page.keyboard.type("no files today")
    page.keyboard.press("Enter")

    expect_end(app, "Not done: a change was denied")


def test_markup_in_tasks_files_and_texts_stays_text(pages: Pages, server: LiveServer, script: Script) -> None:
    evil = json.dumps(EVIL)
    model = script(
        TEAM.replace('"I will write the note."', evil)
        .replace('path = "note.txt"', 'path = "a<b onclick=harm>.txt"')
        .replace('"one\\ntwo\\n"', evil)
    )
    app = open_run(pages, server, model, task=f"Write {EVIL}", plan={"steps": [f"Do {EVIL}"]})

    expect(ask_card(app)).to_contain_text("<script>window.harm = 1</script>")
    expect(app.page.get_by_role("region", name="Plan")).to_contain_text("<script>")
    ask_card(app).get_by_role("button", name="Allow once").click()
    expect_end(app, "Done")

    # Chromium reports a handler that the policy forbids as soon as text is parsed to be sanitised.
    assert all("inline event handler" in error for error in pages.errors)
    pages.errors.clear()
    assert app.page.evaluate("window.harm") is None
    assert timeline(app).locator("script, img[onerror]").count() == 0


def test_axe_finds_nothing_serious_on_any_screen_of_runs(
    pages: Pages, server: LiveServer, script: Script, screenshots: Path
) -> None:
    app = pages.open(server, "/new?kind=run")
    expect(app.page.get_by_label("Task")).to_be_visible()
    assert app.serious_faults() == []
    app.shoot(screenshots, "run-new")

    thread = start_run(server, script(TEAM), maxCostUsd=2)
    app.go(f"/runs/{thread}")
    card = ask_card(app)
    expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
    assert app.serious_faults() == []
    app.shoot(screenshots, "run-permission")

    card.get_by_role("button", name="Edit…").click()
    assert app.serious_faults() == []
    app.shoot(screenshots, "run-edit")
    card.get_by_role("button", name="Back").click()
    card.get_by_role("button", name="Deny…").click()
    assert app.serious_faults() == []
    card.get_by_role("button", name="Back").click()

    card.get_by_role("button", name="Allow once").click()
    expect_end(app, "Done")
    for summary in timeline(app).locator("details.card > summary").all():
        summary.click()
    assert app.serious_faults() == []
    app.shoot(screenshots, "run-done")


def test_a_phone_shows_the_request_and_never_scrolls_sideways(
    pages: Pages, server: LiveServer, script: Script, screenshots: Path
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    app = open_run(pages, server, script(TEAM), page=phone)

    expect(ask_card(app).get_by_role("button", name="Allow once")).to_be_in_viewport()
    assert app.page.evaluate("document.scrollingElement.scrollWidth") == 390
    assert app.serious_faults() == []
    app.shoot(screenshots, "run-phone")
    app.page.get_by_role("button", name="Plan, limits, agents").click()
    expect(app.page.get_by_role("region", name="Plan")).to_be_visible()
    app.shoot(screenshots, "run-phone-plan")
    ask_card(app).get_by_role("button", name="Allow once").click()
    expect_end(app, "Done")
