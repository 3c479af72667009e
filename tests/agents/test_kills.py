"""A run whose process dies at every commit: it is resumed and comes to its end, and no finished call is repeated."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from antiphon.agents.service import Runs
from antiphon.app import compose
from antiphon.providers.registry import Models
from antiphon.runtime.records import Commit
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.loop import SimulatedLoop
from antiphon.threads import UnknownRequest
from tests.fixtures.agents import runs_of
from tests.fixtures.runtime import START, crash
from tests.fixtures.scripted_team import GOOD, Workshop, calls, says, script, team
from tests.simulation.sqlite import RebootedStore

T = TypeVar("T")
PATIENCE_S = 3_600
ID = "the-run"


class Mortal:
    """A store of a process that dies at its n-th commit, before or after it: whoever waits for it waits for ever."""

    def __init__(self, store: Any, at: int, after: bool) -> None:
        self._store, self._left, self._after, self.dead = store, at, after, asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Store, or die."""
        self._left -= 1
        if self._left > 0:
            return await self._store.commit(commits, written)
        if self._left == 0 and self._after:
            await self._store.commit(commits, written)
        self.dead.set()
        return await asyncio.get_running_loop().create_future()


def life(store: Any, box: Workshop) -> Runtime:
    loop = asyncio.get_running_loop()
    machine = compose(Models().open, toolbox=box)
    return Runtime(store, [machine], now=lambda: START + round(loop.time() * 1000))


async def ended(runs: Runs, id: str) -> None:
    """Let a run come to its end, resumed as often as it is interrupted."""
    seen = 0
    while (status := await runs.status(id)) not in ("completed", "failed", "stopped"):
        if status == "interrupted":
            await runs.resume(id)
        async for one in runs.follow(id, seen):
            seen = one.seq
            if one.kind == "status" and one.facts["status"] != "running" and one.facts["status"] != "pending":
                break


def lived(folder: Path, store: Any, at: int, after: bool) -> tuple[bool, Any, Counter[str]]:
    """A run whose first process dies at the n-th commit; whether it died, how the run ended, and what was called."""
    model = script(
        folder,
        says("developer", "Written and checked.", after="shell"),
        calls("developer", "shell", {"command": "check", "path": "a.py"}, after="write_file"),
        calls("developer", "write_file", {"path": "a.py", "content": GOOD}),
        says("planner", '{"steps": ["Write a.py"]}'),
    )
    agents = {one["name"]: one for one in team("planner", "developer")}
    settings = {"model": model, "arbiter": {"kind": "rules"}, "consent": {"mode": "auto"}}

    async def main() -> tuple[bool, Any, Counter[str]]:
        box = Workshop(folder)
        mortal = Mortal(store, at, after)
        first = await life(mortal, box).start()
        runs = runs_of(first)
        given = {"threadId": ID, "kind": "run", "config": {**settings, "agents": agents, "tools": box.listed}}
        mortal._left += 1  # to be born is not yet a part of the run
        await first.create("thread", root=ID, input=given)
        work = asyncio.create_task(_work(runs, ID))
        dying = asyncio.create_task(mortal.dead.wait())
        await asyncio.wait({work, dying}, return_when=asyncio.FIRST_COMPLETED)
        crash(first)
        for one in (work, dying):
            one.cancel()
        await asyncio.gather(work, dying, return_exceptions=True)
        second = await life(store, box).start()
        again = runs_of(second)
        async with asyncio.timeout(PATIENCE_S):
            if await again.status(ID) == "pending":  # its task had never arrived
                await again.start(ID, "Write a.py")
            await ended(again, ID)
        result = await again.result(ID)
        await second.stop()
        return mortal.dead.is_set(), result, Counter(call.name for call in box.calls)

    return simulated(main())


async def _work(runs: Runs, id: str) -> None:
    await runs.start(id, "Write a.py")
    await ended(runs, id)


@pytest.mark.requirement("S1-98", "S1-99", "S1-105", "S1-B20", "E-17")
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_run_killed_at_any_commit_is_resumed_and_repeats_no_finished_call(
    tmp_path: Path, after: bool, kind: str
) -> None:
    deaths = 0
    for at in range(1, 200):
        store: Any = MemoryStore() if kind == "memory" else RebootedStore(tmp_path / f"{at}.db")
        died, result, made = lived(tmp_path, store, at, after)
        if kind == "sqlite":
            store.finish()
        if not died:
            break
        deaths += 1
        assert result is not None, at
        assert result["success"], (at, result)
        assert max(made.values()) == 1, (at, made)

    assert deaths == 7  # as many as the run has commits
    assert (tmp_path / "a.py").read_text() == GOOD


async def answered_to_the_end(runs: Runs, id: str) -> None:
    """Let a run come to its end: its questions are answered by their ids, and it is resumed if it is interrupted."""
    while (status := await runs.until_idle(id)) not in ("completed", "failed", "stopped"):
        requests = await runs.requests(id)
        for request in requests:
            await runs.answer(id, "Ada", request=request.id)
        if status == "interrupted" or not requests:
            await runs.resume(id)


def asked(folder: Path, at: int, after: bool) -> tuple[bool, Any, list[str]]:
    """A run that asks a question and whose first process dies; whether it died, its result, and the words of people."""
    model = script(
        folder,
        says("developer", "Named.", after="ask_user"),
        calls("developer", "ask_user", {"question": "Which name?"}),
    )
    agents = {one["name"]: one for one in team("developer")}
    given = {"threadId": ID, "kind": "run", "config": {"agents": agents, "model": model, "arbiter": {"kind": "rules"}}}

    async def main() -> tuple[bool, Any, list[str]]:
        box = Workshop(folder)
        store = MemoryStore()
        mortal = Mortal(store, at, after)
        first = await life(mortal, box).start()
        mortal._left += 1
        await first.create("thread", root=ID, input=given)
        await runs_of(first).start(ID, "Name it")
        work = asyncio.create_task(answered_to_the_end(runs_of(first), ID))
        dying = asyncio.create_task(mortal.dead.wait())
        await asyncio.wait({work, dying}, return_when=asyncio.FIRST_COMPLETED)
        crash(first)
        for one in (work, dying):
            one.cancel()
        await asyncio.gather(work, dying, return_exceptions=True)
        second = await life(store, box).start()
        async with asyncio.timeout(PATIENCE_S):
            await answered_to_the_end(runs_of(second), ID)
        result = await runs_of(second).result(ID)
        answers = [entry.event["text"] for entry in await store.entries(ID, 0, 1000) if entry.event["type"] == "ANSWER"]
        await second.stop()
        return mortal.dead.is_set(), result, answers

    return simulated(main())


@pytest.mark.requirement("S1-99", "E-17")
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_question_outlives_a_kill_at_any_commit_and_is_answered_once(tmp_path: Path, after: bool) -> None:
    deaths = 0
    for at in range(2, 50):
        died, result, answers = asked(tmp_path, at, after)
        if not died:
            break
        deaths += 1
        assert (result["success"], answers) == (True, ["Ada"]), at

    assert deaths > 2


async def lost_while_asking(box: Workshop, model: str) -> tuple[Runtime, str]:
    """The second life of a run whose first process died while it asked for a permission, and the run's id."""
    store = MemoryStore()
    first = await life(store, box).start()
    settings = {"model": model, "arbiter": {"kind": "rules"}, "consent": {"mode": "ask"}, "tools": box.listed}
    id = await runs_of(first).create(team("developer"), **settings)
    receipt = await runs_of(first).start(id, "Write a.py")
    seen = [one.seq async for one in runs_of(first).until_idle(id, receipt.seq - 1)]
    crash(first)
    second = await life(store, box).start()
    async for one in runs_of(second).follow(id, seen[-1]):
        if one.kind == "interrupted":
            break
    return second, id


def simulated(work: Coroutine[Any, Any, T]) -> T:
    """Do something in simulated time."""
    loop = SimulatedLoop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.dispose()


@pytest.mark.requirement("S1-99")
def test_an_answer_to_a_process_that_is_gone_is_refused_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    """Nobody waits for ever, and what the dead process asked for is not done."""
    model = script(
        tmp_path,
        says("developer", "Not written.", after="write_file"),
        calls("developer", "write_file", {"path": "a.py", "content": GOOD}),
    )

    async def main() -> tuple[Any, Counter[str]]:
        box = Workshop(tmp_path)
        async with asyncio.timeout(PATIENCE_S):
            second, id = await lost_while_asking(box, model)
            runs = runs_of(second)
            context = await runs.content(id)
            assert context is not None
            assert (context["waiting"], context["lostAgents"]) == ([], ["agent-0"])
            for request in (None, "run-1-1-agent-0-tools-1"):
                with pytest.raises(UnknownRequest, match="the process that asked is gone; resume the thread"):
                    await runs.answer(id, decision="allow", request=request)
            resumed = await runs.resume(id)
            async for _ in runs.until_idle(id, resumed.seq - 1):
                pass
            (request,) = await runs.requests(id)
            assert (request.id, [call["name"] for call in request.calls]) == (
                "run-1-1-agent-0-tools-1-2",
                ["write_file"],
            )
            with pytest.raises(UnknownRequest):
                await runs.answer(id, decision="allow", request="run-1-1-agent-0-tools-1")
            denied = await runs.answer(id, decision="deny")
            async for _ in runs.until_idle(id, denied.seq - 1):
                pass
        result = await runs.result(id)
        await second.stop()
        return result, Counter(call.name for call in box.calls)

    result, made = simulated(main())

    assert (result["reason"], result["summary"], made) == ("denied", "Not written.", Counter())


@pytest.mark.requirement("S1-99")
def test_a_run_that_was_lost_while_it_asked_can_ask_again(tmp_path: Path) -> None:
    """Whoever lets it go on begins another run of the thread, and hears what that one asks."""
    model = script(
        tmp_path,
        says("developer", "Named and not written.", after="ask_user"),
        calls("developer", "ask_user", {"question": "Which name?"}, after="write_file"),
        calls("developer", "write_file", {"path": "a.py", "content": GOOD}),
    )

    async def main() -> tuple[list[str], Any]:
        box = Workshop(tmp_path)
        async with asyncio.timeout(PATIENCE_S):
            second, id = await lost_while_asking(box, model)
            runs = runs_of(second)
            receipt = await runs.resume(id)
            statuses = [one.facts["status"] async for one in runs.until_idle(id, receipt.seq) if one.kind == "status"]
            for answer in ({"decision": "deny"}, {"text": "a.py"}):
                answered = await runs.answer(id, **answer)
                async for one in runs.until_idle(id, answered.seq):
                    statuses += [one.facts["status"]] if one.kind == "status" else []
        result = await runs.result(id)
        await second.stop()
        return statuses, result

    statuses, result = simulated(main())

    assert statuses == ["waiting", "waiting", "failed"]
    assert result["summary"] == "Named and not written."
