"""The request for permission on an emulated terminal: the same in a chat, in a run and for MCP, at any width."""

import sys

import pytest

from tests.fixtures.chats import ECHO, echo_server
from tests.fixtures.chats import script as chat_script
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

GREEN = "\x1b[32m"
COMMAND = "touch one && echo " + " ".join(f"word{number}" for number in range(30))
KEYS = ["e  edit the arguments, then allow once", "d  deny, with a reason for the model", "s  show everything again"]
EDIT = "import sys; path = sys.argv[1]; text = open(path).read(); open(path, 'w').write(text.replace('one', 'two'))"


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")


@pytest.fixture
def editor(tmp_path):
    """An editor that changes one word."""
    program = tmp_path / "editor.py"
    program.write_text(EDIT)
    return {"EDITOR": f"{sys.executable} {program}", "VISUAL": ""}


def run(tmp_path, model, columns, **environment):
    folder = tmp_path / "work"
    folder.mkdir()
    plan = tmp_path / "plan.json"
    plan.write_text('{"steps": ["Do it"]}')
    options = ["-m", model, "--arbiter", "rules", "--workspace", folder, "--plan", plan]
    return Screen("run", *options, "Do it", columns=columns, lines=50, **environment)


@pytest.mark.parametrize("columns", [40, 80, 110, 200])
def test_the_whole_command_why_it_is_asked_and_the_keys_are_shown(tmp_path, columns):
    model = script(
        tmp_path, says("developer", "Done.", after="shell"), calls("developer", "shell", {"command": COMMAND})
    )
    with run(tmp_path, model, columns) as screen:
        screen.wait(lambda: screen.rows[-1:] == ["allow? > "])
        rows = screen.all_rows
        screen.type("d")
        screen.until_shown("reason (sent to the model) > ")
        screen.type("no")
        screen.end()

    shown = "".join(row.ljust(columns) if len(row) == columns else f"{row} " for row in rows)
    assert "requests shell" in " ".join(shown.split())
    assert "".join(COMMAND.split()) in "".join(shown.split())
    assert "asked because" in " ".join(shown.split())
    assert "a  allow once" in "".join(shown)
    assert [key for key in KEYS if key.split()[0] not in "".join(rows)] == []


def test_a_change_is_a_coloured_diff_that_is_edited_and_made_once(tmp_path, editor):
    content = {"path": "a.py", "content": "one = 1\nmore = 2\n"}
    model = script(tmp_path, says("developer", "Done.", after="write_file"), calls("developer", "write_file", content))
    with run(tmp_path, model, 80, **editor) as screen:
        screen.wait(lambda: screen.rows[-1:] == ["allow? > "])
        screen.type("e")
        rows = screen.until_shown("allow once with these arguments?")
        screen.type("y")
        _, code = screen.end()

    assert code == 0
    assert f"{GREEN}  +one = 1" in screen.raw
    assert "  │ two = 1" in rows
    assert (tmp_path / "work" / "a.py").read_text() == "two = 1\nmore = 2\n"


def test_a_tool_of_an_mcp_server_is_asked_about_with_the_same_keys(tmp_path, editor):
    asked = [{"tool": ECHO, "arguments": {"name": "one"}}]
    model = chat_script(tmp_path, (ECHO, [{"text": "As you say."}]), asked)
    with Screen("chat", "-m", model, "--mcp", echo_server(tmp_path), lines=50, **editor) as screen:
        screen.wait(lambda: screen.rows[-1:] == ["> "])
        screen.type("File it")
        screen.wait(lambda: screen.rows[-1:] == ["allow? > "])
        rows = screen.rows
        screen.type("e")
        screen.until_shown("  name: two")
        screen.until_shown("y: yes, n: back > ")
        screen.type("y")
        screen.until_shown("As you say.")
        screen.wait(lambda: screen.rows[-1:] == ["> "])
        screen.press(b"\x04")
        screen.end()

    assert [row.strip() for row in rows if row.strip() in KEYS] == KEYS
