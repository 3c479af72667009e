"""The judge of a debate, and what a debate needs before it begins: models that open, and their prices."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.debate.machine.config import MOST_ROUNDS
from antiphon.debate.machine.context import Phase
from antiphon.messages import message_from_json
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import Prices
from antiphon.providers.reply import Reply
from antiphon.providers.structured import ask
from antiphon.threads.spending import spending_of


def rubric(participants: Sequence[str], criteria: Sequence[str]) -> OutputSchema:
    """The verdict as data: a score from 0 to 100 for each participant, in all and by each criterion."""
    # Grammars keep integers within their bounds, but not all of them keep other numbers there.
    score = {"type": "integer", "minimum": 0, "maximum": 100}
    scores = _object(dict.fromkeys(participants, score))
    number = {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS}
    turn = {"participantId": {"enum": list(participants)}, "phase": {"enum": list(get_args(Phase))}, "round": number}
    return OutputSchema(
        {
            "type": "object",
            "properties": {
                # Written in this order where an order is kept: who reasons first scores better.
                "reasoning": {"type": "string", "minLength": 1, "maxLength": 8000},
                "criteria": _object(dict.fromkeys(criteria, scores)),
                "scores": scores,
                "winner": {"enum": [*participants, None]},
                "references": {"type": "array", "maxItems": 20, "items": _object(turn)},
            },
            "required": ["reasoning", "criteria", "scores", "winner"],
            "additionalProperties": False,
        },
        "verdict",
    )


def judge(
    open_model: Callable[[str], Provider], prices: Prices | None = None, *, clock: Clock = REAL_CLOCK
) -> AsyncLogic:
    """The logic to provide as `judge`: a verdict that fits the rubric, or why there is none; and what it used."""
    known = prices or Prices()

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        replies: list[Reply] = []
        verdict = error = None
        try:
            provider = open_model(input["model"])
            options = input["options"]
            request = Request(
                tuple(message_from_json(message) for message in input["messages"]),
                temperature=options["temperature"],
                max_tokens=options["maxTokens"],
            )
            known.require(provider.model)
            found = await ask(provider, request, rubric(input["participants"], input["criteria"]), replies=replies)
            verdict = found.value
        except ProviderError as failed:
            error = {"code": failed.code.value, "message": failed.message, "recoverable": failed.recoverable}
        begun = [reply for reply in replies if reply.has_begun]
        spent = spending_of(begun, provider.model, known) if begun else {"usage": None, "costUsd": None}
        return {"verdict": verdict, "error": error, "at": round(clock.now()), **spent}

    return from_task(run)


def initialiser(open_model: Callable[[str], Provider], prices: Prices | None = None) -> AsyncLogic:
    """The logic to provide as `initialiser`: opens every model, and looks its price up."""
    known = prices or Prices()

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in (*input["participants"], input["judge"]):
            name = f"{one['model']['provider']}:{one['model']['modelId']}"
            try:
                price = known.price(open_model(name).model)
            except ProviderError as error:
                return {"error": _problem("model_error", error.message, one["id"], error.recoverable)}
            if price is None and input["costLimit"] is not None:
                # With a limit on cost, what cannot be counted must not be spent.
                message = f"no price is known for {name!r}, and the debate has a cost limit"
                return {"error": _problem("validation", message, one["id"], False)}
            found[name] = None if price is None else _per_million(price)
        return {"prices": found, "error": None}

    return from_task(run, safety="repeat")


def _per_million(price: Any) -> dict[str, str]:
    named = {"input": "input", "output": "output", "cachedRead": "cached_read", "cachedWrite": "cached_write"}
    found = {key: getattr(price, name) for key, name in named.items()}
    return {key: str(value) for key, value in found.items() if value is not None}


def _problem(type: str, message: str, participant: str, retryable: bool) -> dict[str, Any]:
    return {"type": type, "message": message, "participantId": participant, "retryable": retryable}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
