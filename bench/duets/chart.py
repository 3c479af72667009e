"""Antiphon, the same loop written as a chart: an arbiter and two agents as states, as the peers' graphs have nodes."""

from __future__ import annotations

import json
from typing import Any

from antiphon import assign, from_task, setup
from antiphon.actors.tasks import AsyncLogic
from antiphon.chart.machine import Machine
from duets.hosted import perform_on
from duets.script import AGENTS, TASK, Stage, decision, perform, words


def decide(input: Any) -> Any:
    """Ask the arbiter's model, and take its decision."""
    return json.loads(decision(input["turn"], input["turns"]))


def speak(input: Any) -> str:
    """One of the agents asks its model."""
    return words(input["turn"])


def turn_of(context: Any) -> Any:
    """What a function needs to know to play its part."""
    return {"turn": len(context["history"]), "turns": context["turns"]}


def agent(name: str) -> Any:
    """A state in which an agent speaks."""
    said = {"type": "keep", "params": {"agent": name}}
    return {"invoke": {"src": "speak", "input": turn_of, "onDone": {"target": "arbiter", "actions": said}}}


def machine(decide: AsyncLogic, speak: AsyncLogic) -> Machine[Any, Any]:
    """The loop, with what the arbiter and the agents do."""
    chosen = [{"guard": {"type": "isNext", "params": {"agent": name}}, "target": name} for name in AGENTS]
    return setup(
        actors={"decide": decide, "speak": speak},
        guards={"isNext": lambda context, event, params: event["output"].get("mode") == params["agent"]},
        actions={
            "keep": assign(
                lambda context, event, params: {
                    "history": [*context["history"], {"agent": params["agent"], "output": event["output"]}]
                }
            ),
        },
    ).create_machine(
        {
            "id": "talk",
            "initial": "arbiter",
            "context": lambda given: {"task": TASK, "history": [], "turns": given["turns"]},
            "states": {
                "arbiter": {"invoke": {"src": "decide", "input": turn_of, "onDone": [*chosen, {"target": "end"}]}},
                **{name: agent(name) for name in AGENTS},
                "end": {"type": "final"},
            },
        }
    )


async def main(stage: Stage, store: str) -> None:
    """Let the machine play."""
    talk = machine(from_task(decide, eager=True), from_task(speak))
    await perform_on(stage, store, talk, {"turns": stage.turns})


if __name__ == "__main__":
    perform(main)
