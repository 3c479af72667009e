"""Attacks on the terminal of a person: sequences in every text that a command shows, written to a real terminal."""

import io
import os
import pty
import re
import subprocess
import sys
import unicodedata

import pytest

from antiphon.cli.main import main
from antiphon.cli.render.gate import clean_drawing
from antiphon.cli.render.text_width import escape_controls
from tests.attacks.attack import Attack
from tests.fixtures.chats import script as replies
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

PIECES = {
    "the title of the window": "\x1b]0;owned\x07",
    "the clipboard": "\x1b]52;c;b3duZWQ=\x07",
    "a hidden link": "\x1b]8;;http://127.0.0.1\x07here\x1b]8;;\x07",
    "the screen cleared": "\x1b[2J\x1b[H",
    "hidden text": "\x1b[8mhidden\x1b[0m",
    "a line overwritten": "safe\rrm -rf",
    "a character deleted": "rm -i\b\b  ",
    "C1 controls": "\x9b2J\x9d0;owned\x9c",
    "a device string": "\x1bPq\x1b\\",
    "text turned round": "\u202eexe.fdp\u202c",
    "isolated directions": "\u2066x\u2069",
    "NUL": "a\0b",
    "a bell": "\x07",
    "half of a character": "\ud800",
    "a mode of the mouse": "\x1b[?1000h",
    "a question to the terminal": "\x1b[6n",
}
HOSTILE = "".join(PIECES.values())
ON_DISK = HOSTILE.replace("\0", "").replace("\ud800", "")
NAME = re.sub(r"[/\0\ud800]", "", HOSTILE)
# What our own views write: colours, cursor, erasing.
OWN = re.compile(r"\x1b\[(?:[0-9;]*[ABCDGHJKm]|\?25[lh]|\?2004[lh]|\?1034h)|\x1b[78]|\x1b\(B")
PLACES = (
    "the text of a model", "the text of a model, plain", "the output of a tool", "the arguments of a tool",
    "the name of a file", "the warning of an agent file", "the error of an agent file", "the name of an agent",
    "the command of an MCP server", "the last output of an MCP server", "an option", "a value in an error",
    "an exported thread", "the title of a thread", "a traceback", "a chart",
)  # fmt: skip
ATTACKS = (
    *(Attack(name, piece, works_unprotected="\ud800" not in piece) for name, piece in PIECES.items()),
    *(Attack(f"sequences in {place}", HOSTILE, works_unprotected=False) for place in PLACES),
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_TRUSTED_FOLDERS", str(tmp_path / "trusted.json"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def folder(tmp_path):
    work = tmp_path / "work"
    (work / ".antiphon" / "agents").mkdir(parents=True)
    return work


def assert_clean(raw):
    """Nothing reached the terminal but text and the sequences of our own views."""
    assert "\x1b]" not in raw
    assert "\x1b[2J" not in raw
    assert "\x1b[8m" not in raw
    rest = OWN.sub("", raw)
    assert (
        sorted({f"U+{ord(each):04X}" for each in rest if unicodedata.category(each)[0] == "C" and each not in "\r\n\t"})
        == []
    )


def shown(*arguments, **environment):
    """What a command writes to a terminal until it ends."""
    with Screen(*arguments, **environment) as screen:
        text, _ = screen.end()
        assert_clean(screen.raw)
        return text


def on_terminal(code):
    """What a program without a gate writes to a terminal."""
    screen, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, stderr=terminal, check=True)
    os.close(terminal)
    data = os.read(screen, 65_536)
    os.close(screen)
    return data.decode("utf-8", "replace")


@pytest.mark.parametrize("name", [name for name, piece in PIECES.items() if "\ud800" not in piece])
def test_a_terminal_gets_the_sequence_without_the_gate_and_not_with_it(name):
    code = f"import sys; sys.stdout.write({PIECES[name]!r})"
    gate = f"from antiphon.cli.render.gate import install_gates; install_gates(); {code}"

    assert PIECES[name] in on_terminal(code)
    assert_clean(on_terminal(gate).replace("safe\r", "safe"))


def test_a_lone_surrogate_is_written_as_its_number():
    gate = "from antiphon.cli.render.gate import install_gates; install_gates(); print('\\ud800')"

    assert on_terminal(gate) == "‹U+D800›\r\n"


def test_a_view_draws_colours_and_nothing_else():
    assert clean_drawing("\x1b[1;31mred\x1b[0m\x1b[2K\r") == "\x1b[1;31mred\x1b[0m\x1b[2K\r"
    assert clean_drawing("\x1b]0;x\x07\x1b[?1049h") == "‹U+001B›]0;x‹U+0007›‹U+001B›[?1049h"


def test_text_of_people_stays_as_it_is():
    text = "Zürich 東京 👩\u200d💻 שלום مرحبا\n\tx"

    assert escape_controls(text) == text


@pytest.mark.parametrize("options", [(), ("--plain",), ("--thinking",)])
def test_the_text_of_a_model(tmp_path, options):
    model = replies(tmp_path, [{"text": f"Hello {HOSTILE.replace(chr(0xD800), '')} end."}])

    assert "end." in shown("chat", "-m", model, *options, "Hi")


def test_what_tools_are_asked_and_answer(tmp_path, folder):
    (folder / "secret.txt").write_text(f"read {ON_DISK} end")
    model = script(
        tmp_path,
        says("developer", f"Done {ON_DISK}", after="read_file"),
        calls("developer", "read_file", {"path": "secret.txt", "pattern": ON_DISK}),
        says("planner", '{"steps": ["Write"]}'),
    )

    shown(
        "run", "-m", model, "--arbiter", "rules", "--mode", "auto", "--max-iterations", "4", "--workspace", folder, "Go"
    )


def test_the_name_and_the_content_of_an_agent_file(folder):
    (folder / ".antiphon" / "agents" / f"{NAME[:80]}.yaml").write_text("name: [x")
    (folder / ".antiphon" / "agents" / "b.yaml").write_text('name: "A\\e]0;x\\a"\nwhenToUse: x\nsystemPrompt: y\n')

    assert "invalid YAML" in shown("agents", "check", folder / ".antiphon" / "agents")


def test_a_warning_of_an_agent_file(folder):
    text = 'name: poet\nwhenToUse: x\nsystemPrompt: Short.\ntools: {allowed: ["\\e]0;x\\a"], blocked: ["\\e]0;x\\a"]}\n'
    (folder / ".antiphon" / "agents" / "poet.yaml").write_text(text)

    assert "therefore blocked" in shown("agents", "check", folder / ".antiphon" / "agents")


def test_what_a_folder_brings(folder):
    server = '[servers.x]\ncommand = "\\u001b]0;x\\u0007"\nargs = ["\\u202e"]\n'
    (folder / ".antiphon" / "mcp.toml").write_text(server)
    (folder / ".antiphon" / "agents" / f"{NAME[:80]}.yaml").write_text('name: "\\e]0;x\\a"\nmodel: "\\e[2J"\n')

    assert "starts x" in shown("trust", "--show", folder)


def test_the_question_about_a_folder(tmp_path, folder):
    (folder / ".antiphon" / "mcp.toml").write_text('[servers.x]\ncommand = "\\u001b]0;x\\u0007"\n')

    with Screen("run", "-m", "scripted:agents", "--workspace", folder, "Go") as screen:
        screen.until("trust this folder?")
        assert_clean(screen.raw)


def test_the_last_output_of_a_server_that_ends(tmp_path):
    program = tmp_path / "server.py"
    program.write_text(f"import sys; sys.stderr.write({ON_DISK!r})")
    (tmp_path / "mcp.toml").write_text(f"[servers.x]\ncommand = {sys.executable!r}\nargs = [{str(program)!r}]\n")
    model = replies(tmp_path, [{"text": "Hello."}])

    assert "x: " in shown("chat", "-m", model, "--mcp", tmp_path / "mcp.toml", "Hi")


@pytest.mark.parametrize(
    "arguments",
    [
        ("chat", f"--{ON_DISK.replace(chr(32), '')}"),
        ("chat", "-m", ON_DISK, "Hi"),
        ("run", "--workspace", ON_DISK, "Go"),
        ("threads", "show", ON_DISK),
        (ON_DISK,),
        ("play", "--chart", ON_DISK),
    ],
    ids=["option", "model", "folder", "thread", "command", "chart"],
)
def test_a_value_in_an_error(arguments):
    shown(*arguments)


def test_a_thread_that_is_shown_and_exported(tmp_path, monkeypatch, capsys):
    model = replies(tmp_path, [{"text": f"Reply {ON_DISK} end."}])
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert main(["chat", "-m", model, f"Ask {ON_DISK}"]) == 0

    for command in (("list",), ("show", "last"), ("export", "last"), ("export", "last", "--format", "json")):
        shown("threads", *command)


def test_a_traceback(tmp_path):
    code = f"from antiphon.cli.render.gate import install_gates; install_gates()\nraise ValueError({ON_DISK!r})"
    screen, terminal = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stdout=terminal, stderr=terminal)
    os.close(terminal)
    data = os.read(screen, 65_536).decode("utf-8", "replace")
    os.close(screen)

    assert "ValueError" in data
    assert_clean(data)


@pytest.mark.parametrize("options", [("--plain",), ()])
def test_a_chart_with_hostile_names(tmp_path, options):
    chart = tmp_path / "door.json"
    chart.write_text(
        '{"id": "d\\u001b]0;x\\u0007", "initial": "a\\u001b[2J", "states": {"a\\u001b[2J": {"type": "final"}}}'
    )

    shown("play", "--chart", chart, *options)


@pytest.mark.parametrize("form", ["ladder", "mermaid", "dot", "table", "text"])
def test_a_drawn_chart_with_hostile_names(tmp_path, form):
    chart = tmp_path / "door.json"
    chart.write_text(
        '{"id": "d\\u001b]0;x\\u0007", "initial": "a\\u001b[2J", "states": {"a\\u001b[2J": {"type": "final"}}}'
    )

    shown("chart", "draw", chart, "--as", form)
