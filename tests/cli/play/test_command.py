"""The command's options, its exit codes, and how it leaves the terminal."""

import json
import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.fixtures.command import antiphon

DOOR = {
    "id": "door",
    "initial": "closed",
    "context": {"tries": 0},
    "states": {
        "closed": {"on": {"OPEN": {"target": "opening", "guard": "hasKey", "actions": "creak"}}},
        "opening": {"invoke": {"src": "motor", "id": "motor", "onDone": "open"}, "after": {"tooLong": "closed"}},
        "open": {"type": "final"},
    },
}


@pytest.fixture
def door(tmp_path):
    path = tmp_path / "door.json"
    path.write_text(json.dumps(DOOR))
    return path


def test_a_chart_is_played_by_typed_events(door):
    played = antiphon("play", "--chart", door, typed="OPEN\ndone motor\n")

    told = [" ".join(line.split()[2:]) for line in played.stdout.splitlines()[:3]]
    assert (played.returncode, told) == (0, ["start closed tries=0", "OPEN opening", "done motor open (done)"])
    assert "Ended in open: 3 steps, 3 states" in played.stdout


def test_a_denied_guard_does_not_hold(door):
    played = antiphon("play", "--chart", door, "--deny", "hasKey", typed="OPEN\n")

    assert "OPEN (no reaction)  closed" in played.stdout


def test_time_can_be_let_pass(door):
    played = antiphon("play", "--chart", door, "--speed", 100, typed='OPEN\n{"after": 1500}\n')

    assert "after tooLong" in played.stdout


def test_a_line_that_is_no_event_is_complained_about(door):
    played = antiphon("play", "--chart", door, typed='{"kind": 1}\nOPEN {"half":\nOPEN {"key": 7}\n')

    assert played.stderr.splitlines() == [
        'antiphon play: "type" must be a string in {"kind": 1}',
        'antiphon play: invalid JSON: {"half":',
    ]
    assert "opening" in played.stdout


def test_a_failure_that_nobody_reacts_to_is_the_last_step(tmp_path):
    path = tmp_path / "chart.json"
    path.write_text(json.dumps({"invoke": {"src": "s", "id": "s"}}))

    played = antiphon("play", "--chart", path, "--json", typed='error s {"error": "no"}\nMORE\n')

    steps = [json.loads(line) for line in played.stdout.splitlines()]
    assert [step["event"]["type"] for step in steps] == ["xstate.init", "xstate.error.actor.s"]
    assert (steps[-1]["status"], steps[-1]["error"]) == ("error", "no")


def test_an_error_in_the_machine_is_its_last_step(tmp_path):
    path = tmp_path / "chart.json"
    states = {"a": {"on": {"GO": "b"}}, "b": {"always": "c"}, "c": {"always": "b"}}
    path.write_text(json.dumps({"initial": "a", "states": states, "options": {"maxIterations": 50}}))

    played = antiphon("play", "--chart", path, typed="GO\n")

    assert "a (error)" in played.stdout
    assert "LoopError: machine '(machine)' did not come to rest within 50 microsteps" in played.stdout


def test_a_chart_that_is_wrong_is_refused_with_its_place(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps({"id": "bad", "initial": "a", "states": {"a": {"on": {"GO": "nowhere"}}}}))

    refused = antiphon("play", "--chart", path)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith(f"antiphon play: {path}: bad: states.a.on.GO.target: ")
    assert "known: a" in refused.stderr


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1, column 2: invalid JSON"),
        ("[]", "a chart must be a JSON object, not list"),
        ("\x00", "invalid JSON"),
    ],
)
def test_a_file_that_holds_no_chart_is_refused(tmp_path, text, problem):
    path = tmp_path / "no.json"
    path.write_text(text)

    refused = antiphon("play", "--chart", path)

    assert refused.returncode == 2
    assert problem in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["--chart", "/no/such/file"],
        ["--speed", "fast"],
        ["--speed", "0"],
        ["--plain", "--json"],
        ["--deny", "x"],
        ["--frobnicate"],
    ],
    ids=" ".join,
)
def test_misuse_exits_with_two_and_a_message(arguments):
    refused = antiphon("play", *arguments)

    assert refused.returncode == 2
    assert refused.stderr


def test_denying_a_guard_that_is_not_there_is_refused(door):
    refused = antiphon("play", "--chart", door, "--deny", "hasKee")

    assert (refused.returncode, refused.stderr) == (
        2,
        "antiphon play: door: --deny: no guard named 'hasKee'; known: hasKey\n",
    )


@pytest.mark.parametrize(("option", "text"), [("--help", "--chart"), ("--version", "antiphon ")])
def test_help_and_version(option, text):
    said = antiphon(option) if option == "--version" else antiphon("play", option)

    assert said.returncode == 0
    assert text in said.stdout


def test_whoever_reads_may_stop_reading():
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon", "play", "--speed", "20"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )

    process.stdout.readline()
    process.stdout.close()

    assert (process.wait(timeout=60), process.stderr.read()) == (0, b"")
    process.stderr.close()


def in_a_terminal(*arguments):
    """The command in a terminal of its own: the process, and the file that stands for the terminal's screen."""
    screen, terminal = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "LINES": "24", "TERM": "xterm"}
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=environment,
        start_new_session=True,
    )
    os.close(terminal)
    return process, screen


def read_until(screen, text):
    seen = b""
    while text not in seen:
        try:
            seen += os.read(screen, 65536)
        except OSError:  # the last process that used the terminal has ended
            return seen
    return seen


def test_interrupting_it_gives_the_cursor_back():
    process, screen = in_a_terminal("play")

    before = read_until(screen, b"SEND")
    process.send_signal(signal.SIGINT)
    after = read_until(screen, b"\x00 never")

    assert b"\x1b[?25l" in before
    assert b"\x1b[?25h" in after
    assert process.wait(timeout=60) == 130
    os.close(screen)


def test_in_a_terminal_it_draws_a_picture_that_stays():
    process, screen = in_a_terminal("play", "--speed", "50")

    seen = read_until(screen, b"\x00 never").decode()

    assert process.wait(timeout=60) == 0
    assert all(word in seen for word in ("── states ─", "── events ─", "── context ─", "── text ─", "Try next:"))
    os.close(screen)


def test_in_a_terminal_events_are_typed_at_a_prompt(door):
    process, screen = in_a_terminal("play", "--chart", str(door))

    read_until(screen, b"> ")
    os.write(screen, b"OPEN\n")
    read_until(screen, b"done motor")
    os.write(screen, b"done motor\n")
    seen = read_until(screen, b"\x00 never").decode()

    assert process.wait(timeout=60) == 0
    assert "Ended in open" in seen
    os.close(screen)


def test_without_a_command_it_says_what_it_can_do():
    said = antiphon()

    assert said.returncode == 0
    assert all(word in said.stdout for word in ("chat", "threads", "models", "db", "play", "examples:"))


def test_a_command_that_is_not_there_is_refused_with_the_nearest_one():
    refused = antiphon("chatter")

    assert refused.returncode == 2
    assert "did you mean: antiphon chat? antiphon --help lists all" in refused.stderr
