"""Agents defined in Python become the configurations that files have, and wrong ones are refused at once."""

from typing import Any

import pytest

from antiphon.agents import Agent, AgentConfig, InvalidAgent
from antiphon.agents.definition import agent_configs
from antiphon.tools import tool


@tool
def look_up(title: str) -> str:
    """Look a book up."""
    return title


def agent(name: str = "clerk", **facts: Any) -> Agent:
    return Agent(name, "For books.", "You are a clerk.", **facts)


def test_an_agent_is_the_configuration_of_a_file() -> None:
    definition = agent(
        model="scripted:demo",
        tools=[look_up, "ask_user"],
        max_iterations=3,
        on_success="COMPLETE",
        on_output={"no": "RETRY"},
        plans=True,
    )

    assert definition.to_config() == {
        "name": "clerk",
        "whenToUse": "For books.",
        "systemPrompt": "You are a clerk.",
        "model": "scripted:demo",
        "tools": {"allowed": ["look_up", "ask_user"], "blocked": ["update_plan"]},
        "limits": {"maxIterations": 3},
        "transitions": {"onSuccess": "COMPLETE", "onOutput": [{"pattern": "no", "to": "RETRY"}]},
        "plans": True,
    }
    assert agent().to_config().keys() == {"name", "whenToUse", "systemPrompt"}


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"name": "The Clerk"}, "its name must have lower-case letters"),
        ({"max_tokens": 0}, "max_tokens is 0; it must be above 0"),
    ],
)
def test_an_agent_that_cannot_work_is_refused(facts: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidAgent, match=problem):
        agent(**facts)


def test_an_agent_without_a_prompt_is_refused() -> None:
    with pytest.raises(InvalidAgent, match="system_prompt is empty"):
        Agent("clerk", "For books.", " ")


def test_agents_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InvalidAgent, match="there are two agents of this name"):
        agent_configs([agent(), agent()])
    with pytest.raises(InvalidAgent, match="followed by 'poet', which is no agent; known: clerk, COMPLETE"):
        agent_configs([agent(on_failure="poet")])


def test_agents_from_python_and_from_files_work_together() -> None:
    poet: AgentConfig = {"name": "poet", "whenToUse": "For poems.", "systemPrompt": "You are a poet."}

    assert [config["name"] for config in agent_configs([agent(on_success="poet"), poet])] == ["clerk", "poet"]
