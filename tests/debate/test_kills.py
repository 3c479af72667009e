"""Debates whose process is killed, in every state: the store is opened again, and nobody could tell."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.debate_process import SCENES, Stage, arrive, go_on, opened
from tests.fixtures.debates import CONFIG, essence
from tests.paths import ROOT

PATIENCE_S = 30
WAY = ["initializing", "awaitingArguments", "debating", "debating", "judgeEvaluating"]
# What comes after so many states of the way, and which of them comes again after that.
TURNS = {
    "opening": (2, ["paused", "awaitingArguments"]),
    "rebuttal": (3, ["paused", "debating"]),
    "closing": (4, ["paused", "debating"]),
    "judging": (5, ["paused", "judgeEvaluating"]),
    "paused": (3, ["paused", "debating"]),
    "error": (5, ["error", "initializing", "judgeEvaluating"]),
}
LOST_CALLS = ("opening", "rebuttal", "closing", "judging")


def killed(folder: Path, scene: str) -> Path:
    """Kill a process in a scene; gives the store it leaves behind."""
    path = folder / "killed.db"
    command = [sys.executable, "-m", "tests.fixtures.debate_process", str(path), scene]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == -9
    return path


async def resumed(path: Path, scene: str) -> tuple[dict[str, Any], list[str]]:
    """What becomes of a debate that a killed process left."""
    async with opened(path, Stage(None)) as app, asyncio.timeout(PATIENCE_S):
        [thread] = await app.runtime.store.roots()
        await go_on(app.debates, thread.root, scene)
        states = []
        async for one in app.debates.follow(thread.root):
            states += [one.facts["state"]] if one.kind == "state" else []
            if one.kind == "completed":
                break
        return await app.debates.read(thread.root), states


async def unharmed(path: Path, scene: str) -> dict[str, Any]:
    """The same debate in one process: whoever halted it there is gone, unless a person has paused it."""
    async with opened(path, Stage(scene if scene in ("paused", "error") else None)) as app:
        async with asyncio.timeout(PATIENCE_S):
            id = await app.debates.create(CONFIG)
            await arrive(app.debates, id, scene if scene in ("paused", "error") else "idle")
            await go_on(app.debates, id, scene)
            return await app.debates.read(id)


@pytest.mark.requirement("S4-12", "S4-13", "S4-45", "S4-98", "S4-100", "S4-112", "S4-B9", "S4-B10", "X-6")
@pytest.mark.parametrize("scene", SCENES)
def test_a_debate_killed_in_any_state_ends_as_if_nothing_had_happened(tmp_path: Path, scene: str) -> None:
    """SIGKILL, SQLite; transcript, costs, verdict."""
    found, states = asyncio.run(resumed(killed(tmp_path, scene), scene))

    assert essence(found) == essence(asyncio.run(unharmed(tmp_path / "unharmed.db", scene)))
    place, turn = TURNS.get(scene, (0, []))
    assert states == [*WAY[:place], *turn, *WAY[place:]]
    assert found["costTracker"]["unseen"]["calls"] == (scene in LOST_CALLS)
