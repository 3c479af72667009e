"""Configuration of agents: prompt, tools, limits, and rules on the agent that works next."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NotRequired, TypedDict, cast

from antiphon.agents.machine.output_patterns import SearchOutput, search_output
from antiphon.threads.machine.permission_rules import CallRequest, matches_call

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
MAX_ITERATIONS = 10
SHELL = "shell"
ASK_USER = "ask_user"
UPDATE_PLAN = "update_plan"
TRANSITIONS = ("onSuccess", "onFailure", "onMaxIterations", "onOutput")
DECISIONS = ("COMPLETE", "CONTINUE", "RETRY")


class ToolJson(TypedDict):
    """A tool as a model sees it, with the risk of its calls."""

    name: str
    description: NotRequired[str]
    parameters: NotRequired[dict[str, object]]
    risk: NotRequired[str | None]


OWN_TOOLS: tuple[ToolJson, ...] = (
    {
        "name": ASK_USER,
        "description": "Ask the person a question that only a person can answer, and wait for the answer.",
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string"}, "options": {"type": "array", "items": {"type": "string"}}},
            "required": ["question"],
        },
        "risk": "read",
    },
    {
        "name": UPDATE_PLAN,
        "description": (
            "Change the plan. With `partial`, only the status of the steps that are named by `index`; "
            "without, these are the steps from now on, and finished ones are kept."
        ),
        "parameters": {
            "type": "object",
            "properties": {
                "partial": {"type": "boolean"},
                "steps": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "index": {"type": "integer"},
                            "description": {"type": "string"},
                            "status": {"type": "string"},
                            "dependsOn": {"type": "array", "items": {"type": "integer"}},
                            "agent": {"type": "string"},
                        },
                    },
                },
            },
            "required": ["steps"],
        },
        "risk": "read",
    },
)


class OutputRule(TypedDict):
    """The agent that works next if an output matches a pattern."""

    pattern: str
    to: str


class Transitions(TypedDict, total=False):
    """The next agent without asking the arbiter: an agent, or COMPLETE, CONTINUE or RETRY."""

    onSuccess: str
    onFailure: str
    onMaxIterations: str
    onOutput: list[OutputRule]


class TurnLimits(TypedDict, total=False):
    """The limits of one turn of an agent."""

    maxIterations: int
    maxCostUsd: float
    maxTokens: int


class ToolFilter(TypedDict, total=False):
    """Patterns of the tools that an agent gets; blocked ones win over allowed ones."""

    allowed: list[str]
    blocked: list[str]


class AgentConfig(TypedDict):
    """The configuration of an agent."""

    name: str
    whenToUse: str
    systemPrompt: str
    model: NotRequired[str | None]
    fallback: NotRequired[list[str]]
    temperature: NotRequired[float]
    tools: NotRequired[ToolFilter]
    shell: NotRequired[ToolFilter]
    limits: NotRequired[TurnLimits]
    transitions: NotRequired[Transitions]
    responseSchema: NotRequired[dict[str, object]]
    plans: NotRequired[bool]
    completesStep: NotRequired[bool]


def agents_of(agents: object) -> dict[str, AgentConfig]:
    """Return agents by name, from a mapping or a list of them."""
    configs = cast("Iterable[AgentConfig]", agents.values() if isinstance(agents, Mapping) else agents or ())
    return {agent["name"]: cast(AgentConfig, dict(agent)) for agent in configs}


def tools_for(agent: AgentConfig, tools: Sequence[ToolJson]) -> list[ToolJson]:
    """Return the tools of an agent: those that pass its filter, and its own two unless they are blocked."""
    rules = agent.get("tools") or {}
    blocked = rules.get("blocked", [])
    own = OWN_TOOLS if not blocked else [tool for tool in OWN_TOOLS if not _is_listed(blocked, tool["name"])]
    allowed = [tool for tool in tools if _passes(rules, tool["name"])] if rules else tools
    return [*allowed, *own]


def refusal(agent: AgentConfig, call: CallRequest) -> str | None:
    """Return why an agent may not use a tool, or None; its filter of commands is applied when calls are assessed."""
    if _passes(agent.get("tools") or {}, call["name"]):
        return None
    return f"the agent {agent['name']!r} may not use {call['name']}"


def _passes(rules: ToolFilter, name: str) -> bool:
    allowed = rules.get("allowed")
    return not _is_listed(rules.get("blocked", []), name) and (allowed is None or _is_listed(allowed, name))


def _is_listed(patterns: Sequence[str], name: str) -> bool:
    call: CallRequest = {"id": "", "name": name, "arguments": {}}
    return any(matches_call(pattern, call) for pattern in patterns if "(" not in pattern)


def next_by_rule(
    agent: AgentConfig, *, success: bool, exhausted: bool, output: str, search: SearchOutput = search_output
) -> str | None:
    """Return what an agent's own rules select: an agent, COMPLETE, CONTINUE, RETRY, or None."""
    rules = agent.get("transitions") or {}
    for rule in rules.get("onOutput", []):
        if search(rule["pattern"], output):
            return rule["to"]
    if exhausted and rules.get("onMaxIterations"):
        return rules["onMaxIterations"]
    return rules.get("onSuccess") if success else rules.get("onFailure")


def has_output_rule(agent: AgentConfig, output: str, search: SearchOutput = search_output) -> bool:
    """Return whether an output matches a rule of the agent."""
    rules = (agent.get("transitions") or {}).get("onOutput", [])
    return any(search(rule["pattern"], output) for rule in rules)


def default_agent(agents: Mapping[str, AgentConfig], preferred: str | None = None) -> str | None:
    """Return the preferred agent, else the first that does not plan, else the first."""
    if preferred in agents:
        return preferred
    workers = [name for name, agent in agents.items() if not agent.get("plans")]
    return next(iter([*workers, *agents]), None)
