"""Runs on the whole stack: a store, the runtime, agents, an arbiter, tools that write files, and scripted models."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from antiphon.agents.service import Runs
from antiphon.app import App
from antiphon.errors import Code
from antiphon.providers.base import Delta, Request, TextDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.registry import Models
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import Refused, UnknownThread
from tests.fixtures.chats import Teller
from tests.fixtures.orchestrator import agent
from tests.fixtures.scripted_team import GOOD, Workshop, calls, decides, says, script, small_task, team

PATIENCE_S = 30


def staged(folder: Path, main: Callable[[Runs, Workshop], Awaitable[Any]], models: Models | None = None) -> Any:
    """Run something with a workshop."""

    async def run() -> Any:
        box = Workshop(folder)
        async with App(MemoryStore(), toolbox=box, models=models) as app, asyncio.timeout(PATIENCE_S):
            return await main(app.runs, box)

    return asyncio.run(run())


async def finished(runs: Runs, id: str, task: str = "Write add.py") -> list[Any]:
    receipt = await runs.start(id, task)
    return [one async for one in runs.until_idle(id, receipt.seq - 1)]


@pytest.mark.requirement("S1-95..S1-97", "S1-54", "S1-61", "S1-B4", "S1-106")
def test_a_team_does_a_small_task_with_a_retry_and_a_review_that_sends_it_back(tmp_path: Path) -> None:
    """Files are written, checked, mended, read and written again."""

    async def main(runs: Runs, box: Workshop) -> None:
        agents = team("planner", "developer", "tester", "reviewer")
        id = await runs.create(agents, model=small_task(tmp_path), tools=box.listed, consent={"mode": "auto"})
        heard = await finished(runs, id)
        result = await runs.result(id)

        assert result is not None
        assert (result["success"], result["summary"], await runs.status(id)) == (True, "add.py adds.", "completed")
        assert [entry["agent"] for entry in result["history"]] == [
            "planner", "developer", "tester", "developer", "reviewer", "developer", "reviewer",
        ]  # fmt: skip
        assert (tmp_path / "add.py").read_text() == '"""Sums."""\n\n' + GOOD
        assert [call.name for call in box.calls] == ["write_file", "shell", "write_file", "write_file"]
        assert [step["status"] for step in result["plan"]["steps"]] == ["complete"]
        words = "".join(one.facts["text"] for one in heard if one.kind == "text")
        assert "First version." in words
        assert "Tool call: shell" in [one.facts.get("text") for one in heard]

    staged(tmp_path, main)


@pytest.mark.requirement("S1-95", "S1-97")
def test_the_team_that_comes_with_the_package_plays_its_script(tmp_path: Path) -> None:
    async def main(runs: Runs, box: Workshop) -> None:
        agents = team("planner", "developer", "tester", "reviewer", "researcher")
        id = await runs.create(agents, model="scripted:agents", tools=box.listed, consent={"mode": "auto"})
        await finished(runs, id, "Write greet.py")
        result = await runs.result(id)

        assert result is not None
        assert (result["success"], result["iterations"]) == (True, 5)
        assert "raise ValueError" in (tmp_path / "greet.py").read_text()

    staged(tmp_path, main)


@pytest.mark.requirement("S1-104")
def test_agents_work_in_parallel_and_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    """Joined in the order of the plan."""
    pick = {"type": "SELECT_MODE", "mode": "red", "reason": "at once"}
    parallel = [{"mode": "blue", "step": 1}, {"mode": "red", "step": 0}, {"mode": "grey", "step": 2}]

    async def main(runs: Runs, box: Workshop) -> None:
        model = script(
            tmp_path,
            decides("Evaluate", type="COMPLETE", summary="painted"),
            decides(None, **pick, parallel=parallel),
            {"system": "red", "steps": [{"delay_ms": 50}, {"text": "Red is done."}]},
            {"system": "grey", "steps": [{"error": "9002", "message": "no grey"}]},
            says("blue", "Blue is done."),
        )
        agents: Any = [agent(name) for name in ("red", "blue", "grey")]
        id = await runs.create(agents, model=model)
        plan = {"steps": ["red wall", "blue wall", "grey wall"]}
        receipt = await runs.start(id, "paint", plan=plan)
        async for _ in runs.until_idle(id, receipt.seq - 1):
            pass
        result = await runs.result(id)

        assert result is not None
        assert [(entry["agent"], entry["result"], entry["step"]) for entry in result["history"]] == [
            ("red", "success", 0), ("blue", "success", 1), ("grey", "failure", 2),
        ]  # fmt: skip
        assert [step["status"] for step in result["plan"]["steps"]] == ["complete", "complete", "failed"]

    staged(tmp_path, main)


@pytest.mark.requirement("S1-106")
def test_a_question_of_an_agent_waits_for_its_answer(tmp_path: Path) -> None:
    """WAIT question, then on with the answer."""

    async def main(runs: Runs, box: Workshop) -> None:
        model = script(
            tmp_path,
            says("developer", "Named.", after="ask_user"),
            calls("developer", "ask_user", {"question": "Which name?"}),
        )
        id = await runs.create(team("developer"), model=model, arbiter={"kind": "rules"})
        heard = await finished(runs, id)
        asked = next(one for one in heard if one.kind == "agent_waits")
        assert (await runs.status(id), asked.facts["question"]) == ("waiting", "Which name?")
        receipt = await runs.answer(id, "Ada")
        async for _ in runs.until_idle(id, receipt.seq - 1):
            pass
        result = await runs.result(id)

        assert result is not None
        assert (result["success"], result["summary"]) == (True, "Named.")

    staged(tmp_path, main)


def test_a_write_asks_for_permission_and_a_read_does_not(tmp_path: Path) -> None:
    (tmp_path / "add.py").write_text(GOOD)

    async def main(runs: Runs, box: Workshop) -> None:
        model = script(
            tmp_path,
            says("developer", "Written.", after="write_file"),
            calls("developer", "write_file", {"path": "b.py", "content": GOOD}, after="read_file"),
            calls("developer", "read_file", {"path": "add.py"}),
        )
        id = await runs.create(
            team("developer"), model=model, arbiter={"kind": "rules"}, tools=box.listed, consent={"mode": "ask"}
        )
        await finished(runs, id)
        assert (await runs.status(id), [call.name for call in box.calls]) == ("waiting", ["read_file"])
        receipt = await runs.answer(id, decision="allow", scope="once")
        async for _ in runs.until_idle(id, receipt.seq - 1):
            pass

        assert await runs.status(id) == "completed"
        assert (tmp_path / "b.py").read_text() == GOOD

    staged(tmp_path, main)


@pytest.mark.requirement("S1.4-1")
def test_a_dry_run_gives_the_plan_and_does_nothing(tmp_path: Path) -> None:
    async def main(runs: Runs, box: Workshop) -> None:
        found = await runs.dry_run(team("planner", "developer"), "Write add.py", model=small_task(tmp_path))

        assert [step["description"] for step in found["plan"]["steps"]] == ["Write add.py"]
        assert (found["warnings"], found["confidence"], found["isSure"], box.calls) == ([], 0.9, True, [])
        json.dumps(found)

    staged(tmp_path, main)


@pytest.mark.requirement("S1-45", "S1-47", "S1-34", "S1-B8", "S1-B9")
def test_a_run_is_steered_by_a_person(tmp_path: Path) -> None:
    """Forced, retried, cancelled, and given another task."""

    async def main(runs: Runs, box: Workshop) -> None:
        slow = {"system": "developer", "steps": [{"delay_ms": 60_000}, {"text": "Late."}]}
        model = script(tmp_path, slow, says("reviewer", "Review passed."))
        agents = team("developer", "reviewer")
        id = await runs.create(agents, model=model, arbiter={"kind": "rules"})
        await runs.start(id, "Write add.py")
        async for one in runs.follow(id):
            if one.kind == "agent_started":
                break
        await runs.retry(id)
        with pytest.raises(Refused, match="FORCE_AGENT is not possible now"):
            await runs.force_agent(id, "nobody")
        with pytest.raises(Refused, match="SKIP_STEP is not possible now"):
            await runs.skip(id)
        receipt = await runs.force_agent(id, "reviewer")
        async for _ in runs.until_idle(id, receipt.seq - 1):
            pass
        result = await runs.result(id)
        assert result is not None
        assert [(entry["agent"], entry["result"]) for entry in result["history"]] == [
            ("developer", "cancelled"), ("developer", "cancelled"), ("reviewer", "success"),
        ]  # fmt: skip
        with pytest.raises(Refused, match="is not in progress"):
            await runs.skip(id)
        await runs.start(id, "Write another")
        await runs.stop(id)

        assert await runs.status(id) == "stopped"
        ended = await runs.result(id)
        assert ended is not None
        assert ended["reason"] == "cancelled"

    staged(tmp_path, main)


class Moody(Teller):
    """A model that is busy at first."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Refuse once, for long."""
        if not self.asked:
            self.asked.append(request)
            raise ProviderError(Code.RATE_LIMITED, "busy", retry_after_ms=100_000)
        async for delta in super().stream(request):
            yield delta


@pytest.mark.requirement("S1-B2", "S1-66", "S1-47")
def test_a_model_that_is_busy_is_waited_for_unless_a_person_does_not_want_to(tmp_path: Path) -> None:
    async def main(runs: Runs, box: Workshop) -> None:
        id = await runs.create(team("developer"), model="scripted:teller", arbiter={"kind": "rules"})
        await runs.start(id, "Write add.py")
        async for one in runs.follow(id):
            if one.kind == "agent_failed":
                break
        context = await runs.content(id)
        assert context is not None
        assert (context["totalFailures"], context["lastError"]["retryAfterMs"]) == (1, 100_000)
        receipt = await runs.retry(id)
        async for _ in runs.until_idle(id, receipt.seq - 1):
            pass

        assert await runs.status(id) == "completed"

    staged(tmp_path, main, Moody([TextDelta("Done.")]).models)


@pytest.mark.requirement("S1-67", "S1-55")
def test_a_model_that_is_not_there_fails_the_run(tmp_path: Path) -> None:
    async def main(runs: Runs, box: Workshop) -> None:
        broken = script(tmp_path, {"system": "developer", "steps": [{"error": "9001", "message": "never"}]})
        id = await runs.create(team("developer"), model=broken, arbiter={"kind": "rules"})
        await finished(runs, id)
        result = await runs.result(id)

        assert result is not None
        assert (await runs.status(id), result["error"]["message"]) == ("failed", "never")

    staged(tmp_path, main)


def test_what_is_asked_wrongly_is_said_plainly(tmp_path: Path) -> None:
    async def main(runs: Runs, box: Workshop) -> None:
        with pytest.raises(UnknownThread, match="no run 'nobody'"):
            await runs.start("nobody", "x")
        with pytest.raises(Refused, match="unknown setting 'modle'"):
            await runs.create(team("developer"), modle="x")
        id = await runs.create(team("developer"))
        with pytest.raises(Refused, match="no answer is waited for; none is open: the thread is pending"):
            await runs.answer(id, "x")
        with pytest.raises(Refused, match="is pending; only an interrupted run"):
            await runs.resume(id)

    staged(tmp_path, main)
