"""`antiphon runs permissions` and `antiphon threads permissions` list what is allowed, and take it back."""

import asyncio
import io

import pytest

from antiphon.app import App
from antiphon.cli.main import main
from tests.fixtures.chats import Clerk, script

GRANT = "file"


@pytest.fixture
def thread(tmp_path, monkeypatch):
    """A chat in which a person has allowed a tool."""
    store = tmp_path / "store.db"
    monkeypatch.setenv("ANTIPHON_STORE", str(store))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    clerk = Clerk()
    model = script(tmp_path, ("file", [{"text": "Done."}]), [{"tool": "file", "arguments": {"name": "a"}}])

    async def create():
        async with App(store, toolbox=clerk) as app:
            settings = {"options": {"tools": clerk.listed}}
            id = await app.chats.create(model=model, settings=settings, consent={"mode": "ask"})
            await app.threads.until_idle(id, (await app.threads.say(id, "file it")).seq)
            receipt = await app.threads.answer(id, decision="allow", scope="tool")
            await app.threads.until_idle(id, receipt.seq)
            return id

    return asyncio.run(create())


def test_permissions_are_listed_with_their_ids_and_taken_back(thread, capsys):
    assert main(["threads", "permissions", "last"]) == 0
    listed = capsys.readouterr().out
    id, text = listed.split()
    assert main(["threads", "permissions", thread, "--revoke", id[:4]]) == 0
    revoked = capsys.readouterr().out
    assert main(["threads", "permissions", thread]) == 0

    assert (len(id), text) == (8, GRANT)
    assert revoked == "no longer allowed without a question: file\n"
    assert capsys.readouterr().out == "nothing is allowed beyond single calls\n"


def test_an_unknown_permission_is_refused_with_those_that_there_are(thread, capsys):
    code = main(["threads", "permissions", thread, "--revoke", "xyz"])

    assert code == 1
    assert "'xyz' is no permission, or begins several; known: " in capsys.readouterr().err


def test_runs_permissions_finds_no_chat(thread, capsys):
    assert main(["runs", "permissions", thread]) != 0
    assert "runs" in capsys.readouterr().err
