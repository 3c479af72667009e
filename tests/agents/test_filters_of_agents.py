"""Filters of agents and consent that are written wrongly are refused, so that no guard is silently off."""

import asyncio

import pytest

from antiphon import App
from antiphon.agents import Agent, InvalidAgent
from antiphon.threads import Consent, Refused, ThreadError
from tests.fixtures.agents import team


def create(agents, kind="run", **settings):
    async def main():
        async with App(":memory:") as app:
            return await app.threads.create(kind, model="scripted:agents", **settings, **agents)

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("shell", "problem"),
    [
        ({"allowed": "ls*"}, "its shell.allowed is 'ls\\*'; it must be a list of patterns"),
        ({"allow": ["ls*"]}, "its shell has an unknown key 'allow'; known: allowed, blocked"),
        ("ls*", "its shell is 'ls\\*'; it must be an object with allowed, blocked"),
    ],
)
def test_a_filter_that_would_not_filter_is_refused(shell, problem):
    agent = Agent("one", when_to_use="always", system_prompt="Do what is asked for.", shell=shell)

    with pytest.raises(InvalidAgent, match=problem):
        create({"agents": [agent]})


@pytest.mark.parametrize("kind", ["run", "chat"])
@pytest.mark.parametrize(
    ("consent", "problem"),
    [
        ({"mode": "auto", "blockd": ["write_file"]}, "consent has an unknown key 'blockd'"),
        ({"auto_allow": ["*"]}, "consent has an unknown key 'auto_allow'"),
        ({"mode": "foo"}, "consent.mode is 'foo'; it must be one of plan, ask, auto-edit, auto"),
        ({"blocked": "rm*"}, "consent.blocked is 'rm\\*'; it must be a list of patterns"),
    ],
)
def test_consent_that_is_not_understood_is_refused(kind, consent, problem):
    agents = {"agents": team("developer")} if kind == "run" else {}

    with pytest.raises(Refused, match=problem):
        create(agents, kind, consent=consent)


def test_a_text_is_no_list_of_patterns():
    with pytest.raises(ThreadError, match="auto_allow is 'shell"):
        Consent(auto_allow="shell(git fetch*)")
