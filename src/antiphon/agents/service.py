"""Service of runs: create, start, follow, steer, answer, stop and resume them."""

from collections.abc import Mapping, Sequence
from typing import Any

from antiphon.agents.checks import check_settings, check_team, check_tool_names, models_of
from antiphon.agents.definition import Agent, agent_configs
from antiphon.agents.machine.agent_config import AgentConfig
from antiphon.agents.plans import review_result
from antiphon.runtime.records import Receipt
from antiphon.threads.approval import consent_with_approver
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json
from antiphon.threads.results import final_result
from antiphon.threads.service import ThreadService
from antiphon.threads.toolbox import tools_to_json

SETTINGS = (
    "agents", "plan", "session", "providerName", "maxIterations", "maxFailures", "maxCostUsd", "maxWallMs",
    "backoffMs", "longestBackoffMs", "graceMs", "model", "fallback", "arbiter", "tools", "consent", "options",
    "defaultAgent", "dryRun", "workspace", "mcp",
)  # fmt: skip
ARBITER = "arbiter"
RESUMABLE = ("interrupted", "waiting")
Agents = Mapping[str, AgentConfig] | Sequence[Agent | AgentConfig]


class Runs(ThreadService):
    """The runs of a runtime."""

    kind = "run"

    async def create(
        self,
        agents: Agents = (),
        *,
        title: str | None = None,
        owner: str = "",
        id: str | None = None,
        **settings: Any,
    ) -> str:
        """Create a run with its agents and settings; return its id, a random one.

        `Refused` is raised if the `id` that was asked for is taken.
        Agents, models and tools are checked before anything is stored, without a request.
        """
        unknown = [key for key in settings if key not in SETTINGS]
        if unknown:
            raise Refused(f"unknown setting {unknown[0]!r}; known: {', '.join(SETTINGS)}")
        check_settings(settings)
        if self.resources.has_approver:
            settings["consent"] = consent_with_approver(settings.get("consent"))
        if settings.get("tools"):
            settings["tools"] = tools_to_json(settings["tools"])
        team = _agent_list(agents)
        check_team(team, settings)
        for agent in _own_agents(agents):
            check_tool_names(agent.to_config(), settings)
        self.resources.check_tools(settings.get("tools") or ())
        await self.resources.check_models(models_of(team, settings, arbiter=ARBITER not in self.resources.functions))
        config = {**settings, "agents": {agent["name"]: dict(agent) for agent in team}}
        return await self._create("run", lambda _: config, title=title, owner=owner, id=id)

    async def start(
        self,
        thread: str,
        text: str | None = None,
        *,
        id: str | None = None,
        plan: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Start the task, possibly with a plan; a run that has ended accepts another task."""
        if text is None:
            await self._check(thread)
            raise Refused(f"run {thread!r} starts with its task; pass its text")
        with_plan = {} if plan is None else {"plan": dict(plan)}
        return await self.begin(thread, id=id, message={"text": text, "at": self.runtime.now(), **with_plan})

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Start, guide, answer or restart the run; one whose process was lost is resumed first."""
        state = await self.state(thread)
        if "message" in payload and (state.value == "interrupted" or state.get("processLost")):
            raise Refused(f"run {thread!r} lost its process; resume it, then it takes messages")
        if "message" in payload and await self._waits_after_error(thread):
            raise Refused(f"run {thread!r} waits for a key; give it the key and retry, then it takes messages")
        return await super().begin(thread, id=id, **payload)

    async def resume(self, id: str, *, key: str | None = None) -> Receipt:
        """Continue where the process was lost."""
        status = await self.status(id)
        if status not in RESUMABLE:
            raise Refused(f"run {id!r} is {status}; only an interrupted run can be resumed")
        return await super().resume(id, key=key)

    async def force_agent(self, id: str, name: str) -> Receipt:
        """Let an agent work now instead of the arbiter's choice."""
        return await self._perform(id, "FORCE_AGENT", agentName=name)

    async def skip(self, id: str) -> Receipt:
        """Skip the current step of the plan."""
        return await self._perform(id, "SKIP_STEP")

    async def retry(self, id: str, *, key: str | None = None) -> Receipt:
        """Restart the current agent, or continue at once after an error; a run without a key asks for it again."""
        if await self._waits_after_error(id):
            return await super().retry(id, key=key)
        return await self._perform(id, "RETRY", key)

    async def result(self, id: str) -> Json | None:
        """Return the result of the run from the journal; None while it is running."""
        await self._check(id)
        return await final_result(self.runtime.store, id, "run", "run_ended")

    async def read(self, id: str) -> Json:
        """Read everything that is known of a run, running or ended."""
        return (await self.library.read(id, self.kind)).content

    async def dry_run(self, agents: Agents, task: str, **settings: Any) -> dict[str, Any]:
        """Make only the plan, and return it with its warnings and confidence."""
        id = await self.create(agents, **{**settings, "dryRun": True})
        receipt = await self.start(id, task)
        async for _ in self.until_idle(id, receipt.seq - 1):
            pass
        return {"run": id, **review_result(await self.result(id), [agent["name"] for agent in _agent_list(agents)])}


def _own_agents(agents: Agents) -> list[Agent]:
    """Return the agents that are defined in Python; those of files may have filters for tools of other runs."""
    listed = agents.values() if isinstance(agents, Mapping) else agents
    return [agent for agent in listed if isinstance(agent, Agent)]


def _agent_list(agents: Agents) -> list[AgentConfig]:
    if isinstance(agents, str) or not isinstance(agents, Mapping | Sequence):
        raise Refused(f"agents is {agents!r}; it must be a list of agents")
    return agent_configs(agents.values() if isinstance(agents, Mapping) else agents)
