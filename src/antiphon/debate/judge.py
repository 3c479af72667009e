"""The services of a debate: the judge, and the initialiser that opens models and looks prices up."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from antiphon.actors.clock import REAL_CLOCK, Clock
from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.debate.machine.config import MOST_ROUNDS
from antiphon.debate.machine.context import Phase
from antiphon.messages import message_from_json
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.prices import FREE, Prices
from antiphon.providers.reply import Reply
from antiphon.providers.structured import ask
from antiphon.threads.spending import spending_of


def rubric(participants: Sequence[str], criteria: Sequence[str]) -> OutputSchema:
    """Return the schema of a verdict: a score from 0 to 100 for each participant, in all and by each criterion."""
    # Not every grammar keeps numbers other than integers within their bounds.
    score = {"type": "integer", "minimum": 0, "maximum": 100}
    scores = _object(dict.fromkeys(participants, score))
    number = {"type": "integer", "minimum": 1, "maximum": MOST_ROUNDS}
    turn = {"participantId": {"enum": list(participants)}, "phase": {"enum": list(get_args(Phase))}, "round": number}
    return OutputSchema(
        {
            "type": "object",
            "properties": {
                # Models that keep the order reason first, which gives better scores.
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
    """Return the logic to provide as `judge`: a verdict that fits the rubric, or an error; and the usage."""
    table = prices or Prices()

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
            table.require(provider.model)
            answer = await ask(provider, request, rubric(input["participants"], input["criteria"]), replies=replies)
            verdict = answer.value
        except ProviderError as failed:
            error = {"code": failed.code.value, "message": failed.message, "recoverable": failed.recoverable}
        begun = [reply for reply in replies if reply.has_begun]
        spending = spending_of(begun, provider.model, table) if begun else {"usage": None, "costUsd": None}
        return {"verdict": verdict, "error": error, "at": round(clock.now()), **spending}

    return from_task(run)


def initialiser(
    open_model: Callable[[str], Provider], prices: Prices | None = None, *, judged_by_model: bool = True
) -> AsyncLogic:
    """Return the logic to provide as `initialiser`: opens every model, and looks its price up."""
    table = prices or Prices()

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        per_million: dict[str, Any] = {}
        for speaker in (*input["participants"], *([input["judge"]] if judged_by_model else [])):
            name = _name(speaker)
            try:
                price = table.price(open_model(name).model)
            except ProviderError as error:
                return {"error": _problem("model_error", error.message, speaker["id"], error.recoverable)}
            if price is None and input["costLimit"] is not None:
                # A call without a price cannot be counted against the limit.
                message = f"no price is known for {name!r}, and the debate has a cost limit"
                return {"error": _problem("validation", message, speaker["id"], False)}
            per_million[name] = None if price is None else _per_million(price)
        if not judged_by_model:
            # The model of the judge is never asked.
            per_million.setdefault(_name(input["judge"]), _per_million(FREE))
        return {"prices": per_million, "error": None}

    return from_task(run, safety="repeat")


def _name(speaker: Mapping[str, Any]) -> str:
    return f"{speaker['model']['provider']}:{speaker['model']['modelId']}"


def _per_million(price: Any) -> dict[str, str]:
    fields = {"input": "input", "output": "output", "cachedRead": "cached_read", "cachedWrite": "cached_write"}
    amounts = {key: getattr(price, field) for key, field in fields.items()}
    return {key: str(amount) for key, amount in amounts.items() if amount is not None}


def _problem(type: str, message: str, participant: str, retryable: bool) -> dict[str, Any]:
    return {"type": type, "message": message, "participantId": participant, "retryable": retryable}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
