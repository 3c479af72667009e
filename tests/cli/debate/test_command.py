"""`antiphon debate` as programs use it: turns one after the other, JSON, a verdict alone, and exit codes."""

import io
import json
import os
import signal
import subprocess
import sys

import pytest

from antiphon.cli.main import main
from tests.fixtures.command import antiphon
from tests.fixtures.debate_scripts import TOPIC, debaters, prices


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "deep" / "store.db"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ANTIPHON_MODEL", "ANTIPHON_PRICES", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path / "deep" / "store.db"


@pytest.fixture
def debate(tmp_path, capsys):
    """The command with a quick script: its exit code, and what it wrote."""

    def run(*words, model=True):
        models = ["-m", debaters(tmp_path)] if model else []
        code = main(["debate", *map(str, words), *models])
        return code, *capsys.readouterr()

    return run


def lines(out):
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.requirement("S4-106")
def test_a_real_process_holds_a_whole_debate(tmp_path):
    held = antiphon("debate", TOPIC, "-m", debaters(tmp_path), "--rounds", 2)

    assert held.returncode == 0
    places = [held.stdout.index(f"\n## {title}\n") for title in ("Openings", "Round 1", "Closings", "Verdict")]
    assert places == sorted(places)
    assert "Ada wins by 7 points" in held.stdout
    assert "\x1b" not in held.stdout + held.stderr


def test_openings_that_come_together_are_told_one_after_the_other(debate):
    code, out, _ = debate(TOPIC, "--rounds", 1)

    openings = out.partition("## Openings")[2].partition("## Round 1")[0]
    turns = [turn.strip() for turn in openings.split("### ")[1:]]
    assert code == 0
    assert sorted(turn.partition("\n")[0] for turn in turns) == ["Ada (for)", "Bruno (against)"]
    assert any(turn.endswith("We are opening it.") for turn in turns)
    assert any(turn.endswith("we should open another.") for turn in turns)


@pytest.mark.requirement("S4-36")
def test_only_the_verdict_is_told_when_quiet(debate):
    code, out, err = debate(TOPIC, "--rounds", 1, "--quiet")

    assert (code, err) == (0, "")
    assert out.startswith("Ada wins by 7 points\n")
    assert [row.split()[:2] for row in out.splitlines()[3:8]] == [
        ["overall", "82"],
        ["argument", "84"],
        ["evidence", "85"],
        ["rebuttal", "78"],
        ["clarity", "81"],
    ]
    assert "Half the ground" not in out


@pytest.mark.requirement("S4-12", "S4-36")
def test_as_json_everything_is_a_line_and_the_last_has_the_result(debate):
    code, out, err = debate(TOPIC, "--rounds", 1, "--json")

    *happened, end = lines(out)
    assert (code, err) == (0, "")
    assert {key for one in happened for key in one} == {"seq", "cursor", "at", "kind", "facts", "speaker", "offset"}
    assert {"text", "turn_started", "turn_ended", "round_recorded", "cost", "judging", "verdict"} <= {
        one["kind"] for one in happened
    }
    assert (end["kind"], end["status"], end["outcome"], end["exit"]) == ("end", "completed", "verdict", 0)
    assert (end["result"]["verdict"]["winner"], end["result"]["id"]) == ("for", end["debate"])


@pytest.mark.requirement("S4-35", "S4-B14")
def test_the_ledger_is_what_the_script_says_it_used_times_the_price(tmp_path, debate):
    """420/66, 420/58, 1880/57, 1890/82 and 3120/168 tokens at 3 and 15 USD a million."""
    _, out, _ = debate(TOPIC, "--rounds", 1, "--json", "--prices", prices(tmp_path))

    result = lines(out)[-1]["result"]
    (used,) = result["tokenUsage"].values()
    tokens_in, tokens_out = 420 + 420 + 1880 + 1890 + 3120, 66 + 58 + 57 + 82 + 168
    assert (used["inputTokens"], used["outputTokens"], used["requestCount"]) == (tokens_in, tokens_out, 5)
    assert result["costTracker"]["totalCost"] == "0.029655"
    assert round((tokens_in * 3 + tokens_out * 15) / 1_000_000, 6) == 0.029655


@pytest.mark.requirement("S4-28", "S4-29", "S4-B16")
def test_a_debate_is_configured_by_toml_and_by_json_and_flags_win(tmp_path, debate):
    told = {
        "topic": TOPIC,
        "format": "roundtable",
        "maxRounds": 3,
        "participants": [
            {"id": "for", "position": "for", "name": "Xenia", "model": debaters(tmp_path)},
            {"id": "neutral", "position": "neutral", "model": debaters(tmp_path)},
        ],
    }
    (tmp_path / "d.json").write_text(json.dumps(told))
    seats = "".join(
        f'[[participants]]\nid = "{side}"\nposition = "{side}"\nmodel = "{debaters(tmp_path)}"\n'
        for side in ("for", "neutral")
    )
    (tmp_path / "d.toml").write_text(f'topic = "{TOPIC}"\nformat = "roundtable"\nmaxRounds = 3\n{seats}')

    for name, first in (("d.json", "Xenia"), ("d.toml", "Ada")):
        _, out, _ = debate("--config", tmp_path / name, "--rounds", 1, "--json", model=False)
        result = lines(out)[-1]["result"]
        assert (result["format"], result["maxRounds"], len(result["rounds"])) == ("roundtable", 1, 2)
        assert result["participants"][0]["name"] == first
        assert [one["position"] for one in result["participants"]] == ["for", "neutral"]


def test_debaters_and_their_models_are_named(tmp_path, debate):
    slow, quick = debaters(tmp_path, 1), debaters(tmp_path)
    code, out, _ = debate(
        TOPIC, "--rounds", 1, "--participants", "Zoe=against", "Yann=for", "-m", slow, "--judge", quick,
        "--criteria", "argument", "evidence", "rebuttal", "clarity", "--timeout", 60, "--max-tokens", 500,
        "--context", 4000, "--early-stop", "--on-limit", "judge", "--json",
    )  # fmt: skip

    result = lines(out)[-1]["result"]
    assert code == 0
    assert [(one["name"], one["position"], one["id"]) for one in result["participants"]] == [
        ("Zoe", "against", "against"),
        ("Yann", "for", "for"),
    ]
    assert [f"scripted:{one['model']['modelId']}" for one in result["participants"]] == [slow, quick]
    assert f"scripted:{result['judge']['model']['modelId']}" == quick
    assert {one["model"]["maxTokens"] for one in result["participants"]} == {500}


@pytest.mark.requirement("S4-B21", "S4-B23")
def test_every_wrong_setting_is_named_and_nothing_is_made(debate, store):
    code, out, err = debate(
        "short", "--rounds", "many", "--limit", 0.05, "--warn", 3, "--format", "circle", "--judge", "x",
        "--on-limit", "cry", "--timeout", -1, "--context", 1, "--max-tokens", 0, "--participants", "A", "B=up",
    )  # fmt: skip

    fields = [line.split()[0].rstrip(":") for line in err.splitlines()[1:]]
    assert (code, out) == (2, "")
    assert err.startswith("antiphon debate: ")
    assert "maxRounds (--rounds): is 'many'; it must be a whole number from 1 to 10" in err
    assert set(fields) == {
        "topic", "maxRounds", "costLimit", "warnAtCost", "format", "judge.model", "onCostLimit", "timeoutPerRound",
        "contextLimit", "maxTokens", "participants[1].position",
    }  # fmt: skip
    assert not store.exists()


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        ([], 2, "no topic; pass one"),
        (["--config", "nowhere.toml"], 2, "file: 'nowhere.toml' cannot be read: No such file or directory\n"),
        ([TOPIC, "--participants", "Ada", "Ada"], 2, "two participants have the same name: ['Ada', 'Ada']"),
        ([TOPIC, "--export", "debate.pdf"], 2, "the name must end in .md, .html, .json"),
        ([TOPIC, "-m", "a:b", "-m", "a:c", "-m", "a:d", "--participants", "X", "Y"], 2, "3 models for 2 participants"),
        ([TOPIC, "-m", "scripted:nothing"], 2, "cannot read the script 'nothing'"),
        ([TOPIC, "-m", "anthropic:claude-sonnet-5-5"], 1, "no key for 'anthropic': set ANTHROPIC_API_KEY"),
        ([TOPIC, "--limit", "1", "-m", "openai+http://127.0.0.1:9/v1:x"], 2, "is unknown, so the cost limit"),
        (["--resume", "last", "--rounds", "3"], 2, "except --limit; remove --rounds"),
        (["--resume", "last"], 2, "store not found"),
        (["--resume", "last", "--limit", "much"], 2, "--limit must be an amount in USD, not 'much'"),
    ],
)
def test_misuse_is_refused_with_what_to_do_and_nothing_is_made(words, code, problem, debate, store):
    found, out, err = debate(*words, model=False)

    assert (found, out) == (code, "")
    assert problem in err
    assert not store.exists()


@pytest.mark.requirement("S4-B12", "S4-B25", "S4-111")
def test_a_debate_without_money_ends_with_one_and_goes_on_with_more(tmp_path, debate):
    table = prices(tmp_path)
    common = ("--json", "--prices", table)
    code, out, _ = debate(TOPIC, "--rounds", 1, "--limit", 0.11, "--max-tokens", 7000, *common)
    end = lines(out)[-1]
    refused, _, err = debate("--resume", "last", model=False)
    again, out, _ = debate("--resume", "last", "--limit", 2, *common, model=False)

    assert (code, end["status"], end["result"]["lastError"]["type"]) == (1, "failed", "cost_limit")
    assert (refused, "--limit USD" in err) == (2, True)
    assert (again, lines(out)[-1]["debate"]) == (0, end["debate"])


def test_the_judge_decides_when_the_money_ends_if_so_told(tmp_path, debate):
    words = ("--limit", 0.25, "--max-tokens", 5000, "--on-limit", "judge", "--prices", prices(tmp_path))
    code, out, _ = debate(TOPIC, "--rounds", 10, "--json", *words)

    end = lines(out)[-1]
    assert (code, end["outcome"]) == (0, "verdict")
    assert len(end["result"]["rounds"]) < 11


@pytest.mark.requirement("S4-B13")
def test_a_warning_is_told_once(tmp_path, debate):
    _, _, err = debate(TOPIC, "--rounds", 2, "--warn", 0.001, "--prices", prices(tmp_path))

    assert err.count("warning: $0.00") == 1


def test_it_is_written_into_a_file_at_the_end_and_nothing_is_overwritten(tmp_path, debate):
    target = tmp_path / "told.html"
    code, _, err = debate(TOPIC, "--rounds", 1, "--export", target)
    again, _, refused = debate(TOPIC, "--rounds", 1, "--export", target)

    assert (code, f"exported to {target}" in err) == (0, True)
    assert target.read_text().startswith("<!doctype html>")
    assert (again, "not overwritten" in refused) == (2, True)


def test_a_debate_that_is_over_cannot_go_on(debate):
    debate(TOPIC, "--rounds", 1, "--quiet")
    code, _, err = debate("--resume", "last", model=False)

    assert code == 2
    assert "has ended; show it with: antiphon debates show" in err


def test_nobody_who_listens_can_be_made_to_obey(tmp_path, capsys):
    path = tmp_path / "evil.toml"
    path.write_text('[[replies]]\nsteps = [{text = "a\\u001b[2Jb\\u0007c"}]\n')
    code = main(["debate", TOPIC, "--rounds", "1", "-m", f"scripted:{path}"])

    out, err = capsys.readouterr()
    assert code == 1  # such a judge gives no verdict
    assert "a[2Jbc" in out
    assert "\x1b" not in out + err


def begun(*words):
    """The command as a process of its own, and the first of its lines."""
    return subprocess.Popen(
        [sys.executable, "-m", "antiphon", "debate", *map(str, words), "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def until(process, kind, **facts):
    for line in process.stdout:
        one = json.loads(line)
        if one["kind"] == kind and facts.items() <= {**one["facts"], "speaker": one.get("speaker")}.items():
            return one
    raise AssertionError(process.stderr.read())


def finished(process):
    out, _ = process.communicate(timeout=60)
    return json.loads(out.splitlines()[-1])


@pytest.mark.requirement("S4-112", "S4-B9", "X-1")
@pytest.mark.parametrize("kind", ["turn_started", "text", "round_started", "judging"])
def test_a_killed_debate_goes_on_where_it_was_and_ends_as_any_other(tmp_path, kind, capsys):
    process = begun(TOPIC, "--rounds", 1, "-m", debaters(tmp_path, 10))
    until(process, kind)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    process.stderr.close()
    code = main(["debate", "--resume", "last", "--json"])

    result = lines(capsys.readouterr().out)[-1]["result"]
    assert code == 0
    assert [(one["phase"], len(one["responses"])) for one in result["rounds"]] == [("opening", 2), ("rebuttal", 2)]
    assert result["verdict"]["winner"] == "for"


@pytest.mark.requirement("S4-74")
def test_control_c_lets_the_judge_decide_and_ends_with_130(tmp_path):
    process = begun(TOPIC, "--rounds", 3, "-m", debaters(tmp_path, 10))
    until(process, "text", speaker="for")
    until(process, "round_started")
    process.send_signal(signal.SIGINT)
    end = finished(process)

    assert (process.returncode, end["exit"], end["outcome"]) == (130, 130, "verdict")
    assert len(end["result"]["rounds"]) < 4


@pytest.mark.requirement("S4-B11")
def test_openings_that_are_stopped_have_no_verdict(tmp_path):
    process = begun(TOPIC, "-m", debaters(tmp_path, 100))
    until(process, "text")
    process.send_signal(signal.SIGINT)
    end = finished(process)

    assert (process.returncode, end["outcome"], end["result"]["verdict"]) == (130, "stopped", None)


def test_a_second_control_c_leaves_at_once_and_it_can_be_resumed(tmp_path, capsys):
    judge = tmp_path / "judge.toml"
    judge.write_text("[[replies]]\nsteps = [{delay_ms = 600000}]\n")
    process = begun(TOPIC, "--rounds", 3, "-m", debaters(tmp_path, 10), "--judge", f"scripted:{judge}")
    until(process, "round_started")
    process.send_signal(signal.SIGINT)
    until(process, "judging")
    process.send_signal(signal.SIGINT)
    end = finished(process)
    judge.write_text((tmp_path / "debate-10.toml").read_text())
    code = main(["debate", "--resume", end["debate"][:6], "--json"])

    result = lines(capsys.readouterr().out)[-1]["result"]
    assert (process.returncode, end["exit"], end["outcome"]) == (130, 130, None)
    assert (code, result["outcome"], result["verdict"]["winner"]) == (0, "verdict", "for")
