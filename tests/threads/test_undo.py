"""`app.threads` undoes what tools changed for a thread, refuses while it runs, and deletes copies with it."""

import asyncio

import pytest

from antiphon.app import App
from antiphon.threads.errors import Refused
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools import UndoFolder, Workspace, workspace_tools
from tests.fixtures.scripted_team import calls, says, script, team


async def with_run(folder, check):
    """Let a run write a file in `folder/work`, and check the app then."""
    (folder / "work").mkdir()
    model = script(
        folder,
        says("developer", "Done.", after="write_file"),
        calls("developer", "write_file", {"path": "a", "content": "new"}),
    )
    with Workspace(folder / "work") as workspace, UndoFolder(folder / "undo") as undo:
        box = workspace_tools(workspace, undo=undo)
        async with App(":memory:", toolbox=box, undo=undo) as app:
            settings = {"tools": tools_to_json(box.tools), "consent": {"mode": "auto-edit"}}
            run = await app.runs.create(team("developer"), model=model, arbiter={"kind": "rules"}, **settings)
            await app.runs.start(run, "Write a")
            await app.runs.until_idle(run)
            assert (folder / "work" / "a").read_text() == "new"
            await check(app, run)


def test_a_thread_is_planned_and_undone(tmp_path):
    async def check(app, run):
        plan = await app.threads.undo_plan(run)
        assert [(step.path, step.action) for step in plan.steps] == [("a", "delete")]
        await app.threads.undo(run)

    asyncio.run(with_run(tmp_path, check))

    assert list((tmp_path / "work").iterdir()) == []


def test_deleting_a_thread_deletes_its_copies(tmp_path):
    async def check(app, run):
        await app.runs.delete(run)

    asyncio.run(with_run(tmp_path, check))

    assert list((tmp_path / "undo").iterdir()) == []


def test_an_app_without_copies_says_what_to_pass(tmp_path):
    async def work():
        async with App(":memory:") as app:
            chat = await app.chats.create(model="scripted:chat")
            await app.threads.undo(chat)

    with pytest.raises(Refused, match=r"pass App\(\.\.\., undo=UndoFolder"):
        asyncio.run(work())
