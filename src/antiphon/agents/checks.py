"""Checks of the agents of a new run: their names, the agents and tools they refer to, and their models."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from antiphon.agents.errors import InvalidAgent
from antiphon.agents.machine.agent_config import DECISIONS, OWN_TOOLS, AgentConfig
from antiphon.agents.machine.output_patterns import PatternError, check_pattern
from antiphon.agents.machine.plan import plan_of, problems_with
from antiphon.threads.errors import Refused
from antiphon.threads.machine.consent_settings import consent_problem

REQUIRED = ("name", "whenToUse", "systemPrompt")
FILTERS = ("allowed", "blocked")
LARGEST = 10**12
WHOLE = (int,)
NUMBER = (int, float)
NUMBERS: Mapping[str, tuple[int, tuple[type, ...]]] = {
    "maxIterations": (1, WHOLE), "maxFailures": (0, WHOLE), "maxCostUsd": (0, NUMBER), "maxWallMs": (1, WHOLE),
    "backoffMs": (0, WHOLE), "longestBackoffMs": (0, WHOLE), "graceMs": (0, WHOLE),
}  # fmt: skip
OBJECTS = ("options",)
EXAMPLE_FALLBACK = '["openai:gpt-5-mini"]'
PATTERN = "*?[("  # characters of patterns: a name without them is that of one tool


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise `Refused` if a setting is not as a run takes it."""
    for key, (least, types) in NUMBERS.items():
        value = settings.get(key)
        if value is not None and not (type(value) in types and least <= value <= LARGEST):
            kind = "a whole number" if types == WHOLE else "a number"
            raise Refused(f"{key} is {value!r}; it must be {kind} from {least} to {LARGEST}")
    for key in OBJECTS:
        if not isinstance(settings.get(key) or {}, Mapping):
            raise Refused(f"{key} is {settings[key]!r}; it must be an object")
    if problem := consent_problem(settings.get("consent")):
        raise Refused(problem)
    model = settings.get("model")
    if not (model is None or isinstance(model, str)):
        raise Refused(f"model is {model!r}; it must be a text, or null")
    if not is_model_list(settings.get("fallback")):
        raise Refused(f"fallback is {settings['fallback']!r}; it must be a list of models, such as {EXAMPLE_FALLBACK}")
    arbiter = settings.get("arbiter")
    if not (arbiter is None or isinstance(arbiter, Mapping)):
        raise Refused(f'arbiter is {arbiter!r}; it must be an object, such as {{"kind": "rules"}}')
    others = (arbiter or {}).get("fallback")
    if not is_model_list(others):
        raise Refused(f"arbiter.fallback is {others!r}; it must be a list of models, such as {EXAMPLE_FALLBACK}")


def is_model_list(models: object) -> bool:
    """Return whether a value is a list of references to models, or absent."""
    return models is None or (
        isinstance(models, Sequence) and not isinstance(models, str) and all(isinstance(name, str) for name in models)
    )


def check_team(agents: Sequence[AgentConfig], settings: Mapping[str, Any]) -> None:
    """Raise `Refused` if a run refers to agents that it does not have."""
    if not agents:
        raise Refused("a run needs at least one agent")
    names = [agent["name"] for agent in agents]
    default = settings.get("defaultAgent")
    if default is not None and default not in names:
        raise Refused(f"defaultAgent is {default!r}, which is no agent of this run; known: {', '.join(names)}")
    if settings.get("plan") is not None and (problems := problems_with(plan_of(settings["plan"]), names)):
        raise Refused(f"plan: {'; '.join(problems)}")


def check_tool_names(agent: AgentConfig, settings: Mapping[str, Any]) -> None:
    """Raise `InvalidAgent` if an agent is to have a tool that the run does not have; patterns may match nothing."""
    tools = [tool["name"] for tool in (*(settings.get("tools") or ()), *OWN_TOOLS)]
    for name in (agent.get("tools") or {}).get("allowed", ()):
        if name not in tools and not any(character in name for character in PATTERN):
            listed = ", ".join(sorted(tools))
            raise InvalidAgent(agent["name"], f"it may use {name!r}, which is no tool of this run; known: {listed}")


def check_required(agents: Sequence[AgentConfig]) -> None:
    """Raise `InvalidAgent` if an agent lacks its name, its description or its prompt."""
    for agent in agents:
        if not isinstance(agent, Mapping):
            raise InvalidAgent(str(agent), "it is neither an Agent nor the object of a file")
        for key in REQUIRED:
            text = agent.get(key)
            if not isinstance(text, str) or not text.strip():
                raise InvalidAgent(str(agent.get("name") or "?"), f"its {key} is missing")
        for key in ("tools", "shell"):
            check_filter(agent["name"], key, agent.get(key))
        if not is_model_list(agent.get("fallback")):
            raise InvalidAgent(agent["name"], f"its fallback is {agent.get('fallback')!r}; it must be a list of models")


def check_filter(agent: str, key: str, patterns: object) -> None:
    """Raise `InvalidAgent` if a filter of an agent has another key than `allowed` and `blocked`, or no lists."""
    if patterns is None:
        return
    if not isinstance(patterns, Mapping):
        raise InvalidAgent(agent, f"its {key} is {patterns!r}; it must be an object with {', '.join(FILTERS)}")
    for name, listed in patterns.items():
        if name not in FILTERS:
            raise InvalidAgent(agent, f"its {key} has an unknown key {name!r}; known: {', '.join(FILTERS)}")
        if not isinstance(listed, list | tuple) or not all(isinstance(pattern, str) for pattern in listed):
            raise InvalidAgent(agent, f"its {key}.{name} is {listed!r}; it must be a list of patterns")


def check_targets(agent: AgentConfig, names: Sequence[str]) -> None:
    """Raise `InvalidAgent` if an agent is followed by one that there is not, or by a pattern that is refused."""
    rules = dict(agent.get("transitions") or {})
    outputs: Any = rules.pop("onOutput", None) or ()
    for target in (*rules.values(), *(rule["to"] for rule in outputs)):
        if target not in names and target not in DECISIONS:
            choices = ", ".join([*names, *DECISIONS])
            raise InvalidAgent(agent["name"], f"it is followed by {target!r}, which is no agent; known: {choices}")
    for rule in outputs:
        try:
            check_pattern(rule["pattern"])
        except PatternError as error:
            raise InvalidAgent(agent["name"], f"the pattern {rule['pattern']!r} cannot be used: {error}") from error


def models_of(agents: Sequence[AgentConfig], settings: Mapping[str, Any], *, arbiter: bool) -> Iterator[str | None]:
    """Yield the models that a run may use; those of the arbiter only if a model has this role."""
    yield settings.get("model")
    yield from settings.get("fallback") or ()
    for agent in agents:
        yield agent.get("model")
        yield from agent.get("fallback") or ()
    if arbiter:
        named = settings.get("arbiter") or {}
        yield named.get("model")
        yield from named.get("fallback") or ()
