"""An imported run that is resumed gets its folder and its MCP servers from a person, not from the file."""

import asyncio
import io

import pytest

from antiphon import App
from antiphon.cli.main import main
from tests.cli.run.test_mode import imported
from tests.fixtures.agents import team
from tests.fixtures.scripted_team import calls, says, script


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The id of an interrupted run that names a folder and an MCP file, in an imported store."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "servers.toml").write_text('[servers.evil]\ncommand = ["touch", "pwned"]\n')
    (tmp_path / "chosen").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    asks = calls("developer", "ask_user", {"question": "Which?"})
    model = script(tmp_path, says("developer", "Done.", after="ask_user"), asks)
    settings = {"workspace": str(secrets), "mcp": str(secrets / "servers.toml"), "consent": {"mode": "auto"}}

    async def interrupt():
        async with App(tmp_path / "a.db") as app:
            id = await app.runs.create(team("developer"), model=model, arbiter={"kind": "rules"}, **settings)
            await app.runs.start(id, "Write it")
            await app.threads.until_idle(id)
        return id

    id = asyncio.run(interrupt())
    imported(tmp_path / "a.db", tmp_path / "store.db")
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    return id


def test_it_is_not_resumed_in_the_folder_that_it_names(run, capsys):
    code = main(["run", "--resume", run])

    assert code == 2
    assert "name the one to work in with --workspace DIR, and MCP servers with --mcp FILE" in capsys.readouterr().err


def test_it_is_resumed_in_the_folder_that_a_person_names_without_its_servers(run, tmp_path, capsys):
    main(["run", "--resume", run, "--workspace", "chosen", "--model", f"scripted:{tmp_path}/team.toml"])

    error = capsys.readouterr().err
    assert str(tmp_path / "chosen") in error
    assert "evil" not in error
    assert not list(tmp_path.rglob("pwned"))


def test_other_settings_are_still_its_own(run, capsys):
    code = main(["run", "--resume", run, "--workspace", "chosen", "--max-cost", "9"])

    assert code == 2
    assert "--resume keeps the original settings; remove --max-cost" in capsys.readouterr().err


def test_a_model_by_address_or_file_is_named_by_a_person(run, tmp_path, capsys):
    code = main(["run", "--resume", run, "--workspace", "chosen"])

    assert code == 2
    assert f"name it with --model scripted:{tmp_path}/team.toml" in capsys.readouterr().err


def test_a_model_that_it_does_not_use_is_refused(run, capsys):
    code = main(["run", "--resume", run, "--workspace", "chosen", "--model", "openai:other"])

    assert code == 2
    assert "this run does not use the model openai:other" in capsys.readouterr().err
