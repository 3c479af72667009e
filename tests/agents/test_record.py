"""Runs read and written down: under way, over, beside the process that runs them, and as files."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon import create_actor
from antiphon.agents.kind import RUN
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.app import KINDS, App, open_library
from antiphon.debate.service import Debates
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import UnknownThread
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.export.html import POLICY, to_html
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.library import Library
from tests.fixtures.debates import CONFIG, TOPIC, host, to_the_end
from tests.fixtures.runtime import simulate
from tests.fixtures.scripted_team import GOOD, Workshop, calls, says, script, small_task, team

PATIENCE_S = 30
EVIL = "<script>alert(1)</script> | & ```"


def staged(folder: Path, main: Callable[[App, Workshop], Awaitable[Any]]) -> Any:
    """Run something with a workshop on a store in a file."""

    async def run() -> Any:
        box = Workshop(folder)
        async with App(folder / "store.db", toolbox=box) as app, asyncio.timeout(PATIENCE_S):
            return await main(app, box)

    return asyncio.run(run())


async def finished(app: App, id: str, task: str = "Write add.py") -> None:
    receipt = await app.runs.start(id, task)
    async for _ in app.runs.until_idle(id, receipt.seq - 1):
        pass


async def asking(app: App, box: Workshop, folder: Path, **settings: Any) -> str:
    """A run that waits for permission to write."""
    model = script(
        folder,
        says("developer", f"Done. {EVIL}", after="write_file"),
        calls("developer", "write_file", {"path": "b.py", "content": GOOD}, after="read_file"),
        calls("developer", "read_file", {"path": "missing.py"}),
    )
    (folder / "missing.py").write_text("")
    rules = {"arbiter": {"kind": "rules"}, "consent": {"mode": "ask"}, "tools": box.listed, "model": model}
    id = await app.runs.create(team("developer"), **{**rules, **settings})
    await finished(app, id, f"Write b.py {EVIL}")
    return id


def test_a_run_that_is_over_is_read_from_its_last_words(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> None:
        agents = team("planner", "developer", "tester", "reviewer")
        settings = {"tools": box.listed, "consent": {"mode": "auto"}, "maxIterations": 20, "maxCostUsd": 1.5}
        id = await app.runs.create(agents, model=small_task(tmp_path), **settings)
        await finished(app, id)
        found = await app.runs.read(id)

        assert (found["task"], found["title"], found["status"]) == ("Write add.py", "Write add.py", "completed")
        assert (found["iterations"], found["costUsd"], found["failures"]) == (7, 0, 0)
        assert found["limits"] == {"maxIterations": 20, "maxFailures": 3, "maxCostUsd": 1.5, "maxWallMs": None}
        assert [step["status"] for step in found["plan"]["steps"]] == ["complete"]
        assert found["outcome"]["success"]
        assert (found["outcome"]["reason"], found["outcome"]["summary"]) == ("completed", "add.py adds.")
        assert found["usage"]["output"] > 0
        assert found["startedAt"] <= found["endedAt"]
        tester = found["history"][2]
        assert [(call["name"], call["failed"]) for call in tester["toolCalls"]] == [("shell", True)]
        assert tester["toolCalls"][0]["text"].startswith("shell(python -m py_compile add.py")
        assert (tester["agent"], tester["result"], tester["costUsd"]) == ("tester", "success", 0)

    staged(tmp_path, main)


def test_a_run_under_way_is_read_from_what_it_knows(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> None:
        id = await asking(app, box, tmp_path)
        found = await app.runs.read(id)

        assert (found["status"], found["iterations"], found["outcome"]) == ("waiting", 1, None)
        assert [call["name"] for call in found["waiting"][0]["calls"]] == ["write_file"]
        assert (found["endedAt"], found["arbiter"], found["agents"]) == (None, {"kind": "rules"}, ["developer"])

    staged(tmp_path, main)


def test_a_run_that_has_just_ended_has_its_outcome_before_its_thread_lets_it_go() -> None:
    class Between:
        """A store's view of a thread whose run is over and still there."""

        store = MemoryStore()

        async def snapshot(self, root: str) -> Any:
            actor = create_actor(orchestrator_machine, input={"agents": team("developer")}).start()
            actor.send({"type": "START_TASK", "task": "Write add.py", "at": 1})
            actor.send({"type": "ARBITER_DECISION", "decision": {"type": "COMPLETE", "summary": "Was there."}})
            children = {"run": {"snapshot": actor.get_persisted_snapshot()}}
            context = {"kind": "run", "title": None, "config": {}, "cost": 0, "waitingReason": None}
            return {"value": "completed", "context": context, "children": children}

    found = asyncio.run(Library(Between(), KINDS).read("r")).content

    assert (found["task"], found["outcome"]["success"]) == ("Write add.py", True)
    assert (found["outcome"]["summary"], found["endedAt"]) == ("Was there.", 1)


def test_a_run_that_never_began_has_its_settings_only(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> None:
        id = await app.runs.create(team("developer"), maxFailures=2)
        found = await app.runs.read(id)

        assert (found["task"], found["status"], found["history"]) == ("", "pending", [])
        assert (found["limits"]["maxFailures"], found["outcome"]) == (2, None)
        with pytest.raises(UnknownThread, match="no run 'nobody'"):
            await app.runs.read("nobody")
        chat = await app.chats.create(model="scripted:demo")
        with pytest.raises(UnknownThread, match="is a chat, not a run"):
            await app.runs.read(chat)

    staged(tmp_path, main)


def test_runs_are_listed_and_read_beside_the_process_that_runs_them(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> None:
        chat = await app.chats.create(model="scripted:demo")
        agents, settings = team("planner", "developer", "tester", "reviewer"), {"tools": box.listed}
        first = await app.runs.create(agents, model=small_task(tmp_path), consent={"mode": "auto"}, **settings)
        await finished(app, first)
        second = await asking(app, box, tmp_path)
        async with open_library(tmp_path / "store.db") as library:
            listed = await library.latest(kind="run")
            assert [(one.id, one.status, one.turns, one.cost_usd) for one in listed] == [
                (second, "waiting", 1, 0.0), (first, "completed", 7, 0),
            ]  # fmt: skip
            assert [one.title for one in listed] == [f"Write b.py {EVIL}", "Write add.py"]
            assert listed[0].updated >= listed[1].updated
            assert {one.id for one in await library.latest()} == {chat, first, second}
            assert [match.view.id for match in await library.search("add.py")] == [first]
            assert (await library.read(first)).content["outcome"]["summary"] == "add.py adds."
            assert (await library.read(second)).content["status"] == "waiting"

    staged(tmp_path, main)


def test_a_failed_run_is_listed_with_its_error_and_a_renamed_one_with_its_name(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> None:
        broken = script(tmp_path, {"system": "developer", "steps": [{"error": "9001", "message": "never"}]})
        id = await app.runs.create(team("developer"), model=broken, arbiter={"kind": "rules"})
        await finished(app, id)
        await app.runs.rename(id, "The broken one")
        (view,) = await app.library.latest(kind="run")

        assert (view.title, view.status, view.error) == ("The broken one", "failed", "never")
        assert (await app.runs.read(id))["title"] == "The broken one"

    staged(tmp_path, main)


def test_a_debate_is_listed_by_its_topic_and_with_its_cost() -> None:
    async def main() -> None:
        async with host(MemoryStore()) as runtime:
            library = Library(runtime, KINDS)
            debates = Debates(runtime, library)
            id = await debates.create(CONFIG)
            (view,) = await library.latest(kind="debate")
            assert (view.title, view.status, view.turns, view.cost_usd) == (TOPIC, "pending", 0, 0.0)
            assert view.model == "scripted:debate"
            await debates.start(id)
            async for one in debates.follow(id):
                if one.kind == "round_recorded":
                    break
            (view,) = await library.latest(kind="debate")
            assert (view.title, view.status, view.turns) == (TOPIC, "running", 1)
            assert view.cost_usd > 0
            await to_the_end(debates, id)
            (view,) = await library.latest(kind="debate")
            found = await debates.read(id)

            assert (view.title, view.status, view.turns) == (TOPIC, "completed", len(found["rounds"]))
            assert view.model == "scripted:debate"
            assert view.cost_usd == float(found["costTracker"]["totalCost"])

    simulate(main)


def test_a_run_is_written_as_markdown_html_and_json(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> Any:
        id = await asking(app, box, tmp_path, maxCostUsd=2)
        receipt = await app.runs.answer(id, decision="allow")
        async for _ in app.runs.until_idle(id, receipt.seq - 1):
            pass
        return await app.library.read(id)

    record = staged(tmp_path, main)
    run = record.content
    run["plan"] = {"steps": [{"index": 0, "description": EVIL, "status": "complete", "agentUsed": "developer"}]}
    text, page = to_markdown(RUN.document(record)), to_html(RUN.document(record))

    assert text.startswith(f"# Write b.py {EVIL}\n")
    assert "- Outcome: reached (completed)" in text
    assert "- Iterations: 1 of at most 50" in text
    assert "- Cost: $0.00 of at most $2.00" in text
    assert "| 1 | <script>alert(1)</script> \\| & ``` | [x] complete | developer |" in text
    assert "### 1. developer: success" in text
    assert "Called:\n\n```\nread_file(" in text
    assert "write_file(" in text
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "@media print" in page
    assert "prefers-color-scheme: dark" in page
    assert POLICY in page
    assert "http:" not in page
    assert json.loads(FORMATS["json"](RUN, record)) == run


def test_a_turn_that_failed_keeps_what_it_did_before(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> dict[str, Any]:
        broken = script(
            tmp_path,
            {"system": "developer", "after": "write_file", "steps": [{"error": "9001", "message": "never"}]},
            calls("developer", "write_file", {"path": "b.py", "content": GOOD}),
        )
        settings = {"model": broken, "arbiter": {"kind": "rules"}, "tools": box.listed, "consent": {"mode": "auto"}}
        id = await app.runs.create(team("developer"), **settings)
        await finished(app, id)
        return await app.runs.read(id)

    (turn,) = staged(tmp_path, main)["history"]

    assert (turn["agent"], turn["result"], turn["error"]) == ("developer", "failure", "never")
    assert [call["name"] for call in turn["toolCalls"]] == ["write_file"]
    assert turn["tokenUsage"]["output"] > 0


def test_what_went_wrong_stands_in_the_file_too(tmp_path: Path) -> None:
    async def main(app: App, box: Workshop) -> dict[str, Any]:
        broken = script(tmp_path, {"system": "developer", "steps": [{"error": "9001", "message": "never <b>"}]})
        id = await app.runs.create(team("developer"), model=broken, arbiter={"kind": "rules"})
        await finished(app, id)
        return await app.library.read(id)

    document = RUN.document(staged(tmp_path, main))

    assert "- Outcome: not reached (failed)\n- Error: never <b>\n" in to_markdown(document)
    assert "It failed: never <b>" in to_markdown(document)
    assert "It failed: never &lt;b&gt;" in to_html(document)


def test_a_record_has_the_mode_and_what_was_allowed_beyond_one_call(tmp_path: Path) -> None:
    denial = {"decision": "deny", "pattern": "x"}
    (tmp_path / "script").mkdir()
    model = script(
        tmp_path / "script",
        calls("developer", "shell", {"path": "b.py"}, after="write_file"),
        calls("developer", "write_file", {"path": "b.py", "content": GOOD}),
    )

    async def main(app: App, box: Workshop) -> Any:
        id = await asking(app, box, tmp_path, consent={"mode": "ask", "overrides": [denial]}, model=model)
        receipt = await app.runs.answer(id, decision="allow", scope="tool")
        await app.runs.until_idle(id, receipt.seq)
        return (await app.library.read(id)).content["consent"]

    grant = {"decision": "allow", "scope": "tool", "tool": "write_file", "value": "write_file"}
    assert staged(tmp_path, main) == {"mode": "ask", "overrides": [denial, grant]}
