"""Agents defined in Python, with the checks that files of agents get."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from antiphon.agents.checks import check_required, check_targets
from antiphon.agents.errors import InvalidAgent
from antiphon.agents.machine.agent_config import ASK_USER, NAME, UPDATE_PLAN, AgentConfig
from antiphon.tools.functions import ToolFunction

OWN = (ASK_USER, UPDATE_PLAN)


@dataclass(frozen=True, slots=True)
class Agent:
    """Agent of a run; raises `InvalidAgent` if it cannot work.

    With `tools`, tools or patterns of their names, the agent has these and no others. `on_success`, `on_failure`,
    `on_max_iterations` and `on_output`, which maps patterns, name the next agent, or COMPLETE, CONTINUE or RETRY.
    `fallback` has the models to ask if its own fails; without it, those of the run are asked.
    """

    name: str
    when_to_use: str
    system_prompt: str
    model: str | None = None
    temperature: float | None = None
    tools: Sequence[str | ToolFunction] | None = None
    shell: Mapping[str, Sequence[str]] | None = None
    max_iterations: int | None = None
    max_cost_usd: float | None = None
    max_tokens: int | None = None
    on_success: str | None = None
    on_failure: str | None = None
    on_max_iterations: str | None = None
    on_output: Mapping[str, str] = field(default_factory=dict)
    response_schema: Mapping[str, Any] | None = None
    plans: bool = False
    completes_step: bool = False
    fallback: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise InvalidAgent(self.name, "its name must have lower-case letters, digits, - and _")
        for key in ("when_to_use", "system_prompt"):
            if not getattr(self, key).strip():
                raise InvalidAgent(self.name, f"{key} is empty")
        for key in ("max_iterations", "max_cost_usd", "max_tokens"):
            limit = getattr(self, key)
            if limit is not None and not limit > 0:
                raise InvalidAgent(self.name, f"{key} is {limit!r}; it must be above 0")

    def to_config(self) -> AgentConfig:
        """Return the configuration of the agent, as a file would have it."""
        config: dict[str, Any] = {
            "name": self.name,
            "whenToUse": self.when_to_use,
            "systemPrompt": self.system_prompt,
            "model": self.model,
            "temperature": self.temperature,
            "tools": self._tool_filter(),
            "shell": _shell_filter(self.shell),
            "limits": _without_none(
                maxIterations=self.max_iterations, maxCostUsd=self.max_cost_usd, maxTokens=self.max_tokens
            ),
            "transitions": _without_none(
                onSuccess=self.on_success,
                onFailure=self.on_failure,
                onMaxIterations=self.on_max_iterations,
                onOutput=[{"pattern": pattern, "to": to} for pattern, to in self.on_output.items()] or None,
            ),
            "responseSchema": None if self.response_schema is None else dict(self.response_schema),
            "plans": self.plans or None,
            "completesStep": self.completes_step or None,
            "fallback": None if self.fallback is None else list(self.fallback),
        }
        return cast(AgentConfig, {key: value for key, value in config.items() if value not in (None, {})})

    def _tool_filter(self) -> dict[str, list[str]] | None:
        if self.tools is None:
            return None
        names = [tool.tool.name if isinstance(tool, ToolFunction) else tool for tool in self.tools]
        return {"allowed": names, "blocked": [name for name in OWN if name not in names]}


def _shell_filter(shell: object) -> object:
    """Return the filter with lists in place of other sequences; what is wrong in it is left to the checks."""
    if not isinstance(shell, Mapping):
        return shell
    return {key: names if isinstance(names, str) else list(names) for key, names in shell.items()}


def agent_configs(agents: Iterable[Agent | AgentConfig]) -> list[AgentConfig]:
    """Return the configurations of agents; raise `InvalidAgent` if they are incomplete or do not fit together."""
    configs = [agent.to_config() if isinstance(agent, Agent) else agent for agent in agents]
    check_required(configs)
    names = [config["name"] for config in configs]
    for name in names:
        if names.count(name) > 1:
            raise InvalidAgent(name, "there are two agents of this name")
    for config in configs:
        check_targets(config, names)
    return configs


def _without_none(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
