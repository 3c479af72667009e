"""Endings are told as they are: cut replies, denied tools, refused options; failed attempts leave nothing behind."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.fixtures.command import antiphon
from tests.fixtures.scripted_team import calls, says, script

TOPIC = "Should a city close its centre to private cars?"
CUT = {"steps": [{"text": "Half of it"}, {"stop": "length"}]}
NOTE = "cut off at the token limit"


@pytest.fixture
def store(tmp_path, monkeypatch):
    path = tmp_path / "store.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(path))
    return path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    return path


def end_of(process):
    return json.loads(process.stdout.splitlines()[-1])


def test_a_cut_answer_says_so_beside_the_answer(store, tmp_path):
    answered = antiphon("chat", "-m", script(tmp_path, CUT), "Speak")

    assert (answered.returncode, answered.stdout) == (0, "Half of it\n")
    assert NOTE in answered.stderr


def test_a_cut_answer_says_so_as_json(store, tmp_path):
    assert end_of(antiphon("chat", "-m", script(tmp_path, CUT), "--json", "Speak"))["stop"] == "length"


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_a_cut_turn_of_a_debate_says_whose_it_is(store, tmp_path, options):
    verdict = {"system": "judge", "steps": [{"error": "1001", "message": "no"}]}
    debated = antiphon("debate", TOPIC, "-m", script(tmp_path, verdict, CUT), "--rounds", "1", *options)

    assert f"Ada was {NOTE}; --max-tokens sets a higher one" in debated.stderr


def test_a_cut_reply_of_an_agent_says_whose_it_is(store, tmp_path, folder):
    plan = says("planner", '{"steps": ["Write"], "confidence": 0.9}')
    model = script(tmp_path, plan, {"system": "developer", **CUT}, says("developer", "The rest."))
    shown = antiphon("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write")
    told = antiphon("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "--json", "Write")

    assert "warning: a reply of developer was cut off at its token limit" in shown.stderr
    kinds = [json.loads(line) for line in told.stdout.splitlines()]
    assert {"stop": "length"} in [row.get("facts") for row in kinds if row["kind"] == "reply_cut"]


def test_a_run_whose_writes_were_denied_has_failed(store, tmp_path, folder):
    model = script(
        tmp_path,
        says("developer", "Not written.", after="write_file"),
        calls("developer", "write_file", {"path": "a.py", "content": "1"}),
        says("planner", '{"steps": ["Write"], "confidence": 0.9}'),
    )
    denied = antiphon("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write")

    assert denied.returncode == 1
    assert "write_file denied" in denied.stderr
    assert "not done: " in denied.stderr


FAILED = [
    (["chat", "-m", "nobody:nothing", "Hello"], 2),
    (["chat", "-m", "anthropic:claude-sonnet-5-5", "Hello"], 1),
    (["chat", "-m", "scripted:demo", "--system", "Be brief", "-c", "Hello"], 2),
    (["chat", "-m", "scripted:demo", "--max-cost", "-1", "Hello"], 2),
    (["run", "-m", "nobody:nothing", "Write"], 2),
    (["run", "-m", "anthropic:claude-sonnet-5-5", "Write"], 1),
    (["run", "-m", "scripted:agents"], 2),
    (["run", "-m", "scripted:agents", "--plan", "nothing.json", "Write"], 2),
    (["debate", TOPIC, "-m", "nobody:nothing"], 2),
    (["debate", TOPIC, "-m", "anthropic:claude-sonnet-5-5"], 1),
    (["debate", TOPIC, "-m", "scripted:debate", "--rounds", "99"], 2),
    (["debate"], 2),
]


@pytest.mark.parametrize(
    ("words", "code"), FAILED, ids=lambda value: "-".join(value)[:60] if isinstance(value, list) else str(value)
)
def test_a_failed_attempt_leaves_no_empty_thread(store, folder, words, code):
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    failed = antiphon(*words, cwd=folder, env={**environment, "ANTIPHON_SERVER": "off"})

    assert (failed.returncode, len(failed.stderr.splitlines()) >= 1, "Traceback" in failed.stderr) == (
        code,
        True,
        False,
    )
    assert not store.exists() or json.loads(antiphon("threads", "--json", "--all").stdout) == []


@pytest.mark.parametrize("words", [["-c"], ["--thread", "last"]])
def test_a_system_prompt_for_an_old_conversation_is_refused(store, words):
    assert antiphon("chat", "-m", "scripted:demo", "Hello").returncode == 0
    refused = antiphon("chat", *words, "--system", "Be brief", "Again")

    assert (refused.returncode, refused.stderr) == (
        2,
        "antiphon chat: --system is for new conversations; remove it, or start a new one without -c and --thread\n",
    )


def test_where_nothing_is_lost_a_run_cannot_be_resumed_and_stays_as_it_was(store, tmp_path, folder):
    model = script(tmp_path, says("planner", '{"steps": ["Write"], "confidence": 0.9}'), says("developer", "Written."))
    assert antiphon("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Write").returncode == 0
    (before,) = json.loads(antiphon("runs", "--json").stdout)
    refused = antiphon("run", "--resume", "last")

    assert refused.returncode == 2
    assert "it is complete; show it with: antiphon runs show" in refused.stderr
    assert json.loads(antiphon("runs", "--json").stdout) == [before]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_signal_ends_a_question_with_its_code_and_a_line(store, tmp_path, number, code):
    model = script(tmp_path, {"steps": [{"text": "It begins. "}, {"delay_ms": 600_000}]})
    command = [sys.executable, "-m", "antiphon", "chat", "-m", model, "Speak"]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.read(5) == "It be"
    process.send_signal(number)
    _, notes = process.communicate(timeout=60)

    assert process.returncode == code
    assert len(notes.splitlines()) >= 1
    assert "Traceback" not in notes


@pytest.mark.parametrize(("make", "kind"), [(os.mkdir, "a folder"), (os.mkfifo, "a device or a pipe")])
@pytest.mark.parametrize("words", [("threads",), ("chat", "-m", "scripted:chat", "hi")])
def test_a_store_that_is_no_file_is_refused(tmp_path, words, make, kind):
    path = tmp_path / "place"
    make(path)

    refused = antiphon(*words, "--store", path)

    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == (
        f"antiphon {words[0]}: {path} is {kind}, not a store; choose another with --store or ANTIPHON_STORE\n"
    )
