"""Runs on real tools whose process is killed with SIGKILL: they are resumed, and no finished call is made again."""

import asyncio
import itertools
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App, open_library
from antiphon.tools.workspace import Workspace
from tests.fixtures.agents import PATIENCE_S, real_tools
from tests.fixtures.run_process import COUNTED, RUN, TASK, troupe
from tests.paths import ROOT


@contextmanager
def doomed(folder: Path) -> Iterator[Iterable[str]]:
    """A process that works on the run, and is killed in the end; gives what it says it is at, step by step."""
    command = [sys.executable, "-m", "tests.fixtures.run_process", str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield (line.split()[0] for line in process.stdout)
    finally:
        process.kill()
        process.communicate()


def resumed(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """Open what the killed process left, and bring the run to its end; and what the model was asked then."""
    company = troupe()
    asked: list[Any] = []
    play = company.stream

    def stream(request: Any) -> Any:
        asked.append(request)
        return play(request)

    company.stream = stream  # type: ignore[method-assign]  # a model that remembers

    async def main() -> dict[str, Any]:
        with Workspace(folder / "work") as workspace:
            async with App(folder / "store.db", toolbox=real_tools(workspace), models=company.models) as app:
                async with asyncio.timeout(PATIENCE_S):
                    await _to_the_end(app)
                    return await app.runs.read(RUN)

    return asyncio.run(main()), asked


async def _to_the_end(app: App) -> None:
    if await app.runs.status(RUN) == "pending":
        await app.runs.start(RUN, TASK)
    seen = 0
    while (status := await app.runs.status(RUN)) not in ("completed", "failed", "stopped"):
        if status == "interrupted":
            await app.runs.resume(RUN)
        async for one in app.runs.follow(RUN, seen):
            seen = one.seq
            if one.kind == "status" and one.facts["status"] not in ("running", "pending"):
                break


@pytest.mark.requirement("S1-98", "S1-99", "S1-105", "S1-B20", "E-17")
@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("task_started", 1), ("agent_started", 1), ("tool_called", 1), ("tool_answered", 1), ("tool_called", 3),
        ("agent_completed", 1), ("agent_started", 2), ("tool_answered", 4),
    ],
)  # fmt: skip
def test_a_killed_run_is_resumed_to_its_end_and_no_command_runs_again(tmp_path: Path, kind: str, times: int) -> None:
    """No command begins twice, and only one that was cut has not written."""
    (tmp_path / "work").mkdir()
    with doomed(tmp_path) as said:
        for _ in itertools.islice((one for one in said if one == kind), times):
            pass
    run, asked = resumed(tmp_path)

    assert (run["status"], run["outcome"]["success"], run["outcome"]["summary"]) == ("completed", True, "Counted.")
    begun, counted = ((tmp_path / "work" / name).read_text().split() for name in ("begun", "count"))
    assert len(begun) == len(set(begun))
    assert len(counted) == len(set(counted)) >= len(COUNTED) - 1
    for request in asked:
        _every_call_has_its_result(request.messages)


@pytest.mark.requirement("S1-105", "E-17")
def test_a_command_cut_by_a_kill_is_told_as_unknown_and_not_run_again(tmp_path: Path) -> None:
    """Nobody knows how it ended; the model is told so, and goes on."""
    work = tmp_path / "work"
    work.mkdir()
    os.mkfifo(work / "here")
    door = os.open(work / "here", os.O_RDONLY | os.O_NONBLOCK)
    with doomed(tmp_path):
        assert select.select([door], [], [], PATIENCE_S)[0]
    os.close(door)
    os.unlink(work / "here")
    run, asked = resumed(tmp_path)

    assert (run["status"], run["outcome"]["success"]) == ("completed", True)
    assert (work / "begun").read_text().split() == ["one", "two", "three"]
    assert (work / "count").read_text().split() == ["one", "three"]
    assert "nobody knows how this ended" in str(asked[0].messages)
    assert [call["failed"] for call in run["history"][0]["toolCalls"]] == [False, True, False]
    for request in asked:
        _every_call_has_its_result(request.messages)


def test_a_run_is_listed_as_running_until_its_process_is_killed_and_then_as_interrupted(
    tmp_path: Path,
) -> None:
    async def listed() -> tuple[str, str]:
        async with open_library(tmp_path / "store.db") as library:
            (view,) = await library.latest(kind="run")
            return view.status, (await library.read(RUN)).content["status"]

    (tmp_path / "work").mkdir()
    os.mkfifo(tmp_path / "work" / "here")
    door = os.open(tmp_path / "work" / "here", os.O_RDONLY | os.O_NONBLOCK)
    with doomed(tmp_path):
        assert select.select([door], [], [], PATIENCE_S)[0]
        assert asyncio.run(listed()) == ("running", "running")
    os.close(door)

    assert asyncio.run(listed()) == ("interrupted", "interrupted")


def _every_call_has_its_result(messages: Any) -> None:
    called = [call.id for message in messages for call in message.calls]
    results = [part.call_id for message in messages for part in message.parts if hasattr(part, "call_id")]
    assert sorted(called) == sorted(results)
