"""Agents of a new run that refer to agents or tools that there are not."""

from typing import Any, cast

import pytest

from antiphon.agents import Agent, InvalidAgent
from antiphon.agents.checks import check_settings, check_team, check_tool_names
from antiphon.agents.definition import agent_configs
from antiphon.agents.machine.agent_config import AgentConfig
from antiphon.threads import Refused

CLERK: AgentConfig = {"name": "clerk", "whenToUse": "For books.", "systemPrompt": "You keep books."}


def agent(*tools: str) -> AgentConfig:
    return Agent("clerk", "For books.", "You keep books.", tools=tools).to_config()


@pytest.mark.parametrize("key", ["name", "whenToUse", "systemPrompt"])
@pytest.mark.parametrize("value", [None, "", "  ", 5])
def test_an_agent_needs_a_name_a_description_and_a_prompt(key: str, value: Any) -> None:
    with pytest.raises(InvalidAgent, match=f"its {key} is missing"):
        agent_configs([cast(AgentConfig, {**CLERK, key: value})])


def test_an_agent_of_a_file_is_followed_by_agents_that_there_are() -> None:
    followed: AgentConfig = {**CLERK, "transitions": {"onOutput": [{"pattern": "x", "to": "poet"}]}}
    with pytest.raises(InvalidAgent, match="it is followed by 'poet', which is no agent; known: clerk, COMPLETE"):
        agent_configs([followed])


def test_a_plan_names_agents_of_the_run() -> None:
    plan = {"steps": [{"description": "Write a poem", "agent": "poet"}]}
    with pytest.raises(Refused, match=r"plan: .*poet"):
        check_team([CLERK], {"plan": plan})
    check_team([CLERK], {"plan": {"steps": [{"description": "Keep books", "agent": "clerk"}]}})


def test_the_tools_of_an_agent_are_tools_of_the_run_or_patterns() -> None:
    settings = {"tools": [{"name": "read_file"}]}
    check_tool_names(agent("read_file", "ask_user", "write_*"), settings)
    with pytest.raises(InvalidAgent, match="may use 'saw', which is no tool of this run; known: ask_user, read_file"):
        check_tool_names(agent("read_file", "saw"), settings)


@pytest.mark.parametrize(
    "settings",
    [
        {"maxCostUsd": "5"},
        {"maxIterations": "x"},
        {"maxIterations": True},
        {"maxWallMs": 10**30},
        {"consent": "ask"},
        {"consent": {"mode": "bogus"}},
        {"consent": {"timeoutMs": 2**63}},
        {"options": 5},
    ],
)
def test_a_setting_of_a_wrong_type_is_named(settings: dict[str, Any]) -> None:
    (name,) = settings
    with pytest.raises(Refused, match=rf"^{name}(\.\w+)? is "):
        check_settings(settings)
