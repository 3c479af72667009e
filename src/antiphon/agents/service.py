"""Runs: agents at work on a task, begun, followed, steered, answered, stopped and resumed."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.agents.arbiter import arbiter_evaluates, arbiter_selects
from antiphon.agents.machine.agent import agent_machine
from antiphon.agents.machine.agent_config import AgentConfig
from antiphon.agents.machine.crew import crew_machine
from antiphon.agents.machine.orchestrator import orchestrator_machine
from antiphon.agents.machine.plan import checked
from antiphon.agents.record import RUN, run_record
from antiphon.chart.machine import Machine
from antiphon.chat.activity import tool_end
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.runtime.errors import RootExists, UnknownRoot
from antiphon.runtime.records import Entry, Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.threads.errors import Refused, UnknownThread
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.thread import start_event
from antiphon.threads.machine.tools import tools_machine
from antiphon.threads.reply import stream_reply
from antiphon.threads.results import last_words
from antiphon.threads.toolbox import NoTools, Toolbox, call_tool

ATTEMPTS = 3
SETTINGS = (
    "agents", "plan", "session", "providerName", "maxIterations", "maxFailures", "maxCostUsd", "maxWallMs",
    "backoffMs", "longestBackoffMs", "graceMs", "model", "arbiter", "tools", "consent", "options", "defaultAgent",
    "dryRun", "workspace", "mcp",
)  # fmt: skip


def compose_run(
    open_model: Callable[[str], Provider],
    *,
    process: Any,
    prices: Prices | None = None,
    toolbox: Toolbox | None = None,
) -> Machine[Any, Any]:
    """The orchestrator with everything inside it: run ⊃ crew ⊃ agent ⊃ reply and tools; `process` as in a chat."""
    known = prices or Prices()
    reply = streaming_machine.provide(actors={"streamReply": stream_reply(open_model, prices=known)})
    tools = tools_machine.provide(actors={"tool": call_tool(toolbox or NoTools()), "process": process})
    agent = agent_machine.provide(actors={"reply": reply, "tools": tools})
    return orchestrator_machine.provide(
        actors={
            "arbiterSelectAgent": arbiter_selects(open_model, known),
            "arbiterEvaluate": arbiter_evaluates(open_model, known),
            "agentExecutor": crew_machine.provide(actors={"agent": agent}),
        }
    )


@dataclass(frozen=True, slots=True)
class RunHappening:
    """One thing that happened in a run, at a step of the journal; `agent` is whose it is, if it is an agent's."""

    seq: int
    at: int
    kind: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    agent: str | None = None


def run_happenings(entry: Entry) -> Iterator[RunHappening]:
    """What a step of the journal tells people: words of agents, ends of their tools, and every line of the run."""
    path = entry.to.split("/")
    agent = path[2] if len(path) > 2 and path[:2] == [RUN, "executeAgent"] else None
    event = entry.event
    words = {"TEXT_CHUNK": "text", "THINKING_CHUNK": "thinking"}
    if path[-1] == "reply" and event["type"] in words:
        yield RunHappening(entry.seq, entry.at, words[event["type"]], {"text": event["content"]}, agent)
    elif path[-1].startswith("call-") and path[-2:-1] == ["tools"]:
        yield RunHappening(entry.seq, entry.at, "tool_ended", tool_end(path[-1], event), agent)
    for one in entry.emitted:
        facts = {key: value for key, value in one["event"].items() if key != "type"}
        if one["from"] in ("", RUN):
            who = facts.get("agentId") or agent
            yield RunHappening(entry.seq, entry.at, one["event"]["type"], facts, who)


class Runs:
    """The runs of a runtime that has the thread machine with a `run` in it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def create(self, agents: Mapping[str, AgentConfig] | Sequence[AgentConfig], **settings: Any) -> str:
        """A new run with its agents and settings; gives its id."""
        unknown = [key for key in settings if key not in SETTINGS]
        if unknown:
            raise Refused(f"unknown setting {unknown[0]!r}; known: {', '.join(SETTINGS)}")
        listed = list(agents.values()) if isinstance(agents, Mapping) else list(agents)
        config = {**settings, "agents": {agent["name"]: dict(agent) for agent in listed}}
        while True:
            id = secrets.token_hex(4)
            try:
                given = {"threadId": id, "kind": RUN, "config": config}
                return await self._runtime.create("thread", root=id, input=given)
            except RootExists:
                continue

    async def start(self, id: str, task: str, *, plan: Mapping[str, Any] | None = None) -> Receipt:
        """Give the run its task, maybe with a plan; a run that has ended takes another one."""
        message = {"text": task, "at": self._runtime.now(), **({} if plan is None else {"plan": dict(plan)})}
        return await self._begin(id, message=message)

    async def answer(self, id: str, text: str | None = None, /, **given: Any) -> Receipt:
        """Answer a question in words, or a request for permission with `decision` and `scope`, maybe its `id`."""
        facts = {"at": self._runtime.now(), **({} if text is None else {"text": text}), **given}
        return await self._begin(id, only="waiting", answer=facts)

    async def resume(self, id: str) -> Receipt:
        """Go on where a process was lost."""
        return await self._begin(id, only="interrupted", waiting_too=True)

    async def cancel(self, id: str) -> Receipt:
        """Stop the run."""
        return self._taken(id, await self._runtime.send(id, {"type": "STOP", "at": self._runtime.now()}), "STOP")

    async def force_agent(self, id: str, name: str) -> Receipt:
        """Let an agent work now, whatever the arbiter wants."""
        return await self._steer(id, {"type": "FORCE_AGENT", "agentName": name})

    async def skip(self, id: str) -> Receipt:
        """Skip the current step of the plan."""
        return await self._steer(id, {"type": "SKIP_STEP"})

    async def retry(self, id: str) -> Receipt:
        """Let the current agent begin again, or go on at once after an error."""
        return await self._steer(id, {"type": "RETRY"})

    async def status(self, id: str) -> str:
        """The status of the run's thread."""
        return str((await self._snapshot(id))["value"])

    async def context(self, id: str) -> Mapping[str, Any] | None:
        """What the run knows while it is not over: its plan, its history, who works, who is asked."""
        child = (await self._snapshot(id))["children"].get(RUN)
        if child is None:
            return None
        found: Mapping[str, Any] = child["snapshot"]["context"]
        return found

    async def config(self, id: str) -> Mapping[str, Any]:
        """What the run was made with."""
        found: Mapping[str, Any] = (await self._snapshot(id))["context"]["config"]
        return found

    async def result(self, id: str) -> Mapping[str, Any] | None:
        """How the run ended, from the journal; nothing while it is not over."""
        found = await last_words(self._runtime.store, id, RUN)
        return None if found is None else {key: value for key, value in found.items() if key != "type"}

    async def read(self, id: str) -> dict[str, Any]:
        """All that is known of a run, under way or over: see `run_record`."""
        return await run_record(self._runtime, id)

    async def dry_run(self, agents: Any, task: str, **settings: Any) -> dict[str, Any]:
        """Only the plan: validated, with warnings, and with how sure one can be of it."""
        id = await self.create(agents, **{**settings, "dryRun": True})
        receipt = await self.start(id, task)
        async for _ in self.until_idle(id, receipt.seq - 1):
            pass
        ended = await self.result(id) or {}
        names = [one["name"] for one in (agents.values() if isinstance(agents, Mapping) else agents)]
        return {"run": id, **checked(ended.get("plan"), names)}

    async def follow(self, id: str, after: int = 0) -> AsyncIterator[RunHappening]:
        """Everything that happened after a step, and then everything that happens."""
        async for entry in self._runtime.feed(id, after):
            for happening in run_happenings(entry):
                yield happening

    async def until_idle(self, id: str, after: int = 0) -> AsyncIterator[RunHappening]:
        """What happens after a step, until the run needs a person, or has ended."""
        async for entry in self._runtime.feed(id, after):
            found = list(run_happenings(entry))
            for happening in found:
                yield happening
            statuses = [one.facts["status"] for one in found if one.kind == "status"]
            if statuses and statuses[-1] != "running":
                return

    async def _snapshot(self, id: str) -> Any:
        try:
            return await self._runtime.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no run {id!r}") from None

    async def _steer(self, id: str, event: dict[str, Any]) -> Receipt:
        if await self.context(id) is None:
            raise Refused(f"run {id!r} is not at work: it has not begun, or is over")
        return self._taken(
            id, await self._runtime.send(id, {**event, "at": self._runtime.now()}, to=RUN), event["type"]
        )

    async def _begin(self, id: str, *, only: str | None = None, waiting_too: bool = False, **given: Any) -> Receipt:
        for _ in range(ATTEMPTS):
            status = await self.status(id)
            if only is not None and status != only and not (waiting_too and status == "waiting"):
                raise Refused(f"run {id!r} is {status}, not {only}")
            type = "RESTART" if not given else start_event(status)  # type: ignore[arg-type]
            receipt = await self._runtime.send(id, {"type": type, "at": self._runtime.now(), **given})
            if receipt.status != "rejected":
                return receipt
            await asyncio.sleep(0)
        raise Refused(f"run {id!r} is {status}: it takes nothing now; wait, or cancel it")

    def _taken(self, id: str, receipt: Receipt, type: str) -> Receipt:
        if receipt.status == "rejected":
            raise Refused(f"{type} cannot be done now in run {id!r}; what can: {', '.join(sorted(receipt.can))}")
        return receipt
