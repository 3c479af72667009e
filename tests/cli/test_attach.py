"""Threads that one terminal has started are listed, watched, answered and left in another."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.fixtures.command import antiphon
from tests.fixtures.local_server import windows_on
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import calls, says, script

ASKED = "allow? > "
PROMPT = "\n> "
LEFT = "left; it continues; watch it again with: antiphon attach "
BEGUN = "It begins. "
TOPIC = "Should a city close its centre to private cars?"


@pytest.fixture
def store(short_folder, monkeypatch):
    with windows_on(short_folder, monkeypatch) as path:
        monkeypatch.setenv("ANTIPHON_STORE", str(path))
        yield path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


def slow(tmp_path):
    return script(tmp_path, {"steps": [{"text": BEGUN}, {"delay_ms": 600_000}, {"text": "It ends."}]})


def writer(tmp_path):
    return script(
        tmp_path,
        says("developer", "First is written.", after="write_file"),
        calls("developer", "write_file", {"path": "a.py", "content": "1\n"}),
        says("planner", '{"steps": ["Write"], "confidence": 0.9}'),
    )


def at_work(model, folder):
    return Screen("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write", columns=100)


def speaking(model):
    """One question in a process of its own, whose answer has begun."""
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "Speak"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout.read(len(BEGUN)) == BEGUN
    return process


def stop(process):
    """Press Ctrl-C, and return the exit code and the rest of the output."""
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, rest


def listed():
    return json.loads(antiphon("ps", "--json").stdout)


def test_a_run_of_another_terminal_is_answered_by_the_one_that_attaches(store, tmp_path, folder):
    with at_work(writer(tmp_path), folder) as screen:
        screen.until(ASKED)
        (row,) = listed()
        assert (row["kind"], row["status"], row["waiting"], row["windows"]) == ("run", "waiting", "permission", 1)
        assert row["next"] == f"antiphon attach {row['id']}"
        with Screen("attach", columns=100) as other:
            other.until(f"attached to run {row['id'][:8]}: Write (waiting (permission))")
            other.until(ASKED)
            assert listed()[0]["windows"] == 2
            other.type("a")
            other.until("First is written.")
            shown, code = other.end()

    assert code == 0
    assert "done; details: antiphon runs show" in shown
    assert (folder / "a.py").read_text() == "1\n"


def test_a_denial_that_comes_too_late_is_neither_asked_for_a_reason_nor_reported(store, tmp_path, folder):
    with at_work(writer(tmp_path), folder) as first:
        first.until(ASKED)
        with Screen("attach", listed()[0]["id"], columns=100) as second:
            second.until(ASKED)
            first.type("a")
            first.until("← write_file ok")
            second.type("d")
            late = second.until("this request was already answered or has expired; the answer was ignored")
            second.end()
        first.end()

    assert "denied" not in late
    assert "reason (sent to the model)" not in late
    assert (folder / "a.py").read_text() == "1\n"


@pytest.mark.parametrize("key", [b"q", b"\x04", b"\x03"], ids=["q", "Ctrl-D", "Ctrl-C"])
def test_leaving_a_reply_that_is_watched_leaves_it_running(store, tmp_path, key):
    model = slow(tmp_path)
    with Screen("chat", "-m", model, columns=100) as screen:
        screen.until(PROMPT)
        screen.type("Speak")
        screen.until("It begins.")
        with Screen("attach", columns=100) as other:
            other.until("q leaves it running, s stops it")
            other.until("It begins.")
            assert [(row["status"], row["windows"]) for row in listed()] == [("running", 2)]
            other.press(key)
            shown, code = other.end()

        assert (code, LEFT in shown) == (0, True)
        assert [row["status"] for row in listed()] == ["running"]


def test_a_reply_is_stopped_by_the_terminal_that_watches_it(store, tmp_path):
    with Screen("chat", "-m", slow(tmp_path), columns=100) as screen:
        screen.until(PROMPT)
        screen.type("Speak")
        screen.until("It begins.")
        with Screen("attach", columns=100) as other:
            other.until("It begins.")
            other.press(b"s")
            other.until("stopped; the text so far is kept")
            other.until(PROMPT)
            other.press(b"\x04")
            assert other.end()[1] == 0
        screen.until("stopped; the text so far is kept")


def test_a_killed_terminal_disturbs_no_reply_of_another(store, tmp_path):
    first = speaking(slow(tmp_path))
    with Screen("chat", "-m", "scripted:demo", columns=100) as screen:
        screen.until(PROMPT)
        with Screen("attach", columns=100) as other:
            other.until(BEGUN.strip())
            os.kill(other.process.pid, signal.SIGKILL)
            other.end()
        os.kill(screen.process.pid, signal.SIGKILL)
        screen.end()
    (row,) = listed()

    assert (row["status"], row["windows"], first.poll()) == ("running", 1, None)
    assert stop(first) == (130, "\n")


def test_a_debate_is_watched_and_left_running(store, tmp_path):
    judged = {"system": "judge", "steps": [{"delay_ms": 600_000}]}
    model = script(tmp_path, judged, {"steps": [{"text": "For it."}, {"delay_ms": 600_000}]})
    with Screen("debate", TOPIC, "-m", model, columns=100) as screen:
        screen.until("For it.")
        with Screen("attach", "last", columns=100) as other:
            other.until("q leave")
            other.press(b"q")
            shown, code = other.end()
        assert (code, LEFT in shown) == (0, True)
        assert [(row["kind"], row["status"]) for row in listed()] == [("debate", "running")]


def test_a_reply_is_read_to_its_end_without_a_terminal(store, tmp_path):
    first = speaking(slow(tmp_path))
    command = [sys.executable, "-m", "antiphon", "attach"]
    watching = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert watching.stdout.read(len(BEGUN)) == BEGUN
    stop(first)
    _, notes = watching.communicate(timeout=60)

    assert watching.returncode == 130
    assert "stopped; the text so far is kept" in notes


def test_what_does_not_run_cannot_be_attached_to(store, tmp_path):
    assert antiphon("chat", "-m", "scripted:demo", "Hello").returncode == 0
    nothing = antiphon("attach")
    ended = antiphon("attach", listed_id())

    assert (nothing.returncode, ended.returncode) == (1, 1)
    assert "nothing runs or waits; continue a conversation with: antiphon resume" in nothing.stderr
    assert f"chat {listed_id()[:8]} is completed; show it with: antiphon threads show" in ended.stderr


def listed_id():
    return json.loads(antiphon("threads", "list", "--json").stdout)[0]["id"]
