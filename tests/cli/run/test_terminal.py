"""`antiphon run` in a real terminal: the plan is drawn, permissions and questions wait for a person, Ctrl-C cancels."""

import asyncio
import json

import pytest

from antiphon.cli.main import main
from antiphon.stores.sqlite import SqliteStore
from tests.fixtures.processes import processes_in
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, decides, says, script

CUT, LEAVE = b"\x03", b"\x04"
ASKED = "show everything again\nallow? > "
GOOD = "def add(a, b):\n    return a + b\n"
TWO = ("The first file", "The second file")
PLAN = '{"steps": ["Write add.py", "Read it"], "confidence": 0.9}'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "work"
    found.mkdir()
    return found


def writer(tmp_path, *more):
    """A developer that writes a file, and then another one."""
    return script(
        tmp_path,
        *more,
        says("developer", "Both are written.", after="write_file", when="Your step is 1"),
        says("developer", "First is written.", after="write_file"),
        calls("developer", "write_file", {"path": "b.py", "content": GOOD}, when="Your step is 1"),
        calls("developer", "write_file", {"path": "a.py", "content": "one\x1b[2J\u202etwo\n" + GOOD}),
    )


def planned(tmp_path, *steps):
    """The file of a plan."""
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"steps": steps}))
    return plan


def at_work(model, folder, *options, steps=("The first file",), columns=100):
    plan = planned(folder.parent, *steps) if steps else None
    given = ["--plan", plan] if plan else []
    return Screen(
        "run", "-m", model, "--arbiter", "rules", "--workspace", folder, *given, *options, "Write", columns=columns
    )


def answers(store):
    """What people answered in the only run of a store."""

    async def read():
        opened = SqliteStore(store, read_only=True)
        await opened.open()
        try:
            [run] = await opened.roots("", 10)
            entries = await opened.entries(run.root, 0, 1000)
        finally:
            await opened.close()
        return [entry.event["text"] for entry in entries if entry.event["type"] == "ANSWER"]

    return asyncio.run(read())


@pytest.mark.requirement("S1-106")
def test_the_plan_the_agent_and_the_meters_are_drawn_below_what_is_said(tmp_path, folder):
    model = script(
        tmp_path,
        {"system": "developer", "steps": [{"text": "Some **bold** words."}, {"delay_ms": 600}, {"text": " More."}]},
        says("planner", PLAN),
    )
    with at_work(model, folder, "--max-iterations", 7, steps=()) as screen:
        screen.until("1. planner: There is no plan yet.")
        screen.until("2. developer")
        screen.until("── plan · 0 of 2 done ──")
        drawn = screen.until("iteration 2 of 7 · failures 0 of 3 · $0.00")
        shown, code = screen.end()

    assert code == 0
    assert "▸ Write add.py" in drawn
    assert "· Read it" in drawn
    assert "developer working …" in drawn
    assert "✓ Write add.py" in shown
    assert "done; details: antiphon runs show " in shown
    assert "\x1b[1mbold" in screen.raw


def test_a_change_is_allowed_once_and_asked_for_again(tmp_path, folder):
    with at_work(writer(tmp_path), folder, steps=TWO) as screen:
        asked = screen.until(ASKED)
        screen.type("a")
        screen.until("← write_file ok")
        screen.until(ASKED)
        screen.type("a")
        _, code = screen.end()

    assert code == 0
    assert "developer requests write_file: changes something\n  file: a.py\n  --- /dev/null\n  +++ a.py" in asked
    assert sorted(file.name for file in folder.iterdir()) == ["a.py", "b.py"]


def test_what_is_allowed_for_a_folder_is_not_asked_for_again(tmp_path, folder):
    with at_work(writer(tmp_path), folder, steps=TWO) as screen:
        screen.until(ASKED)
        screen.type("f")
        shown, code = screen.end()

    assert code == 0
    assert ASKED not in shown
    assert sorted(file.name for file in folder.iterdir()) == ["a.py", "b.py"]


def test_a_change_is_denied_and_the_agent_is_told_why(tmp_path, folder):
    model = writer(tmp_path, says("developer", "Not today, then.", when="not today"))
    with at_work(model, folder) as screen:
        screen.until(ASKED)
        screen.type("x")  # no answer
        screen.until("type one of these and Enter: a, ")
        screen.until("allow? > ")
        screen.type("d")
        screen.until("reason (sent to the model) > ")
        screen.type("not today")
        screen.until("denied: not today")
        screen.until("← write_file denied: not today")
        _, code = screen.end()

    assert code == 1
    assert list(folder.iterdir()) == []


def test_a_call_is_shown_to_the_last_character_before_it_is_made(tmp_path, folder):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until(ASKED)
        screen.type("s")
        shown = screen.until(ASKED)
        screen.type("a")
        _, code = screen.end()

    assert code == 0
    assert "  +one‹U+001B›[2J‹U+202E›two\n  +def add(a, b):" in shown
    assert "asked because it creates a file" in shown
    assert "\x1b[2J" not in screen.raw


def test_what_was_typed_before_a_call_was_shown_allows_nothing(tmp_path, folder):
    slow = {"system": "developer", "steps": [{"text": "Soon"}, {"delay_ms": 500}]}
    call = {"tool": "write_file", "arguments": {"path": "a.py", "content": GOOD}}
    model = script(
        tmp_path, says("developer", "Denied.", after="write_file"), {**slow, "steps": [*slow["steps"], call]}
    )
    with at_work(model, folder) as screen:
        screen.until("Soon")
        screen.type("a")
        screen.until(ASKED)
        screen.type("d")
        screen.until("reason (sent to the model)")
        screen.type("")
        _, code = screen.end()

    assert code == 1
    assert list(folder.iterdir()) == []


def test_a_command_that_may_destroy_is_shown_exactly_without_asking_for_it(tmp_path, folder):
    model = script(
        tmp_path,
        says("developer", "Gone.", after="shell"),
        calls("developer", "shell", {"command": "rm -f old.py && echo " + "x" * 100}),
    )
    (folder / "old.py").write_text("")
    with at_work(model, folder, columns=160) as screen:
        asked = screen.until(ASKED)
        screen.type("a")
        _, code = screen.end()

    assert code == 0
    assert "developer requests shell: may destroy something\n  command: rm -f old.py && echo " + "x" * 100 in asked
    assert not (folder / "old.py").exists()


@pytest.mark.requirement("S1-106")
def test_a_question_of_an_agent_is_answered_by_typing(tmp_path, folder):
    model = script(
        tmp_path,
        says("developer", "Thank you.", after="ask_user"),
        calls("developer", "ask_user", {"question": "Which name?", "options": ["Grace", "Ada"]}),
    )
    with at_work(model, folder) as screen:
        asked = screen.until("answer (1–2, or text) > ")
        screen.type("2")
        screen.until("Thank you.")
        _, code = screen.end()

    assert code == 0
    assert answers(tmp_path / "store.db") == ["Ada"]
    assert "developer asks: Which name?\n  1. Grace\n  2. Ada\n" in asked


@pytest.mark.requirement("S1-B7")
def test_control_c_cancels_the_run_and_ends_it_with_130(tmp_path, folder, capsys):
    model = script(tmp_path, {"system": "developer", "steps": [{"text": "It begins"}, {"delay_ms": 600_000}]})
    with at_work(model, folder) as screen:
        screen.until("It begins")
        screen.press(b"typed meanwhile")
        screen.press(CUT)
        shown, code = screen.end()

    assert code == 130
    assert "cancelled; changes so far are kept" in shown
    assert "typed" not in shown
    assert main(["run", "--resume", "last"]) == 2
    assert "it was cancelled" in capsys.readouterr().err


@pytest.mark.requirement("S1-107", "S1-B7")
def test_control_c_kills_a_command_that_does_not_end(tmp_path, folder):
    model = script(tmp_path, calls("developer", "shell", {"command": "echo $$ > pid; sleep 600"}))
    with at_work(model, folder) as screen:
        screen.until(ASKED)
        screen.type("a")
        screen.until("developer calling shell …")
        while not (folder / "pid").exists() or not (folder / "pid").read_text().strip():
            screen.until("iteration 1 of 50")
        running = processes_in(folder)
        screen.press(CUT)
        shown, code = screen.end()

    assert code == 130
    assert "cancelled" in shown
    assert running != []
    assert processes_in(folder) == []


@pytest.mark.parametrize("key", [CUT, LEAVE], ids=["Ctrl-C", "Ctrl-D"])
def test_at_a_prompt_too_the_run_is_cancelled(tmp_path, folder, key):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until(ASKED)
        screen.press(key)
        shown, code = screen.end()

    assert code == 130
    assert "cancelled; changes so far are kept" in shown
    assert list(folder.iterdir()) == []


def test_a_second_control_c_leaves_at_once_and_takes_the_command_with_it(tmp_path, folder):
    model = script(tmp_path, calls("developer", "shell", {"command": "trap '' TERM; echo $$ > pid; sleep 600"}))
    with at_work(model, folder, "--mode", "auto") as screen:
        screen.until("developer calling shell …")
        while not (folder / "pid").exists() or not (folder / "pid").read_text().strip():
            screen.until("iteration 1 of 50")
        screen.press(CUT)
        screen.until("cancelling …; press Ctrl-C again to leave at once")
        screen.press(CUT)
        shown, code = screen.end()

    assert code == 130
    assert "left; continue with: antiphon run --resume " in shown
    assert screen.raw.rfind("\x1b[?25h") > screen.raw.rfind("\x1b[?25l")


@pytest.mark.requirement("S1-99")
def test_a_permission_that_a_killed_process_asked_for_is_asked_for_again(tmp_path, folder):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until(ASKED)
        screen.process.kill()
    with Screen("run", "--resume", "last", columns=100) as screen:
        screen.until("process of this run was lost; continuing from its last step")
        screen.until(ASKED)
        assert list(folder.iterdir()) == []
        screen.type("a")
        screen.until("First is written.")
        _, code = screen.end()

    assert code == 0
    assert [path.name for path in folder.iterdir()] == ["a.py"]


@pytest.mark.requirement("S1-99")
def test_a_question_outlives_the_process_that_asked_it(tmp_path, folder):
    model = script(
        tmp_path,
        says("developer", "Thank you.", after="ask_user"),
        calls("developer", "ask_user", {"question": "Which name?"}),
    )
    with at_work(model, folder) as screen:
        screen.until("answer > ")
        screen.process.kill()
    with Screen("run", "--resume", "last", columns=100) as screen:
        screen.until("developer asks: Which name?")
        screen.until("answer > ")
        screen.type("Ada")
        screen.until("Thank you.")
        _, code = screen.end()

    assert code == 0
    assert answers(tmp_path / "store.db") == ["Ada"]


@pytest.mark.requirement("S1-104")
def test_several_agents_are_shown_side_by_side(tmp_path, folder):
    agents = tmp_path / "agents"
    agents.mkdir()
    for name in ("red", "blue"):
        text = f"name: {name}\nwhenToUse: to paint {name}\nsystemPrompt: You are the painter {name} of the team.\n"
        (agents / f"{name}.yaml").write_text(text)
    parallel = [{"mode": "red", "step": 0}, {"mode": "blue", "step": 1}]
    model = script(
        tmp_path,
        decides("Evaluate", type="COMPLETE", summary="All is painted."),
        decides(None, type="SELECT_MODE", mode="red", reason="at once", parallel=parallel),
        {"system": "painter red", "steps": [{"text": "Red words."}, {"delay_ms": 500}, {"text": " Red is done."}]},
        {"system": "painter blue", "steps": [{"text": "Blue words."}, {"delay_ms": 500}, {"text": " Blue is done."}]},
    )
    options = ["--agents", agents, "--plan", planned(tmp_path, *TWO), "--workspace", folder]
    with Screen("run", "-m", model, *options, "Paint", columns=100) as screen:
        screen.until("1. red, blue: at once")
        screen.until("red           Red words.")
        screen.until("blue          Blue words.")
        shown, code = screen.end()

    assert code == 0
    assert "red:\n" in shown
    assert "Red words. Red is done.\n" in shown
    assert shown.index("blue:\n") < shown.index("All is painted.")
    assert "All is painted." in shown


def test_a_terminal_that_cannot_be_drawn_on_gets_plain_lines(tmp_path, folder):
    model = script(tmp_path, says("developer", "Some **bold** words."), says("planner", PLAN))
    with Screen("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write", TERM="dumb") as screen:
        shown, code = screen.end()

    assert code == 0
    assert "Some **bold** words." in shown
    assert "· Read it" in shown
    assert "\x1b" not in screen.raw
