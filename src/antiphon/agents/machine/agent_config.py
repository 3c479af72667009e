"""Agents as data: who they are, what they may use, how long they may work, and who comes after them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, cast

from antiphon.threads.machine.permission_rules import CallRequest, matches_call
from antiphon.tools.risk import command_in
from antiphon.tools.shell_syntax import CommandFilter

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
MAX_ITERATIONS = 10
SHELL = "shell"
ASK_USER, UPDATE_PLAN = "ask_user", "update_plan"
TRANSITIONS = ("onSuccess", "onFailure", "onMaxIterations", "onOutput")
DECISIONS = ("COMPLETE", "CONTINUE", "RETRY")
OWN_TOOLS: tuple[dict[str, Any], ...] = (
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
    """Who comes next when what an agent said matches a pattern."""

    pattern: str
    to: str


class Transitions(TypedDict, total=False):
    """Who comes next without asking the arbiter: an agent, or COMPLETE, CONTINUE or RETRY."""

    onSuccess: str
    onFailure: str
    onMaxIterations: str
    onOutput: list[OutputRule]


class Limits(TypedDict, total=False):
    """How long an agent may work in one turn."""

    maxIterations: int
    maxCostUsd: float
    maxTokens: int


class ToolFilter(TypedDict, total=False):
    """Which tools an agent gets, by patterns; what is blocked is not allowed by anything."""

    allowed: list[str]
    blocked: list[str]


class AgentConfig(TypedDict):
    """An agent."""

    name: str
    whenToUse: str
    systemPrompt: str
    model: NotRequired[str | None]
    temperature: NotRequired[float]
    tools: NotRequired[ToolFilter]
    shell: NotRequired[ToolFilter]
    limits: NotRequired[Limits]
    transitions: NotRequired[Transitions]
    responseSchema: NotRequired[dict[str, Any]]
    plans: NotRequired[bool]
    completesStep: NotRequired[bool]


def agents_of(given: Any) -> dict[str, AgentConfig]:
    """Agents by name, from a mapping or a list of them."""
    listed = given.values() if isinstance(given, Mapping) else given or ()
    return {agent["name"]: cast(AgentConfig, dict(agent)) for agent in listed}


def tools_for(agent: AgentConfig, tools: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The tools an agent is shown: what its filter lets through, and its own two unless they are blocked."""
    rules = agent.get("tools") or {}
    blocked = rules.get("blocked", [])
    own = OWN_TOOLS if not blocked else [tool for tool in OWN_TOOLS if not _is_listed(blocked, tool["name"])]
    shown = [tool for tool in tools if _passes(rules, tool["name"])] if rules else tools
    return [*shown, *own]


def refusal(agent: AgentConfig, call: CallRequest) -> str | None:
    """Why an agent may not make a call; checked before anybody is asked for permission."""
    rules, shell = agent.get("tools") or {}, agent.get("shell") or {}
    if not _passes(rules, call["name"]):
        return f"the agent {agent['name']!r} may not use {call['name']}"
    if call["name"] != SHELL:
        return None
    command = command_in(call["arguments"])
    if command is None:
        return None if not shell else f"the agent {agent['name']!r} may not run what cannot be read"
    problem = CommandFilter(shell.get("allowed"), shell.get("blocked", ())).problem(command)
    return None if problem is None else f"the agent {agent['name']!r} may not run this: {problem}"


def _passes(rules: ToolFilter, name: str) -> bool:
    allowed = rules.get("allowed")
    return not _is_listed(rules.get("blocked", []), name) and (allowed is None or _is_listed(allowed, name))


def _is_listed(patterns: Sequence[str], name: str) -> bool:
    call: CallRequest = {"id": "", "name": name, "arguments": {}, "risk": "read"}
    return any(matches_call(pattern, call) for pattern in patterns if "(" not in pattern)


def next_by_rule(agent: AgentConfig, *, success: bool, exhausted: bool, output: str) -> str | None:
    """Who comes next, as an agent's own rules say: an agent, COMPLETE, CONTINUE, RETRY, or nobody."""
    rules = agent.get("transitions") or {}
    for rule in rules.get("onOutput", []):
        if re.search(rule["pattern"], output, re.IGNORECASE):
            return rule["to"]
    if exhausted and rules.get("onMaxIterations"):
        return rules["onMaxIterations"]
    return rules.get("onSuccess") if success else rules.get("onFailure")


def has_output_rule(agent: AgentConfig, output: str) -> bool:
    """Whether what an agent said is met by a rule of its own."""
    rules = (agent.get("transitions") or {}).get("onOutput", [])
    return any(re.search(rule["pattern"], output, re.IGNORECASE) for rule in rules)


def default_agent(agents: Mapping[str, AgentConfig], wanted: str | None = None) -> str | None:
    """Who works when nobody was chosen: the one that is set, else the first that does not plan, else the first."""
    if wanted in agents:
        return wanted
    workers = [name for name, agent in agents.items() if not agent.get("plans")]
    return next(iter([*workers, *agents]), None)
