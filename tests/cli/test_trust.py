"""`antiphon trust`, and runs in folders that are not trusted."""

import io
import json
import subprocess

import pytest

from antiphon.cli.main import main
from antiphon.threads import BadTrustFile, TrustedFolders, read_folder
from tests.fixtures.screen import Screen
from tests.fixtures.scripted_team import says, script

POET = "name: poet\nwhenToUse: for poems\nsystemPrompt: You are the poet of the team.\nmodel: openai:gpt-5\n"
SERVERS = '[servers.search]\ncommand = "./search.sh"\n'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setenv("ANTIPHON_TRUSTED_FOLDERS", str(tmp_path / "trusted.json"))


@pytest.fixture
def folder(tmp_path):
    work = tmp_path / "work"
    (work / ".antiphon" / "agents").mkdir(parents=True)
    (work / ".antiphon" / "agents" / "poet.yaml").write_text(POET)
    (work / ".antiphon" / "mcp.toml").write_text(SERVERS)
    (work / "search.sh").write_text("#!/bin/sh\n")
    subprocess.run(["git", "init", "-q", work], check=True)
    subprocess.run(["git", "-C", work, "config", "core.fsmonitor", "./watch.sh"], check=True)
    return work


def run(tmp_path, folder, *options):
    model = script(tmp_path, says("poet", "A poem."), says("planner", '{"steps": ["Write"]}'), says("developer", "Ok."))
    return main(["run", "-m", model, "--arbiter", "rules", "--workspace", str(folder), *map(str, options), "Rhyme"])


def test_what_a_folder_brings_is_shown_and_trusted(folder, capsys):
    assert main(["trust", str(folder)]) == 0

    shown = capsys.readouterr().out
    assert "agent .antiphon/agents/poet.yaml: model openai:gpt-5; name poet; all tools\n" in shown
    assert "MCP file .antiphon/mcp.toml: starts search: ./search.sh\n" in shown
    assert "program of an MCP server: search.sh\n" in shown
    assert "git setting core.fsmonitor = ./watch.sh (off while agents work)\n" in shown
    assert TrustedFolders().is_trusted(read_folder(folder))


@pytest.mark.parametrize("path", [".antiphon/agents/poet.yaml", ".antiphon/mcp.toml", "search.sh", ".git/config"])
def test_a_change_of_any_of_it_ends_the_trust(folder, path):
    TrustedFolders().add(read_folder(folder))
    text = (folder / path).read_text()
    (folder / path).write_text(text.replace("./watch", "./other").replace("poems", "songs") + "\n# changed\n")

    difference = TrustedFolders().difference(read_folder(folder))

    assert len(difference.changed) == 1
    assert difference.new == ()


def test_a_new_file_ends_the_trust_and_a_missing_one_does_not(folder):
    TrustedFolders().add(read_folder(folder))
    (folder / ".antiphon" / "mcp.toml").unlink()
    assert TrustedFolders().is_trusted(read_folder(folder))

    (folder / ".antiphon" / "agents" / "bard.yaml").write_text(POET)

    assert [item.name for item in TrustedFolders().difference(read_folder(folder)).new] == [
        ".antiphon/agents/bard.yaml"
    ]


def test_trusted_folders_are_listed_and_revoked(folder, capsys):
    main(["trust", str(folder)])
    capsys.readouterr()
    main(["trust", "--list", "--json"])
    assert list(json.loads(capsys.readouterr().out)) == [str(folder)]

    assert main(["trust", "--revoke", str(folder)]) == 0
    assert main(["trust", "--revoke", str(folder)]) == 1
    assert TrustedFolders().list() == {}


def test_a_file_of_servers_that_is_not_there_is_no_question_of_trust(folder, capsys):
    assert main(["run", "-m", "scripted:agents", "--workspace", str(folder), "--mcp", str(folder / "no"), "Go"]) == 2

    err = capsys.readouterr().err
    assert err.endswith(f"{folder / 'no'}: cannot be read: No such file or directory\n")
    assert "trust" not in err.replace(str(folder), "")


def test_showing_trusts_nothing(folder, capsys):
    main(["trust", "--show", "--json", str(folder)])

    record = json.loads(capsys.readouterr().out)
    assert record["trusted"] is False
    assert [item["kind"] for item in record["items"]] == ["agent", "servers", "program", "git setting"]
    assert TrustedFolders().list() == {}


def test_without_a_terminal_a_run_uses_the_default_agents_and_says_so(tmp_path, folder, capsys):
    assert run(tmp_path, folder) == 0

    out, err = capsys.readouterr()
    assert out == "Ok.\n"
    assert f"{folder} is not trusted, so .antiphon/agents/poet.yaml" in err
    assert f"trust it with: antiphon trust {folder}" in err or f"trust {folder}" in err


@pytest.mark.parametrize("option", [("--agents", ".antiphon/agents"), ("--mcp", ".antiphon/mcp.toml")])
def test_without_a_terminal_an_option_that_needs_trust_is_refused(tmp_path, folder, capsys, option):
    assert run(tmp_path, folder, option[0], folder / option[1]) == 2

    assert "is not trusted" in capsys.readouterr().err


def test_a_damaged_list_trusts_nothing(tmp_path, folder, capsys):
    (tmp_path / "trusted.json").write_text("[" * 100_000)

    with pytest.raises(BadTrustFile, match="delete it"):
        TrustedFolders().is_trusted(read_folder(folder))
    assert main(["trust", "--list"]) == 1


def test_on_a_terminal_a_person_is_asked_once_and_again_after_a_change(tmp_path, folder):
    model = script(tmp_path, says("poet", "A poem."))
    (folder / ".antiphon" / "agents" / "poet.yaml").write_text(POET.replace("model: openai:gpt-5\n", ""))
    command = ["run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Rhyme"]

    with Screen(*command, columns=200) as screen:
        assert "agent .antiphon/agents/poet.yaml: model" in screen.until("trust this folder?")
        screen.type("y")
        screen.until("A poem.")
    with Screen(*command, columns=200) as screen:
        assert "trust this folder?" not in screen.until("A poem.")
    (folder / "search.sh").write_text("#!/bin/sh\nexit 1\n")
    with Screen(*command, columns=200) as screen:
        shown = screen.until("trust this folder?")
        assert "has changed since you trusted it" in shown
        assert "changed program of an MCP server: search.sh" in shown
        assert "poet.yaml" not in shown


def test_a_no_runs_without_what_the_folder_brings(tmp_path, folder):
    model = script(tmp_path, says("poet", "A poem."), says("planner", '{"steps": ["Write"]}'), says("developer", "Ok."))

    with Screen("run", "-m", model, "--arbiter", "rules", "--workspace", folder, "Rhyme") as screen:
        screen.until("trust this folder?")
        screen.type("n")
        screen.until("1. planner")
    assert TrustedFolders().list() == {}


def test_a_chat_starts_no_server_of_an_untrusted_folder(tmp_path, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    (folder / "search.sh").write_text("#!/bin/sh\ntouch started\n")
    (folder / "search.sh").chmod(0o755)

    assert main(["chat", "-m", "scripted:chat", "--mcp", ".antiphon/mcp.toml", "Hello"]) == 2
    assert "is not trusted" in capsys.readouterr().err
    assert not (folder / "started").exists()


def test_a_long_question_is_shown_page_by_page_and_no_page_can_be_trusted_before_the_last(tmp_path, folder):
    variables = "\n".join(f"V{number} = 'x'" for number in range(30))
    (folder / ".antiphon" / "mcp.toml").write_text(f"{SERVERS}[servers.search.env]\n{variables}\n")

    with Screen("run", "-m", script(tmp_path), "--workspace", folder, "Rhyme") as screen:
        assert "V29" not in screen.until("next page")
        screen.type("y")
        screen.until("V29=x")
        screen.until("trust this folder?")
    assert TrustedFolders().list() == {}
