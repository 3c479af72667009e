"""`antiphon agents`: the default files are written once, listed, and checked with file and line."""

import json

import pytest

from antiphon.cli.main import main
from antiphon.cli.run import agents as team

NAMES = ["developer", "planner", "researcher", "reviewer", "tester"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_init_writes_the_default_agents_where_runs_look_for_them(here, capsys):
    code = main(["agents", "init"])

    assert code == 0
    assert sorted(file.stem for file in (here / ".antiphon" / "agents").iterdir()) == NAMES
    assert ".antiphon/agents/planner.md" in capsys.readouterr().out
    assert main(["agents", "check"]) == 0
    assert "5 usable agents: developer" in capsys.readouterr().out


def test_init_overwrites_nothing_unless_forced(here, capsys):
    folder = here / "mine"
    main(["agents", "init", "mine"])
    shipped = (folder / "tester.md").read_text()
    (folder / "tester.md").write_text("changed")
    (folder / "planner.md").unlink()

    assert main(["agents", "init", "mine"]) == 2
    assert "mine: files exist: developer.md, tester.md, reviewer.md, researcher.md; nothing written; overwrite" in (
        capsys.readouterr().err
    )
    assert (folder / "tester.md").read_text() == "changed"
    assert not (folder / "planner.md").exists()
    assert main(["agents", "init", "mine", "--force"]) == 0
    assert (folder / "tester.md").read_text() == shipped


def test_without_a_folder_those_that_come_with_the_package_are_listed(capsys):
    code = main(["agents", "list"])

    out = capsys.readouterr().out
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[:5]] == [
        "planner", "developer", "tester", "reviewer", "researcher",
    ]  # fmt: skip
    assert "antiphon agents init" in out


def test_a_list_for_programs_has_everything(here, capsys):
    main(["agents", "init"])
    capsys.readouterr()
    code = main(["agents", "list", "--json"])

    listed = json.loads(capsys.readouterr().out)
    assert code == 0
    assert [agent["name"] for agent in listed] == NAMES
    assert listed[1]["plans"] is True
    assert "systemPrompt" in listed[0]


@pytest.mark.requirement("S1-95", "S1.4-2")
def test_everything_that_is_wrong_is_told_with_file_and_line(here, capsys):
    main(["agents", "init", "mine"])
    (here / "mine" / "poet.yaml").write_text("name: poet\nwhenToUse: for poems\nsystemPrompt: You write.\nlimts: {}\n")
    (here / "mine" / "bad.md").write_text("no front matter")
    capsys.readouterr()
    code = main(["agents", "check", "mine"])

    out, err = capsys.readouterr()
    assert (code, out) == (1, "")
    assert "mine/poet.yaml:4: unknown key 'limts'" in err
    assert "mine/bad.md:1: missing front matter" in err


def test_what_is_odd_is_a_warning_and_no_failure(here, capsys):
    (here / "poet.toml").write_text('name = "poet"\nwhenToUse = "for poems"\nsystemPrompt = "Write."\n')
    code = main(["agents", "check", "."])

    out = capsys.readouterr().out
    assert code == 0
    assert "poet.toml:3: warning: the system prompt is very short" in out
    assert "1 usable agent, 1 warning: poet" in out


@pytest.mark.parametrize("command", ["list", "check"])
def test_a_folder_that_is_missing_or_empty_is_refused_with_what_to_do(here, command, capsys):
    (here / "empty").mkdir()

    assert main(["agents", command, "missing"]) == 2
    assert "missing: no such folder; create it with: antiphon agents init missing" in capsys.readouterr().err
    assert main(["agents", command, "empty"]) == 2
    assert "empty: no agents found; write the defaults with: antiphon agents init empty" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_a_failure(here, capsys):
    (here / "file").write_text("")

    assert main(["agents", "init", "file/agents"]) == 1
    assert "file/agents" in capsys.readouterr().err


def test_without_a_reader_of_yaml_it_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setattr(team, "find_spec", lambda name: None)

    assert main(["agents", "list"]) == 2
    assert "pip install 'antiphon[agents]'" in capsys.readouterr().err
