"""Many debates and runs on llama.cpp's own server: not one fault of the transport, not even a repeated request."""

import asyncio

import pytest

from antiphon.app import App
from antiphon.providers import Models
from antiphon.stores.memory import MemoryStore
from tests.fixtures.agents import idle, team
from tests.servers.scenes import CountingTransport

PATIENCE_S = 1500
AT_ONCE = 4
MANY = 20
FEW = 2
SPEECHES = [("opening", 2), ("rebuttal", 2)]


def reference(server):
    return f"openai+{server.address}/v1:smollm2"


def speaker(server, tokens):
    provider, _, model = reference(server).partition(":")
    return {"provider": provider, "modelId": model, "maxTokens": tokens}


def debate_settings(server, number):
    return {
        "topic": f"Should a city close street {number} to private cars?",
        "format": "oxford",
        "maxRounds": 1,
        "contextLimit": 200,
        "participants": [{"id": side, "position": side, "model": speaker(server, 12)} for side in ("for", "against")],
        "judge": {"model": speaker(server, 24)},
    }


async def debate(app, server, number):
    """One debate, from its topic to wherever it comes to rest."""
    id = await app.debates.create(debate_settings(server, number))
    await app.debates.start(id)
    errors = [activity.facts["error"] async for activity in app.debates.until_idle(id, 1) if activity.kind == "error"]
    return await app.debates.read(id), errors


async def run(app, server, number):
    """One run of one agent that answers in words."""
    limits = {"maxIterations": 1, "backoffMs": 1, "maxWallMs": 300_000}
    agent = {**team("researcher")[0], "limits": {"maxIterations": 1, "maxTokens": 24}, "tools": {"allowed": []}}
    options = {"model": reference(server), "arbiter": {"kind": "rules"}, **limits}
    id = await app.runs.create([agent], consent={"mode": "auto"}, **options)
    await idle(app.runs, id, f"Say what a semaphore with {number} permits is.")
    return await app.runs.read(id), []


def held(server, work, count):
    """Do something many times, a few at once; return the outcomes and the transport."""

    async def main():
        transport = CountingTransport()
        turns = asyncio.Semaphore(AT_ONCE)
        async with App(MemoryStore(), models=Models(transport=transport)) as app, asyncio.timeout(PATIENCE_S):

            async def one(number):
                async with turns:
                    return await work(app, server, number)

            return await asyncio.gather(*map(one, range(count))), transport

    return asyncio.run(main())


def assert_debates(outcomes, transport, count):
    assert transport.faults == []
    assert transport.requests >= 5 * count
    for debate, errors in outcomes:
        rounds = [(round["phase"], len(round["responses"])) for round in debate["rounds"]]
        assert rounds == SPEECHES
        assert all(response["content"] for round in debate["rounds"] for response in round["responses"])
        # The judge may give no verdict, and a slow machine may miss the time of a round.
        assert [error for error in errors if str(error.get("code", "")).startswith("1")] == []


@pytest.mark.local
def test_two_debates_have_no_fault_of_the_transport(llama_server):
    outcomes, transport = held(llama_server, debate, FEW)

    assert_debates(outcomes, transport, FEW)


@pytest.mark.servers
def test_twenty_debates_have_no_fault_of_the_transport(llama_server):
    outcomes, transport = held(llama_server, debate, MANY)

    assert_debates(outcomes, transport, MANY)


@pytest.mark.servers
def test_twenty_runs_have_no_fault_of_the_transport(llama_server):
    outcomes, transport = held(llama_server, run, MANY)

    assert transport.faults == []
    assert transport.requests >= MANY
    assert [len(run["history"]) for run, _ in outcomes] == [1] * MANY
    assert all(run["history"][0]["output"] for run, _ in outcomes)
