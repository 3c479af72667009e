"""Runs: agents at work on a task, started, followed, steered, answered, stopped and resumed."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.agents.machine.agent_config import AgentConfig
from antiphon.agents.machine.plan import checked
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json
from antiphon.threads.results import final_result
from antiphon.threads.service import ThreadService

SETTINGS = (
    "agents", "plan", "session", "providerName", "maxIterations", "maxFailures", "maxCostUsd", "maxWallMs",
    "backoffMs", "longestBackoffMs", "graceMs", "model", "arbiter", "tools", "consent", "options", "defaultAgent",
    "dryRun", "workspace", "mcp",
)  # fmt: skip
RESUMABLE = ("interrupted", "waiting")
Agents = Mapping[str, AgentConfig] | Sequence[AgentConfig]


class Runs(ThreadService):
    """The runs of a runtime."""

    kind = "run"

    async def create(self, agents: Agents, **settings: Any) -> str:
        """Create a run with its agents and settings; returns its id."""
        unknown = [key for key in settings if key not in SETTINGS]
        if unknown:
            raise Refused(f"unknown setting {unknown[0]!r}; known: {', '.join(SETTINGS)}")
        config = {**settings, "agents": {agent["name"]: dict(agent) for agent in _listed(agents)}}
        return await self._create("run", lambda _: config)

    async def start(self, id: str, task: str, *, plan: Mapping[str, Any] | None = None) -> Receipt:
        """Give the run its task, maybe with a plan; a run that has ended takes another one."""
        with_plan = {} if plan is None else {"plan": dict(plan)}
        return await self.begin(id, message={"text": task, "at": self.runtime.now(), **with_plan})

    async def resume(self, id: str) -> Receipt:
        """Continue where a process was lost."""
        status = await self.status(id)
        if status not in RESUMABLE:
            raise Refused(f"run {id!r} is {status}, not interrupted")
        return await super().resume(id)

    async def force_agent(self, id: str, name: str) -> Receipt:
        """Let an agent work now, whatever the arbiter decides."""
        return await self._steer(id, {"type": "FORCE_AGENT", "agentName": name})

    async def skip(self, id: str) -> Receipt:
        """Skip the current step of the plan."""
        return await self._steer(id, {"type": "SKIP_STEP"})

    async def retry(self, id: str) -> Receipt:
        """Let the current agent begin again, or go on at once after an error."""
        return await self._steer(id, {"type": "RETRY"})

    async def result(self, id: str) -> Json | None:
        """How the run ended, from the journal; None while it is not over."""
        return await final_result(self.runtime.store, id, "run", "run_ended")

    async def read(self, id: str) -> Json:
        """All that is known of a run, under way or over."""
        return (await self.library.read(id, self.kind)).content

    async def dry_run(self, agents: Agents, task: str, **settings: Any) -> dict[str, Any]:
        """Only the plan: validated, with warnings, and with how sure one can be of it."""
        id = await self.create(agents, **{**settings, "dryRun": True})
        receipt = await self.start(id, task)
        async for _ in self.until_idle(id, receipt.seq - 1):
            pass
        ended = await self.result(id) or {}
        return {"run": id, **checked(ended.get("plan"), [agent["name"] for agent in _listed(agents)])}

    async def _steer(self, id: str, event: dict[str, Any]) -> Receipt:
        if await self.content(id) is None:
            raise Refused(f"run {id!r} is not at work: it has not begun, or is over")
        return await self.send(id, {**event, "at": self.runtime.now()}, to="run")


def _listed(agents: Agents) -> list[AgentConfig]:
    return list(agents.values()) if isinstance(agents, Mapping) else list(agents)
