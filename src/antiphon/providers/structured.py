"""Answers that are data: held to a JSON Schema by the provider or by words, checked here, asked for once more."""

import json
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from antiphon.answers import json_values
from antiphon.errors import Code
from antiphon.json_schema import Checker, SchemaError
from antiphon.messages import Usage, system, user
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.errors import ProviderError
from antiphon.providers.reply import Reply

MOST_VALUES = 16


@dataclass(frozen=True, slots=True)
class Structured:
    """A value that fits its schema, and what it took to get it."""

    value: Any
    usage: Usage
    replies: tuple[Reply, ...]


async def ask(
    provider: Provider, request: Request, output: OutputSchema, *, replies: list[Reply] | None = None
) -> Structured:
    """Ask for a value; one that does not fit is asked for once more, with what was wrong.

    A schema that cannot be used is an error before anything is asked.
    Each reply is put into `replies` as it begins, so that what it used is known even when asking fails.
    """
    begun = replies if replies is not None else []
    checker = _checker(output)
    first = _first(provider, request, output)
    reply = await _collect(provider, first, begun)
    value, wrong = _read(reply, checker)
    if wrong:
        again = user(_complaint(wrong, output))
        second = replace(first, messages=(*first.messages, reply.message(), again))
        reply = await _collect(provider, second, begun)
        value, wrong = _read(reply, checker)
    if wrong:
        raise ProviderError(Code.INVALID_OUTPUT, f"the model gave no {output.name} that fits: {'; '.join(wrong)}")
    usage = Usage()
    for one in begun:
        usage += one.usage
    return Structured(value, usage, tuple(begun))


async def _collect(provider: Provider, request: Request, begun: list[Reply]) -> Reply:
    reply = Reply(provider.model, request)
    begun.append(reply)
    async for delta in provider.stream(request):
        reply.add(delta)
    return reply


def _first(provider: Provider, request: Request, output: OutputSchema) -> Request:
    if provider.model.structured:
        return replace(request, output=output)
    return replace(request, output=None, messages=(*request.messages, system(_instruction(output))))


def _checker(output: OutputSchema) -> Checker:
    checker = Checker(output.schema)
    try:
        checker.compile()
    except SchemaError as error:
        raise ProviderError(Code.BAD_REQUEST, f"no {output.name} can be asked for: {error}") from None
    return checker


def _read(reply: Reply, checker: Checker) -> tuple[Any, list[str]]:
    """Return the first value of a reply that fits, else the likeliest one with its problems."""
    values = list(islice(json_values(reply.text), MOST_VALUES))
    if not values:
        cut = reply.done is not None and reply.done.stop == "length"
        return None, ["the reply was cut off at the token limit" if cut else "there is no JSON in the reply"]
    problems = [checker.problems(value) for value in values]
    best = next((index for index, wrong in enumerate(problems) if not wrong), 0)
    return values[best], problems[best]


def _instruction(output: OutputSchema) -> str:
    return f"Answer with JSON only, without any other text. It must fit this JSON Schema: {json.dumps(output.schema)}"


def _complaint(wrong: list[str], output: OutputSchema) -> str:
    return f"That does not fit: {'; '.join(wrong)}. {_instruction(output)}"
