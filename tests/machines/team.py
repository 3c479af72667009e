"""A team for tests: agents as data, and an orchestrator that is driven by hand."""

from typing import Any

from antiphon import SimulatedClock, create_actor, create_machine
from antiphon.machines.orchestrator import orchestrator_machine
from tests.machines.walks import Walk, recorder


def agent(name: str, **facts: Any) -> dict[str, Any]:
    return {"name": name, "whenToUse": f"when {name} is needed", "systemPrompt": f"You are the {name}.", **facts}


AGENTS = {name: agent(name) for name in ("developer", "reviewer")} | {"planner": agent("planner", plans=True)}
START = {"type": "START_TASK", "task": "write a poem", "at": 1_000}
PLAN = {"steps": ["first", "second", "third"]}


def select(mode: str, **facts: Any) -> dict[str, Any]:
    return decision({"type": "SELECT_MODE", "mode": mode, "reason": "needed", **facts})


def decision(given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "ARBITER_DECISION", "decision": given}


COMPLETE = decision({"type": "COMPLETE", "summary": "all done"})
CONTINUE = decision({"type": "CONTINUE", "reason": "good so far"})
AGAIN = decision({"type": "RETRY", "reason": "not good"})


def done(output: str = "did it", **facts: Any) -> dict[str, Any]:
    return {"type": "AGENT_COMPLETE", "result": {"success": True, "output": output, **facts}}


FAILED = done("could not", success=False)
BUSY = {"code": "rate_limited", "message": "too many requests"}
BROKEN = {"code": "9001", "message": "no such model"}


# Nobody works by himself: what agents do is told from outside.
BY_HAND = orchestrator_machine.provide(actors={"agentExecutor": create_machine({"id": "nobody"})})


class Run:
    """An orchestrator, what it says, and its clock."""

    def __init__(self, *events: dict[str, Any], **input: Any) -> None:
        self.clock = SimulatedClock()
        self.said: list[dict[str, Any]] = []
        self.actor = create_actor(BY_HAND, input={"agents": AGENTS, **input}, clock=self.clock)
        self.actor.on("*", self.said.append)
        self.actor.start()
        self.send(*events)

    def send(self, *events: dict[str, Any]) -> "Run":
        for event in events:
            self.actor.send(event)
        return self

    @property
    def state(self) -> Any:
        return self.actor.get_snapshot().value

    @property
    def context(self) -> Any:
        return self.actor.get_snapshot().context

    @property
    def output(self) -> Any:
        return self.actor.get_snapshot().output

    @property
    def lines(self) -> list[str]:
        return [one["text"] for one in self.said if "text" in one]

    @property
    def results(self) -> list[tuple[str, str]]:
        return [(entry["agent"], entry["result"]) for entry in self.context["history"]]


class Watched(Walk):
    """An orchestrator whose crew keeps what it hears."""

    def __init__(self, *events: Any, **input: Any) -> None:
        actors = dict.fromkeys(orchestrator_machine.implementations.actors, recorder)
        super().__init__(orchestrator_machine.provide(actors=actors), {"agents": AGENTS, **input})
        for event in events:
            self.take(event)

    @property
    def state(self) -> Any:
        return self.trace[-1]["value"]

    @property
    def context(self) -> Any:
        return self.trace[-1]["context"]

    @property
    def crew(self) -> Any:
        """What the crew was given, and what it heard."""
        return self.trace[-1]["children"]["executeAgent"]

    @property
    def heard(self) -> Any:
        return self.crew["heard"]
