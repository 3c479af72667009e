"""Summaries by a model: of messages left out of a window, and of a conversation that has ended."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from antiphon.actors.tasks import AsyncLogic, from_task
from antiphon.messages import Message, message_from_json, system, user
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.prices import Prices
from antiphon.providers.reply import collect
from antiphon.providers.structured import ask
from antiphon.threads.roles import call_role
from antiphon.threads.spending import spending_of

SUMMARISE = (
    "Summarise the conversation so far in at most 200 words, for the one who will go on with it. "
    "Keep names, numbers, decisions and open questions. Write only the summary."
)
CRYSTALLIZE = (
    "The conversation is over. Give it a short title, a summary of a few sentences, the decisions that were made, "
    "and the artifacts that came out of it (code, texts, plans), each with a name and its content."
)
CRYSTAL = OutputSchema(
    {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 100},
            "summary": {"type": "string", "maxLength": 2000},
            "decisions": {"type": "array", "items": {"type": "string", "maxLength": 300}, "maxItems": 10},
            "artifacts": {
                "type": "array",
                "maxItems": 10,
                "items": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "content": {"type": "string"}},
                    "required": ["name", "content"],
                    "additionalProperties": False,
                },
            },
        },
        "required": ["title", "summary", "decisions", "artifacts"],
        "additionalProperties": False,
    },
    "crystal",
)


def summariser(open_model: Callable[[str], Provider], prices: Prices | None = None) -> AsyncLogic:
    """Return the logic for `summariser`, which summarises messages that no longer fit."""
    price_list = prices or Prices()

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        provider = open_model(input["model"])
        earlier = [system(f"Earlier: {input['summary']}")] if input["summary"] else []
        request = Request((*earlier, *_messages(input), user(SUMMARISE)))
        reply = await collect(provider, request)
        return {"text": reply.text, **spending_of([reply], provider.model, price_list)}

    return from_task(run)


Summariser = Callable[[Sequence[Message], str | None], str | Awaitable[str]]
"""Function that summarises messages, async or not; it also gets the summary of those before them."""


def summarise_by_function(function: Summariser) -> AsyncLogic:
    """Return the logic for `summariser` that calls a function; if it fails, a digest takes its place."""

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        text: object = await call_role(function, _messages(input), input["summary"])
        if not isinstance(text, str):
            raise TypeError(f"the summariser returned {text!r}; expected a text")
        return {"text": text}

    return from_task(run)


def crystallizer(open_model: Callable[[str], Provider], prices: Prices | None = None) -> AsyncLogic:
    """Return the logic for `crystallizer`, which turns a conversation into a crystal."""
    price_list = prices or Prices()

    async def run(input: Mapping[str, Any]) -> dict[str, Any]:
        provider = open_model(input["model"])
        answer = await ask(provider, Request((*_messages(input), user(CRYSTALLIZE))), CRYSTAL)
        return {**answer.value, **spending_of(answer.replies, provider.model, price_list)}

    return from_task(run)


def _messages(input: Mapping[str, Any]) -> tuple[Message, ...]:
    return tuple(message_from_json(message) for message in input["messages"])
