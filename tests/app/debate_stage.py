"""Scripted debates for tests: with prices, in simulated time."""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from importlib.resources import files
from typing import Any

from antiphon.app.composition import compose
from antiphon.app.debates import REST, Debates
from antiphon.providers.models import Models
from antiphon.providers.prices import Price, Prices
from antiphon.providers.scripted import ScriptedModel
from antiphon.runtime.runtime import Runtime
from tests.runtime.world import runtime

TOPIC = "Should a city close its centre to private cars?"
# A million tokens for 3 USD in and 15 USD out, whatever the script is called.
PRICES = {"scripted:*": Price(Decimal(3), Decimal(15))}
CONFIG = {"topic": TOPIC, "maxRounds": 2, "models": ["scripted:debate"]}


def played(reference: Any) -> ScriptedModel:
    """The script that comes with the package."""
    text = (files("antiphon.providers") / "scripts" / f"{reference.model}.toml").read_text("utf-8")
    return ScriptedModel(tomllib.loads(text), name=reference.model)


def brief(reference: Any, **more: Any) -> ScriptedModel:
    """The same script with a few words for each turn; data stays whole."""
    text = (files("antiphon.providers") / "scripts" / f"{reference.model}.toml").read_text("utf-8")
    script = tomllib.loads(text) | more
    for reply in script["replies"]:
        reply["steps"] = [_shortened(step) for step in reply["steps"]]
    return ScriptedModel(script, name=reference.model)


def _shortened(step: Mapping[str, Any]) -> Mapping[str, Any]:
    text = step.get("text", "{")
    return step if text.startswith("{") else {"text": " ".join(text.split()[:6])}


def host(store: Any, *, script: Any = played, prices: Mapping[str, Price] = PRICES) -> Runtime:
    """A runtime that holds debates, in simulated time."""
    models = Models(openers={"scripted": script})
    return runtime(store, compose(models.open, prices=Prices(prices)))


async def to_the_end(debates: Debates, id: str) -> None:
    """Start or resume a debate until it is over."""
    seen = 0
    while (status := await debates.status(id)) != "completed":
        assert status != "failed", (await debates.read(id))["lastError"]
        if status == "pending":
            await debates.start(id)
        elif status in ("interrupted", "stopped"):
            await debates.resume(id)
        async for one in debates.follow(id, seen):
            seen = one.seq
            if one.kind == "status" and one.facts["status"] in REST:
                break


def essence(debate: Mapping[str, Any]) -> dict[str, Any]:
    """What a debate said, cost and decided, without when."""
    tracker = {key: value for key, value in debate["costTracker"].items() if key != "unseen"}
    rounds = [
        {
            **{key: value for key, value in one.items() if key not in ("timestamp", "responses")},
            "responses": [
                {key: value for key, value in said.items() if key not in ("timestamp", "latencyMs")}
                for said in one["responses"]
            ],
        }
        for one in debate["rounds"]
    ]
    verdict = {key: value for key, value in debate["verdict"].items() if key != "timestamp"}
    same = {key: debate[key] for key in ("topic", "outcome", "tokenUsage", "participants", "interjections", "state")}
    return {**same, "rounds": rounds, "verdict": verdict, "costTracker": tracker}
