"""`antiphon run` as programs use it: a task, a folder that really changes, an exit code; lost runs are resumed."""

import io
import json
import os
import re
import signal
import subprocess
import sys

import pytest

from antiphon.cli.default_model import choose_model
from antiphon.cli.main import main
from antiphon.cli.run.options import SCRIPT
from antiphon.threads import TrustedFolders, read_folder
from tests.fixtures.command import antiphon
from tests.fixtures.scripted_team import calls, decides, says, script
from tests.paths import ROOT

GOOD = "def add(a, b):\n    return a + b\n"
# Of another length: Python takes a file of the same length and second for the one that it has compiled.
BAD = "def add(a, b):\n    return a + b + b\n"
TEST = (
    "import unittest\nfrom add import add\n\n\nclass Adds(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
)
PLAN = '{"steps": ["Write add.py"], "confidence": 0.9}'
WRITES = (
    says("developer", "Written as add.py.", after="write_file"),
    calls("developer", "write_file", {"path": "add.py", "content": GOOD}),
    says("planner", PLAN),
)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "deep" / "store.db"))
    monkeypatch.setenv("ANTIPHON_TRUSTED_FOLDERS", str(tmp_path / "trusted.json"))
    monkeypatch.delenv("ANTIPHON_MODEL", raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())


@pytest.fixture
def folder(tmp_path):
    """Where agents work."""
    found = tmp_path / "work"
    found.mkdir()
    return found


@pytest.fixture
def model(tmp_path):
    """A developer that writes one file, by a plan of one step."""
    return script(tmp_path, *WRITES)


def run(*arguments):
    return main(["run", *map(str, arguments)])


def ended(out):
    """The last line of JSON, and those before it."""
    *happened, end = [json.loads(line) for line in out.splitlines()]
    return happened, end


@pytest.mark.requirement("S1-95..S1-97", "S1-106")
def test_a_task_is_done_in_a_folder_and_its_result_goes_to_the_standard_output(model, folder, capsys):
    code = run("-m", model, "--arbiter", "rules", "--mode", "auto-edit", "--workspace", folder, "Write", "add.py")

    out, err = capsys.readouterr()
    assert (code, out) == (0, "Written as add.py.\n")
    assert (folder / "add.py").read_text() == GOOD
    assert f"mode auto-edit · in {folder}" in err
    assert "1. planner: There is no plan yet.\n" in err
    assert "· Write add.py\n" in err or "▸ Write add.py" in err
    assert '→ write_file(path="add.py", content=' in err
    assert re.search(r"← write_file ok in \d\.\d s: Created add\.py \(32 bytes\)\.", err)
    assert "iteration 2 of 50 · failures 0 · $0.00 · 0 s" in err


def test_the_script_that_comes_with_the_package_needs_neither_a_key_nor_a_model(folder):
    done = antiphon("run", "-m", "scripted:agents", "--mode", "auto-edit", "Write greet.py", cwd=folder)

    assert (done.returncode, done.stdout.startswith("greet.py greets by name")) == (0, True)
    assert "raise ValueError" in (folder / "greet.py").read_text()


def whole_task(tmp_path):
    """A team whose first version fails its tests, whose second is sent back by a review, and whose third passes."""

    def writes(content, **patterns):
        files = [{"path": "add.py", "content": content}, {"path": "test_add.py", "content": TEST}]
        steps = [{"tool": "write_file", "arguments": file} for file in files]
        return {"system": "developer", **patterns, "steps": steps}

    def chooses(said, mode):
        return decides(f"(?s)Evaluate.*{said}", type="SELECT_MODE", mode=mode, reason="next")

    return script(
        tmp_path,
        decides("(?s)Evaluate.*review passed", type="COMPLETE", summary="add.py adds.", completed=[0]),
        chooses("third version", "reviewer"),
        chooses("tests passed", "reviewer"),
        chooses("second version", "tester"),
        decides("(?s)Evaluate.*tests failed", type="RETRY", reason="it is broken"),
        chooses("first version", "tester"),
        decides("(?s)tests failed", type="SELECT_MODE", mode="developer", reason="mend it"),
        decides(None, type="SELECT_MODE", mode="planner", reason="plan first"),
        says("planner", '{"steps": ["Write add.py with tests"]}'),
        says("tester", "Tests passed.", after="shell", when="second version"),
        says("tester", "Tests failed.", after="shell"),
        calls("tester", "shell", {"command": "python3 -m unittest"}),
        says("developer", "Third version.", after="write_file", when="changes wanted"),
        writes('"""Sums."""\n\n\n' + GOOD, when="changes wanted"),
        says("developer", "Second version.", after="write_file", when="tests failed"),
        writes(GOOD, when="tests failed"),
        says("developer", "First version.", after="write_file"),
        writes(BAD),
        says("reviewer", "Review passed.", when="third version"),
        says("reviewer", "Changes wanted: say what it is for."),
    )


@pytest.mark.requirement("S1-95..S1-97", "S1-54", "S1-61", "S1-106")
def test_a_team_writes_files_runs_their_tests_mends_them_and_is_sent_back_once(tmp_path, folder):
    """All of it in a process of its own, with a shell that really runs."""
    done = antiphon(
        "run", "--json", "-m", whole_task(tmp_path), "--mode", "auto", "Write add.py with tests", cwd=folder
    )

    happened, end = ended(done.stdout)
    assert (done.returncode, end["success"], end["summary"]) == (0, True, "add.py adds.")
    assert [entry["agent"] for entry in end["history"]] == [
        "planner", "developer", "tester", "developer", "tester", "reviewer", "developer", "reviewer",
    ]  # fmt: skip
    results = [one["facts"]["result"]["parts"][0]["text"] for one in happened if one["kind"] == "tool_ended"]
    first, second = [text for text in results if "Ran 1 test" in text]
    assert "FAILED (failures=1)" in first
    assert "OK" in second
    assert "FAILED" not in second
    assert (folder / "add.py").read_text() == '"""Sums."""\n\n\n' + GOOD


def test_quiet_is_the_result_and_nothing_else(model, folder, capsys):
    code = run("-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", folder, "--quiet", "Write add.py")

    assert code == 0
    assert tuple(capsys.readouterr()) == ("Written as add.py.\n", "")


@pytest.mark.requirement("S1-106")
def test_as_json_everything_that_happens_is_a_line_and_the_last_is_the_result(model, folder, capsys):
    options = ["--json", "-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", folder]
    code = run(*options, "Write add.py")

    out, err = capsys.readouterr()
    happened, end = ended(out)
    assert (code, err) == (0, "")
    assert {key for one in happened for key in one} == {"seq", "cursor", "at", "kind", "facts", "speaker", "offset"}
    kinds = [one["kind"] for one in happened]
    assert [kind for kind in kinds if kind.startswith("tool")] == ["tool_called", "tool_ended", "tool_answered"]
    assert (kinds[0], kinds[-1]) == ("task_started", "status")
    assert (end["kind"], end["success"], end["summary"], end["exit"]) == ("end", True, "Written as add.py.", 0)
    assert end["run"]
    assert [entry["agent"] for entry in end["history"]] == ["planner", "developer"]


def test_what_is_piped_in_is_part_of_the_task(model, folder):
    done = antiphon(
        "run", "--json", "-m", model, "--arbiter", "rules", "--mode", "auto", "Do this:", typed="words\n", cwd=folder
    )

    happened, _ = ended(done.stdout)
    assert happened[0]["facts"]["task"] == "Do this:\n\nwords"


@pytest.mark.requirement("S1-B13")
def test_where_nobody_can_be_asked_a_change_is_denied_and_the_task_is_not_done(tmp_path, folder, capsys):
    model = script(
        tmp_path,
        says("developer", "Denied, then.", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": GOOD}),
        says("planner", PLAN),
    )
    code = run("-m", model, "--arbiter", "rules", "--workspace", folder, "Write add.py")

    out, err = capsys.readouterr()
    assert (code, out) == (1, "Denied, then.\n")
    assert not (folder / "add.py").exists()
    assert (
        "not done: changes were denied (write_file); the reasons are above, and --mode auto-edit or auto allows more"
        in err
    )
    assert "no user to ask" in err
    assert "write_file denied: no user to ask: it creates a file; --mode auto-edit would allow it" in err


@pytest.mark.requirement("S1-109", "S1-108")
def test_a_call_that_plan_mode_denies_is_shown_with_the_reason(model, folder, capsys):
    run("-m", model, "--workspace", folder, "--arbiter", "rules", "--mode", "plan", "Write")

    err = capsys.readouterr().err
    assert "\n← write_file denied: plan mode\n" in err
    assert "write_file ok" not in err
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(("mode", "count"), [("auto", 1), ("auto-edit", 0), ("ask", 0)])
def test_where_commands_are_not_asked_about_it_is_said_once_that_undo_is_off(model, folder, mode, count, capsys):
    with (folder / "large").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    run("-m", model, "--workspace", folder, "--arbiter", "rules", "--mode", mode, "Write")

    line = "warning: undo is off for commands: the files of the workspace have more than 64 MiB\n"
    assert capsys.readouterr().err.count(line) == count


def test_where_files_are_changed_unasked_it_is_said_that_nothing_is_recorded(model, folder, capsys, monkeypatch):
    monkeypatch.setenv("ANTIPHON_UNDO", str(folder / "undo"))
    run("-m", model, "--workspace", folder, "--arbiter", "rules", "--mode", "auto-edit", "Write")

    line = f"warning: undo is off: the copies would be kept inside the workspace, in {folder / 'undo'}\n"
    assert capsys.readouterr().err.count(line) == 1


def test_another_model_is_asked_where_the_first_fails(tmp_path, folder, model, capsys):
    broken = tmp_path / "broken"
    broken.mkdir()
    failing = script(broken, {"steps": [{"error": "2002", "message": "not for you"}]})
    options = ["-m", failing, "--fallback", model, "--arbiter", "rules", "--mode", "auto-edit", "--workspace", folder]
    code = run(*options, "Write add.py")

    _, err = capsys.readouterr()
    assert code == 0
    assert f"warning: Agent 'planner' falls back from {failing} to {model}: not for you" in err
    assert main(["runs", "show", "last"]) == 0
    assert f"Fell back from {failing} to {model}: not for you" in capsys.readouterr().out


@pytest.mark.requirement("S1-B13", "S1-108")
def test_a_run_with_open_steps_ends_with_its_reason_everywhere(tmp_path, folder, capsys):
    plan = says("planner", '{"steps": ["one", "two"], "confidence": 0.9}')
    done = decides("evaluat", type="COMPLETE", summary="Enough.")
    model = script(tmp_path, done, decides(None, type="SELECT_MODE", mode="planner", reason="first"), plan)
    agents = folder / ".antiphon" / "agents"
    agents.mkdir(parents=True)
    (agents / "planner.yaml").write_text(
        "name: planner\nwhenToUse: to plan\nplans: true\nsystemPrompt: You are the planner of the team.\n"
    )
    main(["trust", str(folder)])
    capsys.readouterr()
    code = run("-m", model, "--workspace", folder, "--json", "Do it")
    happened, end = ended(capsys.readouterr().out)
    main(["runs", "list", "--json"])
    [listed] = json.loads(capsys.readouterr().out)
    main(["runs", "show", "last", "--json"])
    shown = json.loads(capsys.readouterr().out)

    assert (code, end["success"], end["reason"]) == (1, False, "open_steps")
    [not_done] = [one["facts"] for one in happened if one["kind"] == "not_done"]
    assert (not_done["severity"], not_done["text"]) == ("warning", "Not done: 2 of 2 steps of the plan are open")
    assert (listed["status"], listed["error"]) == ("failed", "2 of 2 steps of the plan are open")
    assert (shown["outcome"]["reason"], shown["log"][-1]["severity"]) == ("open_steps", "info")


def test_a_question_that_nobody_can_answer_goes_back_to_the_agent(tmp_path, folder, capsys):
    model = script(
        tmp_path,
        says("developer", "I assumed Ada.", after="ask_user"),
        calls("developer", "ask_user", {"question": "Which name?"}),
        says("planner", PLAN),
    )
    code = run("-m", model, "--arbiter", "rules", "--workspace", folder, "Greet someone")

    out, err = capsys.readouterr()
    assert (code, out) == (0, "I assumed Ada.\n")
    assert "developer asks: Which name? (no user to answer)" in err


@pytest.mark.requirement("S1.4-1")
def test_a_dry_run_prints_the_plan_and_changes_nothing(model, folder, capsys):
    code = run("--dry-run", "-m", model, "--workspace", folder, "--arbiter", "rules", "Write add.py")

    found = json.loads(capsys.readouterr().out)
    assert code == 0
    assert [step["description"] for step in found["plan"]["steps"]] == ["Write add.py"]
    assert (found["confidence"], found["isSure"], found["warnings"]) == (0.9, True, [])
    assert list(folder.iterdir()) == []


@pytest.mark.requirement("S1.4-1")
def test_a_plan_that_is_not_to_be_relied_on_ends_a_dry_run_with_one(tmp_path, folder, capsys):
    model = script(tmp_path, says("planner", '{"steps": ["Guess"], "confidence": 0.2}'))
    code = run("--dry-run", "-m", model, "--workspace", folder, "--arbiter", "rules", "Write add.py")

    out, err = capsys.readouterr()
    assert (code, json.loads(out)["isSure"]) == (1, False)
    assert "the plan is uncertain (confidence 0.2): the planner is not confident" in err


def test_a_dry_run_whose_model_fails_says_why(tmp_path, folder, capsys):
    model = script(tmp_path, {"system": "planner", "steps": [{"error": "2001", "message": "no such key"}]})
    code = run("--dry-run", "-m", model, "--workspace", folder, "--arbiter", "rules", "--max-failures", 1, "Write")

    out, err = capsys.readouterr()
    assert (code, json.loads(out)["plan"]) == (1, None)
    assert "no such key" in err


def test_a_plan_from_a_file_is_begun_with(tmp_path, folder, capsys):
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"steps": ["First this", "Then that"]}))
    model = script(tmp_path, says("developer", "Done."))
    code = run("-m", model, "--arbiter", "rules", "--plan", plan, "--json", "--workspace", folder, "Both")

    _, end = ended(capsys.readouterr().out)
    assert code == 0
    assert [(step["description"], step["status"]) for step in end["plan"]["steps"]] == [
        ("First this", "complete"), ("Then that", "complete"),
    ]  # fmt: skip
    assert [entry["agent"] for entry in end["history"]] == ["developer", "developer"]


@pytest.mark.requirement("S1-B13")
def test_a_task_that_is_not_done_ends_with_one_and_says_which_limit_it_was(tmp_path, folder, capsys):
    model = script(tmp_path, decides(None, type="SELECT_MODE", mode="developer", reason="go on"), says("dev", "More."))
    code = run("-m", model, "--max-iterations", 2, "--workspace", folder, "Never ending")

    out, err = capsys.readouterr()
    assert (code, out) == (1, "Max iterations reached\n")
    assert "not done: iteration limit reached (--max-iterations)" in err


def test_a_run_that_takes_too_long_is_over(tmp_path, folder, capsys):
    model = script(tmp_path, {"system": "developer", "steps": [{"delay_ms": 600_000}]}, says("planner", PLAN))
    code = run("-m", model, "--arbiter", "rules", "--max-time", 0.2, "--workspace", folder, "Slow")

    assert code == 1
    assert "not done: time limit reached (--max-time)" in capsys.readouterr().err


def test_a_model_that_fails_ends_it_with_one_and_says_why(tmp_path, folder, capsys):
    model = script(tmp_path, {"steps": [{"error": "2001", "message": "no such key"}]})
    code = run("-m", model, "--workspace", folder, "Hello")

    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert "not done: 2001 no such key" in err


def test_tools_of_servers_are_offered_beside_those_of_the_workspace(tmp_path, folder, capsys):
    servers = tmp_path / "mcp.toml"
    serving = ROOT / "tests" / "fixtures" / "mcp_server.py"
    servers.write_text(f"[servers.old]\ncommand = {sys.executable!r}\nargs = [{str(serving)!r}, 'old']\n")
    model = script(
        tmp_path,
        says("developer", "Heard it.", after="old__echo"),
        calls("developer", "old__echo", {"text": "two"}),
        says("planner", PLAN),
    )
    options = ["-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", folder, "--mcp", servers]
    code = run(*options, "--json", "Echo")

    happened, end = ended(capsys.readouterr().out)
    assert (code, end["reason"]) == (1, "denied")
    [asked] = [one for one in happened if one["kind"] == "agent_waits"]
    assert (asked["facts"]["calls"][0]["name"], asked["facts"]["calls"][0]["risk"]) == ("old__echo", "destructive")


def test_without_any_model_a_script_for_teams_is_played():
    assert choose_model(None, {}, list, last_resort=SCRIPT).reference == "scripted:agents"


def test_agents_of_the_workspace_work_there(tmp_path, folder, capsys):
    agents = folder / ".antiphon" / "agents"
    agents.mkdir(parents=True)
    (agents / "poet.yaml").write_text("name: poet\nwhenToUse: for poems\nsystemPrompt: You are the poet of the team.\n")
    model = script(tmp_path, says("poet", "A poem."))
    TrustedFolders().add(read_folder(folder))
    code = run("-m", model, "--arbiter", "rules", "--workspace", folder, "Rhyme")

    assert (code, capsys.readouterr().out) == (0, "A poem.\n")


def test_agents_that_are_wrong_are_told_with_file_and_line_before_anything_begins(tmp_path, folder, capsys):
    agents = tmp_path / "mine"
    agents.mkdir()
    (agents / "poet.yaml").write_text("name: poet\nwhenToUse: for poems\nsystemPrompt: You are a poet.\nlimts: {}\n")
    code = run("-m", "scripted:agents", "--agents", agents, "--workspace", folder, "Rhyme")

    assert code == 2
    assert "mine/poet.yaml:4: unknown key 'limts'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "no task; pass"),
        (["-m", "nonsense", "Hello"], "'nonsense' is not a model reference"),
        (["-m", "scripted:agents", "--arbiter", "nonsense", "Hello"], "'nonsense' is not a model reference"),
        (["--workspace", "/no/such/folder", "Hello"], "/no/such/folder: no such folder"),
        (["--agents", "/no/such/folder", "Hello"], "create it with: antiphon agents init /no/such/folder"),
        (["-m", "scripted:agents", "--mcp", "/no/such/file", "Hello"], "/no/such/file: cannot be read"),
        (["--plan", "/no/such/file", "Hello"], "/no/such/file: cannot be read"),
        (["--resume", "last"], "nothing to resume"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_misuse_exits_with_two_and_says_what_is_wrong(arguments, problem, capsys):
    code = run(*arguments)

    assert code == 2
    assert problem in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["--max-iterations", "0"], ["--max-failures", "x"], ["--max-cost", "-1"], ["--max-time", "nan"], ["--mode", "no"]],
    ids=" ".join,
)
def test_a_limit_that_is_none_is_misuse(arguments, capsys):
    with pytest.raises(SystemExit) as refused:
        run(*arguments, "Hello")

    assert refused.value.code == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "is not valid JSON"),
        ("7", "contains no plan"),
        ('{"steps": []}', "contains no plan"),
        ('{"steps": [{"description": "a", "dependsOn": [4]}]}', "step 0 depends on 4, which is no step"),
        ('{"steps": [{"description": "a", "agent": "nobody"}]}', "step 0 is for 'nobody', which is no agent"),
    ],
)
def test_a_file_that_holds_no_plan_is_refused(tmp_path, text, problem, capsys):
    (tmp_path / "plan.json").write_text(text)
    code = run("-m", "scripted:agents", "--plan", tmp_path / "plan.json", "Hello")

    assert code == 2
    assert problem in capsys.readouterr().err


def begun(model, folder, *options):
    """A run in a process of its own, once its developer speaks."""
    command = [sys.executable, "-m", "antiphon", "run", "--json", "-m", model, "--arbiter", "rules", *options]
    process = subprocess.Popen(
        [*command, "Write add.py"], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8"
    )
    for line in process.stdout:
        if json.loads(line)["facts"].get("text") == "Begun.":
            return process
    raise AssertionError(f"it ended with {process.wait()}")


def slow_after_a_file(tmp_path):
    return script(
        tmp_path,
        {"system": "developer", "after": "write_file", "steps": [{"text": "Begun."}, {"delay_ms": 600_000}]},
        calls("developer", "write_file", {"path": "add.py", "content": GOOD}),
        says("planner", PLAN),
    )


def test_a_run_whose_model_lacks_a_key_says_which_and_goes_on_when_it_is_resumed(tmp_path, folder, capsys):
    missing = {"system": "planner", "steps": [{"error": "2003", "message": "set SOME_API_KEY"}]}
    options = ("-m", script(tmp_path, missing), "--arbiter", "rules", "--mode", "auto-edit", "--workspace", folder)
    waits = run(*options, "Write", "add.py")
    err = capsys.readouterr().err
    script(tmp_path, *WRITES)
    resumed = run("--resume", "last")

    assert (waits, resumed) == (1, 0)
    assert "set SOME_API_KEY" in err
    assert "antiphon run --resume" in err
    assert (folder / "add.py").read_text() == GOOD


@pytest.mark.requirement("S1-98", "S1-99", "S1-B20")
def test_a_run_that_was_killed_goes_on_in_its_folder_and_makes_no_call_again(tmp_path, folder, capsys):
    with begun(slow_after_a_file(tmp_path), folder, "--mode", "auto") as process:
        process.send_signal(signal.SIGKILL)
    assert (folder / "add.py").read_text() == GOOD
    (folder / "add.py").write_text("changed by hand\n")
    script(
        tmp_path,
        says("developer", "Written, before and after.", after="write_file"),
        calls("developer", "write_file", {"path": "add.py", "content": "again\n"}),
        says("planner", PLAN),
    )
    code = run("--resume", "last")

    out, err = capsys.readouterr()
    assert (code, out) == (0, "Written, before and after.\n")
    assert (folder / "add.py").read_text() == "changed by hand\n"
    assert f"in {folder}" in err
    assert "planner" not in err


def test_the_start_of_an_id_names_the_run_to_resume(tmp_path, folder, capsys):
    with begun(slow_after_a_file(tmp_path), folder, "--mode", "auto") as process:
        process.send_signal(signal.SIGKILL)
    main(["threads", "list", "--json"])
    id = json.loads(capsys.readouterr().out)[0]["id"]
    script(tmp_path, says("developer", "Done.", after="write_file"))
    code = run("--json", "--resume", id[:5])

    _, end = ended(capsys.readouterr().out)
    assert (code, end["run"], end["exit"]) == (0, id, 0)


@pytest.mark.requirement("S1.4-11")
def test_runs_are_listed_shown_and_exported(model, folder, tmp_path, capsys):
    run("-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", folder, "--quiet", "Write add.py")
    capsys.readouterr()
    main(["runs", "list"])
    row = capsys.readouterr().out
    main(["runs", "list", "--json"])
    (listed,) = json.loads(capsys.readouterr().out)
    shown = main(["runs", "show", listed["id"][:4]])
    text = capsys.readouterr().out
    main(["runs", "show", "last", "--json"])
    record = json.loads(capsys.readouterr().out)

    assert row.startswith(listed["id"])
    assert "Write add.py (completed, 2 turns, $0.00; scripted:" in row
    assert (listed["kind"], listed["status"], shown) == ("run", "completed", 0)
    assert "Written as add.py." in text
    assert "| 1 | Write add.py |" in text
    assert record["task"] == "Write add.py"
    for name, beginning in (("run.md", "# Write add.py"), ("run.html", "<!doctype html>"), ("run.json", "{")):
        assert main(["runs", "export", "last", "--to", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_text().startswith(beginning)


def test_a_run_is_looked_at_while_it_is_at_work(tmp_path, folder, capsys):
    with begun(slow_after_a_file(tmp_path), folder, "--mode", "auto") as process:
        main(["runs", "list"])
        listed = capsys.readouterr().out
        main(["runs", "show", "last"])
        shown = capsys.readouterr().out
        process.send_signal(signal.SIGKILL)

    assert "Write add.py (running, 2 turns" in listed
    assert "- Status: running" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (["show", "nope"], 1, "unknown run 'nope'"),
        (["export", "last", "--to", "run.txt"], 2, "run.txt: the name must end in .md, .html, .json"),
        (["list", "--store", "/no/such/file"], 2, "/no/such/file: store not found"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_runs_that_cannot_be_shown_are_refused_with_a_reason(model, folder, arguments, code, problem, capsys):
    run("-m", model, "--arbiter", "rules", "--workspace", folder, "--quiet", "Write add.py")

    assert main(["runs", *arguments]) == code
    assert problem in capsys.readouterr().err


def test_nothing_that_is_there_is_overwritten_by_an_export(model, folder, tmp_path, capsys):
    run("-m", model, "--arbiter", "rules", "--workspace", folder, "--quiet", "Write add.py")
    (tmp_path / "run.md").write_text("mine")

    assert main(["runs", "export", "last", "--to", str(tmp_path / "run.md")]) == 2
    assert (tmp_path / "run.md").read_text() == "mine"


def test_there_is_nothing_to_resume_in_a_run_that_is_over(model, folder, capsys):
    run("-m", model, "--arbiter", "rules", "--mode", "auto", "--workspace", folder, "Write add.py")
    capsys.readouterr()
    code = run("--resume", "last")

    err = capsys.readouterr().err
    assert code == 2
    assert "cannot resume run " in err
    assert "it is complete; show it with: antiphon runs show" in err
    assert run("--resume", "nope") == 1
    assert capsys.readouterr().err == "antiphon run: unknown run 'nope'; list all with: antiphon runs list\n"


def test_a_run_goes_on_as_it_was_or_not_at_all(model, capsys):
    code = run("--resume", "last", "-m", model, "--mode", "auto", "Another task")

    assert code == 2
    assert "--resume keeps the original settings; remove --model, TASK" in capsys.readouterr().err


def test_a_run_whose_folder_is_gone_is_not_resumed(tmp_path, folder, capsys):
    with begun(slow_after_a_file(tmp_path), folder, "--mode", "auto") as process:
        process.send_signal(signal.SIGKILL)
    folder.rename(tmp_path / "elsewhere")

    assert run("--resume", "last") == 2
    assert f"{folder}: the workspace of this run no longer exists" in capsys.readouterr().err


def test_a_run_that_another_process_works_on_is_left_alone(tmp_path, folder, capsys):
    with begun(slow_after_a_file(tmp_path), folder, "--mode", "auto") as process:
        refused = run("--resume", "last")
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        cut = process.wait(timeout=60)

    assert (refused, cut) == (1, 130)
    assert os.environ["ANTIPHON_STORE"] in capsys.readouterr().err
    end = json.loads(rest.splitlines()[-1])
    assert (end["kind"], end["reason"], end["exit"]) == ("end", "cancelled", 130)
    assert [entry["result"] for entry in end["history"]] == ["success", "cancelled"]


def test_an_unusable_folder_for_undo_is_an_error_before_anything_starts(tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ANTIPHON_UNDO", str(tmp_path / "file" / "copies"))
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code = main(["run", "-m", SCRIPT, "--workspace", str(tmp_path), "Write greet.py"])

    assert code == 2
    assert "name another folder with ANTIPHON_UNDO" in capsys.readouterr().err


def test_an_interrupted_question_of_trust_does_not_offer_to_resume(tmp_path, capsys, monkeypatch):
    def interrupt(options):
        raise KeyboardInterrupt

    monkeypatch.setattr("antiphon.cli.run.command.run_spec", interrupt)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code = main(["run", "--workspace", str(tmp_path), "Write greet.py"])

    assert code == 130
    assert "nothing was started" in capsys.readouterr().err
