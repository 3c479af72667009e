"""The orchestrator's crew: two agents, and a function for every service."""

from __future__ import annotations

import json
from typing import Any

from antiphon import from_task
from duets.script import AGENTS, decision, words


def team() -> list[Any]:
    """The two agents."""
    return [{"name": name, "whenToUse": f"as {name}", "systemPrompt": f"You are the {name}."} for name in AGENTS]


def services(turns: int, *, is_speaker_eager: bool = False) -> dict[str, Any]:
    """A function for every service; they read from their input which turn it is."""

    def decide(input: Any) -> dict[str, Any]:
        return {"decision": json.loads(decision(len(input["history"]), turns))}

    def speak(input: Any) -> dict[str, Any]:
        # The id of a turn ends with its number; before it comes the run, in versions that name one.
        turn = int(input["assignments"][0]["turnId"].rstrip("-").rpartition("-")[2]) - 1
        return {"agent": input["agent"]["name"], "summary": words(turn)}

    arbiter = from_task(decide, eager=True)
    executor = from_task(speak, eager=is_speaker_eager)
    return {"arbiterSelectAgent": arbiter, "arbiterEvaluate": arbiter, "agentExecutor": executor}
