"""`antiphon chat` in a real terminal: replies stream, Ctrl-C cuts them, tools wait for a person."""

import pytest

from antiphon import BlockingApp
from tests.fixtures.chats import ECHO, echo_server, script
from tests.fixtures.screen import Screen

LEAVE, CUT = b"\x04", b"\x03"
ASKED = "show everything again\nallow? > "
PROMPT = "\n> "


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.mark.requirement("X-12")
def test_a_reply_streams_in_as_markdown_with_what_it_cost(tmp_path):
    steps = [
        {"thinking": "Hm."},
        {"text": "Some **bold** words.\n\n- one\n- two\n"},
        {"usage": {"input": 5, "output": 7}},
    ]
    with Screen("chat", "-m", script(tmp_path, steps), columns=200) as screen:
        assert "script.toml (a script" in screen.until(PROMPT)
        screen.type("Hello")
        shown = screen.until("5 tokens in, 7 out · $0.00")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0
    assert "thought for 0.0 s" in shown
    assert "Some bold words." in shown
    assert " • one" in shown
    assert "Hm." not in shown
    assert "\x1b[1mbold" in screen.raw


def test_control_c_cuts_the_reply_and_the_prompt_comes_back(tmp_path):
    model = script(tmp_path, [{"text": "Slowly it begins"}, {"delay_ms": 600_000}, {"text": "never"}])
    with Screen("chat", "-m", model) as screen:
        screen.until(PROMPT)
        screen.type("Hello")
        screen.until("Slowly it begins")
        screen.press(b"typed meanwhile")
        screen.press(CUT)
        cut = screen.until("stopped; the text so far is kept")
        screen.until("> typed meanwhile")
        screen.press(b"\x15")
        screen.type("/branches")
        kept = screen.until(PROMPT)
        screen.press(CUT)
        screen.until("to leave, press Ctrl-D or type /quit")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert "^C" not in cut
    assert "typed" not in cut
    assert "main: 1 turn · Slowly it begins" in kept
    assert code == 0


def test_what_a_tool_would_do_is_shown_exactly_and_a_person_decides(tmp_path):
    model = script(tmp_path, (ECHO, [{"text": "As you say."}]), [{"tool": ECHO, "arguments": {"name": "a\x1b[2Jb"}}])
    with Screen("chat", "-m", model, "--mcp", echo_server(tmp_path)) as screen:
        screen.until(PROMPT)
        screen.type("File this")
        asked = screen.until(ASKED)
        screen.type("x")  # no answer
        screen.until("type one of these and Enter: a, ")
        screen.until("allow? > ")
        screen.type("s")
        again = screen.until(ASKED)
        screen.type("d")
        screen.until("reason (sent to the model) > ")
        screen.type("not today")
        screen.until("denied: not today")
        screen.until("As you say.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0
    assert "the model requests old__echo: may destroy something\n  name: a‹U+001B›[2Jb" in asked
    assert "asked because it may destroy something" in again
    assert "\x1b[2J" not in screen.raw


def test_what_was_typed_before_a_call_was_shown_allows_nothing(tmp_path):
    call = {"tool": ECHO, "arguments": {"path": "a\u202eb"}}
    soon = [{"text": "Soon"}, {"delay_ms": 500}, call]
    model = script(tmp_path, (ECHO, [{"text": "Then not."}]), soon)
    with Screen("chat", "-m", model, "--mcp", echo_server(tmp_path)) as screen:
        screen.until(PROMPT)
        screen.type("Go")
        screen.until("Soon")
        screen.type("a")
        asked = screen.until(ASKED)
        screen.type("d")
        screen.until("reason (sent to the model) > ")
        screen.type("")
        screen.until("denied")
        screen.until("Then not.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        screen.end()

    assert "  path: a‹U+202E›b" in asked


def test_a_conversation_is_forked_rewound_and_merged(tmp_path):
    model = script(tmp_path, [{"text": "First answer."}], [{"text": "Second answer."}], [{"text": "Third answer."}])
    with Screen("chat", "-m", model, columns=120) as screen:
        screen.until(PROMPT)
        for question, answer in (("One", "First"), ("Two", "Second")):
            screen.type(question)
            screen.until(f"{answer} answer.")
            screen.until(PROMPT)
        screen.type("/checkpoint here")
        screen.until("return with: /rewind")
        screen.until(PROMPT)
        screen.type("/fork doubts 1")
        screen.until("on doubts, after turn 1")
        screen.until("\ndoubts> ")
        screen.type("Two")
        screen.until("answer.")
        screen.until("\ndoubts> ")
        screen.type("/branches")
        tree = screen.until("\ndoubts> ")
        screen.type("/switch main")
        screen.until("on main, after turn 2")
        screen.until(PROMPT)
        screen.type("/rewind 1")
        screen.until("on main, after turn 1")
        screen.until(PROMPT)
        screen.type("/rewind here")
        screen.until("on main, after turn 2")
        screen.until(PROMPT)
        screen.type("/merge doubts manual")
        screen.until("conflict x1: turn 1")
        screen.until("c: cancel > ")
        screen.type("b")
        screen.until("merge doubts into main? y: yes, c: cancel > ")
        screen.type("y")
        screen.until("on main, after turn 3")
        screen.until(PROMPT)
        screen.type("/quit")
        _, code = screen.end()

    assert code == 0
    assert "  main: 2 turns · Second answer." in tree
    assert "*   doubts: 2 turns, forked after turn 1 ·" in tree


def test_a_terminal_that_cannot_be_drawn_on_gets_plain_text(tmp_path):
    model = script(tmp_path, [{"text": "Some **bold** words."}])
    with Screen("chat", "-m", model, TERM="dumb") as screen:
        screen.until(PROMPT)
        screen.type("Hello")
        screen.until("Some **bold** words.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0
    assert "\x1b[1m" not in screen.raw


def test_lines_are_joined_by_a_backslash(tmp_path):
    model = script(tmp_path, [{"text": "Yes."}])
    with Screen("chat", "-m", model) as screen:
        screen.until(PROMPT)
        screen.type("one \\")
        screen.until("… ")
        screen.type("two")
        screen.until("Yes.")
        screen.until(PROMPT)
        screen.type("/export told.md".replace("told.md", str(tmp_path / "told.md")))
        screen.until("exported to")
        screen.until(PROMPT)
        screen.press(LEAVE)
        screen.end()

    assert "one \ntwo" in (tmp_path / "told.md").read_text()


def test_a_reply_that_a_killed_process_lost_is_offered_again(tmp_path):
    slow = script(tmp_path, [{"text": "It begins"}, {"delay_ms": 600_000}])
    with Screen("chat", "-m", slow) as screen:
        screen.until(PROMPT)
        screen.type("Hello")
        screen.until("It begins")
        screen.process.kill()
    script(tmp_path, [{"text": "Whole again."}])
    with Screen("chat", "-c") as screen:
        screen.until("continuing “Hello” (1 turn,")
        screen.until("/resume continues it")
        screen.until(PROMPT)
        screen.type("/resume")
        screen.until("Whole again.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0


def test_at_a_limit_the_person_is_asked_and_again_after_the_process_has_ended(tmp_path):
    model = script(tmp_path, [{"tool": "look", "arguments": {}}])
    with Screen("chat", "-m", model, "--max-tool-rounds", "2") as screen:
        screen.until(PROMPT)
        screen.type("Look")
        screen.until("limit reached: 2 tool rounds for this message")
        screen.until("continue up to 4 tool rounds? y: yes, n: end here, or another limit > ")
        screen.type("perhaps")
        screen.until("or another limit > ")
        screen.type("3")
        screen.until("limit reached: 3 tool rounds for this message")
        screen.until("or another limit > ")
        screen.process.kill()
    with Screen("chat", "-c") as screen:
        screen.until("limit reached: 3 tool rounds for this message")
        screen.until("or another limit > ")
        screen.type("n")
        screen.wait(lambda: screen.rows[-1:] == ["> "])
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0


@pytest.mark.requirement("S2-59", "X-5")
def test_control_c_stops_a_proposal_and_a_killed_process_leaves_the_merge_planned(tmp_path):
    model = script(tmp_path, [{"text": "Yes."}])
    with Screen("chat", "-m", model) as screen:
        screen.until(PROMPT)
        for line, prompt in (("One", PROMPT), ("/fork b", "\nb> "), ("Two", "\nb> "), ("/switch main", PROMPT)):
            screen.type(line)
            screen.until(prompt)
        screen.type("Three")
        screen.until(PROMPT)
        script(tmp_path, [{"delay_ms": 600_000}])
        screen.type("/merge b consensus")
        screen.until("Ctrl-C stops it")
        screen.press(CUT)
        stopped = screen.until("c: cancel > ")
        screen.process.kill()
    with Screen("chat", "-c") as screen:
        screen.until("a merge of b is planned; /merge continues it")
        screen.until(PROMPT)
        screen.type("/merge")
        screen.until("c: cancel > ")
        screen.type("w")
        screen.until("text > ")
        screen.type("Both.")
        screen.until("y: merge it")
        screen.type("y")
        screen.until("on main, after turn 2")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert "no proposal: stopped" in stopped
    assert code == 0


def test_a_fork_that_a_killed_process_planned_is_dropped(tmp_path):
    model = script(tmp_path, [{"text": "Yes."}])
    with BlockingApp(tmp_path / "store.db") as app:
        thread = app.threads.create("chat", model=model)
        app.threads.say(thread, "One")
        app.threads.until_idle(thread).wait()
        app.threads.perform(thread, "fork", name="b")
    with Screen("chat", "-c") as screen:
        screen.until(PROMPT)
        screen.type("Two")
        screen.until("Yes.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0


def test_a_reply_that_waits_for_a_key_is_offered_again(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"error": "2003", "message": "set SOME_API_KEY"}])) as screen:
        screen.until(PROMPT)
        screen.type("Hello")
        screen.until("failed: set SOME_API_KEY (2003)")
        screen.until(PROMPT)
        screen.press(LEAVE)
        screen.end()
    script(tmp_path, [{"text": "Here it is."}])
    with Screen("chat", "-c") as screen:
        screen.until("set SOME_API_KEY; then /retry continues it")
        screen.until(PROMPT)
        screen.type("/retry")
        screen.until("Here it is.")
        screen.until(PROMPT)
        screen.press(LEAVE)
        _, code = screen.end()

    assert code == 0
