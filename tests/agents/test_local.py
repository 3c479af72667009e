"""Runs on the embedded model with its real weights: shapes and bounds are asserted, not words."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.stores.memory import MemoryStore
from antiphon.threads.toolbox import tools_to_json
from antiphon.tools.workspace import Workspace
from tests.fixtures.agents import idle, real_tools, team

pytestmark = pytest.mark.local
MODEL = "local:smollm2"
PATIENCE_S = 400
OWN_TOOLS = ["ask_user", "update_plan"]
TASK = "Write the file hello.txt with the word hello in it."


def held(folder: Path, name: str, tools: list[str], task: str, **settings: Any) -> dict[str, Any]:
    """A run of one agent with a few tools, brief in everything."""
    brief = {"limits": {"maxIterations": 2, "maxTokens": 60}, "tools": {"allowed": tools, "blocked": OWN_TOOLS}}

    async def main() -> dict[str, Any]:
        with Workspace(folder) as workspace:
            box = real_tools(workspace)
            async with App(MemoryStore(), toolbox=box) as app, asyncio.timeout(PATIENCE_S):
                options = {"model": MODEL, "tools": tools_to_json(box.tools), "options": {"temperature": 0}}
                limits = {"maxIterations": 1, "backoffMs": 1, "maxWallMs": 300_000}
                agent = {**team(name)[0], **brief}
                id = await app.runs.create([agent], consent={"mode": "auto"}, **options, **limits, **settings)
                await idle(app.runs, id, task)
                return await app.runs.read(id)

    return asyncio.run(main())


def test_it_answers_in_words_when_rules_lead_the_run(tmp_path: Path) -> None:
    run = held(tmp_path, "researcher", [], "Say what a semaphore is.", arbiter={"kind": "rules"})

    (turn,) = run["history"]
    assert turn["output"]
    assert run["usage"]["output"] > 0
    assert (run["costUsd"], "toolCalls" in turn) == (0, False)


def test_it_calls_a_real_tool_with_arguments_that_fit(tmp_path: Path) -> None:
    run = held(tmp_path, "developer", ["write_file"], TASK, arbiter={"kind": "rules"})

    (turn,) = run["history"]
    assert [(call["name"], call["failed"]) for call in turn["toolCalls"]][:1] == [("write_file", False)]
    assert [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.requirement("S1-32", "S1-94")
def test_it_can_be_the_arbiter_by_constrained_json_and_the_run_stays_within_its_limits(tmp_path: Path) -> None:
    """Whatever it decides is a decision; whether it is a wise one, nobody claims."""
    run = held(tmp_path, "researcher", [], "Say what a semaphore is.")

    assert run["status"] in ("completed", "failed")
    assert run["outcome"]["reason"] in ("completed", "max_iterations", "wall_time", "failed")
    assert run["iterations"] <= 1
    assert "InvalidOutput" not in str(run["outcome"].get("error"))
