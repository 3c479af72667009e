"""What a person sees in a chat, read from an emulated terminal: editing, Ctrl-C, resizing, and how it is left."""

import random
import signal
import subprocess
import sys

import pytest

from tests.fixtures.chats import ECHO, echo_server, script
from tests.fixtures.screen import Screen

LEAVE, CUT, ENTER, TAB, ALT_ENTER, SEARCH = b"\x04", b"\x03", b"\r", b"\t", b"\x1b\r", b"\x12"
CUTTING = {"XTERM_VERSION": "XTerm(390)"}  # the emulated terminal cuts its rows when it becomes narrower
SLOW = [{"text": "It begins. "}, {"delay_ms": 600_000}, {"text": "never"}]
PROSE = (
    "The internationalization of configuration files is a long story, which this paragraph tells in more than one "
    "hundred columns, with emoji 🌻 and wide characters 漢字 in it."
)
ITEM = "an item with enough words to need more than one row in a terminal that is narrow or as wide as most"
CODE = "def function_with_a_long_name(first_argument, second_argument): return first_argument + second_argument"
PAGE = f"""{PROSE}

- {ITEM}
  - nested: {ITEM}
- last

```python
{CODE}
```

| Name | What it is for | Count |
|---|---|--:|
| configuration | internationalization of the application | 1234567 |
| 名前 | wide characters | 2 |
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")
    monkeypatch.setenv("INPUTRC", str(tmp_path / "inputrc"))


def exported(screen, tmp_path):
    """The conversation so far, as it was stored."""
    target = tmp_path / f"export{len(list(tmp_path.iterdir()))}.md"
    screen.type(f"/export {target}")
    screen.until("exported to")
    at_prompt(screen)
    return target.read_text(encoding="utf-8")


def at_prompt(screen):
    """Wait until the cursor is at an empty prompt."""
    screen.wait(lambda: screen.rows[-1:] == ["> "])


def ended(screen):
    """Leave, and return the exit code."""
    screen.press(LEAVE)
    return screen.end()[1]


@pytest.mark.parametrize("columns", [40, 80, 110, 200])
def test_words_are_whole_prose_has_100_columns_and_code_is_not_broken(tmp_path, columns):
    with Screen("chat", "-m", script(tmp_path, [{"text": PAGE}]), columns=columns, lines=60) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("tokens in")
        at_prompt(screen)
        rows = screen.all_rows
        ended(screen)

    start = next(number for number, row in enumerate(rows) if row.startswith("The internationalization"))
    end = next(number for number, row in enumerate(rows) if row.startswith("def function"))
    words = " ".join(rows[start:end]).replace("•", "-").split()
    assert words == " ".join(PAGE.partition("```")[0].split("\n")).split()
    assert max(len(row) for row in rows[start:end]) <= min(columns, 100)
    assert "".join(rows[end : end + -(-len(CODE) // columns)]) == CODE
    table = " ".join(rows[end:]).split()
    assert {"configuration", "internationalization", "application", "1234567"} <= set(table)


def test_a_paste_is_one_message_and_a_path_is_no_command(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.paste("/usr/bin is full\n\nsecond\nthird")
        screen.until_shown("third")
        screen.press(ENTER)
        screen.until_shown("Yes.")
        at_prompt(screen)
        text = exported(screen, tmp_path)
        assert ended(screen) == 0

    assert "/usr/bin is full\n\nsecond\nthird" in text


def test_lines_are_begun_by_alt_enter_and_by_a_backslash(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.press(b"one" + ALT_ENTER + b"two\\" + ENTER + b"three")
        rows = screen.until_shown("three")
        screen.press(ENTER)
        screen.until_shown("Yes.")
        at_prompt(screen)
        text = exported(screen, tmp_path)
        ended(screen)

    assert rows[-3:] == ["> one", "… two", "… three"]
    assert "one\ntwo\nthree" in text


def test_what_is_typed_during_a_reply_is_shown_below_it_and_is_the_next_draft(tmp_path):
    with Screen(
        "chat", "-m", script(tmp_path, [{"text": "It begins. "}, {"delay_ms": 2500}, {"text": "Ends."}])
    ) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("It begins.")
        screen.press(b"next quesx\x7ftion")
        drawn = screen.until_shown("> next question▌")
        screen.until_shown("tokens in")
        rows = screen.until_shown("> next question")
        screen.press(CUT)
        at_prompt(screen)
        ended(screen)

    assert drawn[-3].strip() == "It begins."
    assert drawn[-1] == "your next message; send it after this reply, or stop the reply with Ctrl-C"
    assert [row for row in rows if "next" in row] == ["> next question"]


def test_on_leaving_the_command_that_continues_is_printed_if_something_was_said(tmp_path):
    model = script(tmp_path, [{"text": "Yes."}])
    with Screen("chat", "-m", model) as screen:
        at_prompt(screen)
        screen.press(LEAVE)
        assert "continue it with" not in screen.end()[0]
    with Screen("chat", "-m", model) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("Yes.")
        at_prompt(screen)
        ended(screen)
        (line,) = screen.rows_with("continue it with: ")
    words = line.removeprefix("continue it with: antiphon ").split()
    with Screen(*words) as screen:
        screen.until_shown("continuing “Hello” (1 turn")
        at_prompt(screen)
        assert ended(screen) == 0


def test_a_draft_is_kept_when_control_c_stops_the_reply(tmp_path):
    with Screen("chat", "-m", script(tmp_path, SLOW)) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("It begins.")
        screen.press(b"next question")
        screen.press(CUT)
        screen.until_shown("text so far is kept")
        rows = screen.until_shown("> next question")
        screen.press(CUT)
        at_prompt(screen)
        ended(screen)

    assert rows[-1] == "> next question"


def test_a_draft_is_kept_when_a_call_needs_permission(tmp_path):
    soon = [{"text": "Soon"}, {"delay_ms": 700}, {"tool": ECHO, "arguments": {"path": "a"}}]
    model = script(tmp_path, (ECHO, [{"text": "Then not."}]), soon)
    with Screen("chat", "-m", model, "--mcp", echo_server(tmp_path)) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("Soon")
        screen.press(b"next question")
        asked = screen.until_shown("allow? > ")
        screen.type("d")
        screen.until_shown("reason (sent to the model)")
        screen.type("")
        screen.until_shown("Then not.")
        screen.wait(lambda: screen.rows[-1] == "> next question")
        rows = screen.rows
        screen.press(CUT)
        at_prompt(screen)
        ended(screen)

    assert asked[-1] == "allow? > "
    assert rows[-1] == "> next question"


def test_control_c_clears_the_text_and_then_says_how_to_leave(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.press(b"some text")
        screen.until_shown("> some text")
        screen.press(CUT)
        at_prompt(screen)
        screen.press(CUT)
        screen.until_shown("to leave, press Ctrl-D or type /quit")
        at_prompt(screen)
        assert ended(screen) == 0


def test_sixty_presses_of_control_c_never_quit(tmp_path):
    points = random.Random(7)
    with Screen("chat", "-m", script(tmp_path, SLOW), lines=50) as screen:
        at_prompt(screen)
        for _ in range(60):
            point = points.choice(["empty", "text", "enter", "reply", "reply twice"])
            cut = screen.count("text so far is kept")
            if point == "empty":
                told = screen.count("to leave, press")
                screen.press(CUT)
                screen.wait(lambda told=told: screen.count("to leave, press") > told)
            elif point == "text":
                screen.press(b"abc")
                screen.wait(lambda: screen.rows[-1:] == ["> abc"])
                screen.press(CUT)
            elif point == "enter":
                screen.press(b"Go" + ENTER + CUT)
                screen.wait(lambda cut=cut: screen.count("text so far is kept") > cut)
            else:
                screen.press(b"Go" + ENTER)
                screen.wait(lambda: "It begins." in screen.rows[-1])
                screen.press(CUT * point.count("e"))
                screen.wait(lambda cut=cut: screen.count("text so far is kept") > cut)
            at_prompt(screen)
        screen.type("/model")
        screen.until_shown("no model is called")
        assert screen.process.poll() is None
        at_prompt(screen)
        assert ended(screen) == 0


@pytest.mark.parametrize("where", ["prompt", "reply"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_the_terminal_is_restored_when_a_signal_ends_the_chat(tmp_path, where, number):
    with Screen("chat", "-m", script(tmp_path, SLOW)) as screen:
        at_prompt(screen)
        if where == "reply":
            screen.type("Hello")
            screen.until_shown("It begins.")
        screen.process.send_signal(number)
        _, code = screen.end()

        assert screen.modes() == (True, True)
    assert code == 128 + number
    assert screen.raw.rindex("\x1b[?25h") > screen.raw.rfind("\x1b[?25l")
    assert screen.raw.rindex("\x1b[?2004l") > screen.raw.rindex("\x1b[?2004h")


@pytest.mark.parametrize("where", ["prompt", "reply"])
def test_a_terminal_that_a_killed_chat_has_left_is_mended_by_the_next(tmp_path, where):
    model = script(tmp_path, SLOW)
    with Screen("chat", "-m", model) as screen:
        at_prompt(screen)
        if where == "reply":
            screen.type("Hello")
            screen.until_shown("It begins.")
        screen.process.kill()
        screen.end()
        screen.run_again("chat", "-m", model)
        screen.wait(lambda: screen.count("Ctrl-D quits") == 2)
        at_prompt(screen)
        ended(screen)

        assert screen.modes() == (True, True)
    assert "\x1b[?25l" not in screen.raw.partition("It begins.")[2].partition("/help")[0]


def test_a_narrower_terminal_has_no_orphan_lines(tmp_path):
    text = " ".join(f"word{number}" for number in range(24))
    steps = [{"text": f"{text} "}, {"delay_ms": 1500}, {"text": "end."}]
    with Screen("chat", "-m", script(tmp_path, steps), columns=110, lines=40, **CUTTING) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("word23")
        screen.resize(60, 40)
        screen.until_shown("tokens in")
        at_prompt(screen)
        words = " ".join(screen.all_rows).split()
        screen.press(b"a long message " * 4)
        screen.until_shown("\n  e ")
        screen.resize(44, 40)
        screen.wait(lambda: screen.rows[-1] == "  ge a long message ")
        rows = screen.rows
        screen.press(CUT)
        at_prompt(screen)
        ended(screen)

    assert [word for word in words if word.startswith("word")] == [f"word{number}" for number in range(24)]
    assert len([row for row in rows if row.startswith("> a long")]) == 1


def test_commands_branches_and_files_are_completed(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.type("Hello")
        screen.until_shown("tokens in")
        at_prompt(screen)
        screen.press(b"/for")
        screen.until_shown("create a branch here")
        screen.press(TAB)
        screen.wait(lambda: screen.rows_with("> /fork") != [])
        screen.type(" doubts")
        screen.until_shown("doubts> ")
        screen.type("/switch main")
        at_prompt(screen)
        screen.press(b"/switch do")
        screen.wait(lambda: screen.rows[-1].strip() == "doubts")
        screen.press(TAB)
        screen.wait(lambda: screen.rows_with("> /switch doubts") != [])
        screen.press(CUT)
        at_prompt(screen)
        screen.press(f"look at @{tmp_path}/no".encode())
        screen.until_shown("notes.txt")
        screen.press(CUT)
        at_prompt(screen)
        ended(screen)


def test_the_history_is_searched_and_shared_with_the_next_chat(tmp_path):
    model = script(tmp_path, [{"text": "Yes."}])
    with Screen("chat", "-m", model) as screen:
        at_prompt(screen)
        screen.paste("about gardens\nand soil")
        screen.press(ENTER)
        screen.until_shown("tokens in")
        at_prompt(screen)
        ended(screen)
    with Screen("chat", "-m", model) as screen:
        at_prompt(screen)
        screen.press(SEARCH + b"gard")
        screen.wait(lambda: screen.rows_with("… and soil") != [])
        screen.press(ENTER)
        screen.wait(lambda: screen.rows_with("I-search") == [])
        screen.press(ENTER)
        screen.until_shown("tokens in")
        at_prompt(screen)
        ended(screen)

    history = tmp_path / "state" / "antiphon" / "history"
    assert history.read_text() == "about gardens\\\nand soil\n"
    assert history.stat().st_mode & 0o777 == 0o600


def test_a_message_is_written_in_the_editor_of_the_user(tmp_path):
    editor = tmp_path / "editor.py"
    editor.write_text("import sys; open(sys.argv[1], 'a').write('Written\\nelsewhere')")
    command = f"{sys.executable} {editor}"
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}]), EDITOR=command, VISUAL="") as screen:
        at_prompt(screen)
        screen.type("/editor")
        screen.until_shown("tokens in")
        at_prompt(screen)
        text = exported(screen, tmp_path)
        ended(screen)

    assert "Written\nelsewhere" in text


def test_the_keys_of_vi_are_those_of_the_settings_of_readline(tmp_path):
    (tmp_path / "inputrc").write_text("set editing-mode vi\n")
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.press(b"one two\x1b")
        screen.press(b"0dw")
        screen.wait(lambda: "> two" in screen.rows[-1])
        screen.press(CUT)
        screen.wait(lambda: screen.rows[-1].startswith("> ") and "two" not in screen.rows[-1])
        screen.type("i/keys emacs")
        screen.until_shown("keys of emacs")
        at_prompt(screen)
        ended(screen)


def test_the_keys_of_vi_are_those_of_the_settings_of_the_user(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}]), ANTIPHON_EDITING_MODE="vi") as screen:
        at_prompt(screen)
        screen.press(b"one two\x1b")
        screen.press(b"0dw")
        screen.wait(lambda: "> two" in screen.rows[-1])
        screen.press(CUT)
        screen.wait(lambda: screen.rows[-1].startswith("> ") and "two" not in screen.rows[-1])
        ended(screen)


@pytest.mark.parametrize("arguments", [["models"], ["threads", "list"], ["chat", "-m", "scripted:chat", "Hello"]])
def test_no_question_and_no_list_loads_the_line_editor(arguments):
    code = (
        "import sys; from antiphon.cli.main import main; main(sys.argv[1:]);"
        "print([name for name in sys.modules if name.startswith('prompt_toolkit')])"
    )
    ran = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, input="")

    assert ran.stdout.endswith("[]\n")


def test_lines_typed_before_the_first_prompt_are_a_draft_and_not_sent(tmp_path):
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        screen.press(b"one\rtwo\r")
        screen.wait(lambda: screen.rows[-3:-1] == ["> one", "… two"])
        screen.press(CUT)
        at_prompt(screen)
        assert ended(screen) == 0

    assert "Yes." not in screen.raw


def test_joined_characters_are_drawn_apart_deleted_whole_and_sent_as_typed(tmp_path):
    """The arrow keys and Backspace take a family, a flag and an accented letter as one character."""
    family = "👩\u200d👩\u200d👧"
    with Screen("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as screen:
        at_prompt(screen)
        screen.press(f"ab{family}cd".encode())
        screen.wait(lambda: screen.rows[-1].rstrip() == "> ab👩+👩+👧cd")
        screen.press(b"\x1b[H")
        screen.press(b"X")
        screen.wait(lambda: screen.rows[-1].rstrip() == "> Xab👩+👩+👧cd")
        screen.press(b"\x1b[F")
        screen.press("e\u0301🇩🇪🇫🇷z".encode())
        screen.wait(lambda: "DEFRz" in screen.rows[-1])
        screen.press(b"\x1b[D\x7f\x1b[D\x7f")  # over z, the flag of France, over that of Germany, the letter
        screen.wait(lambda: screen.rows_with("cdDEz"))
        screen.press(ENTER)
        screen.until_shown("Yes.")
        at_prompt(screen)
        text = exported(screen, tmp_path)
        ended(screen)

    assert f"Xab{family}cd🇩🇪z" in text
