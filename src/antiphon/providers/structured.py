"""Answers that are data: held to a JSON Schema by the provider or by words, checked here, asked for once more."""

import json
from dataclasses import dataclass, replace
from typing import Any

from antiphon.answers import find_json, problems
from antiphon.messages import Usage, system, user
from antiphon.providers.base import OutputSchema, Provider, Request
from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.reply import Reply

MOST_PROBLEMS = 5


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

    Each reply is put into `replies` as it begins, so that what it used is known even when asking fails.
    """
    begun = replies if replies is not None else []
    first = _first(provider, request, output)
    reply = await _collect(provider, first, begun)
    value, wrong = _read(reply, output)
    if wrong:
        again = user(_complaint(wrong, output))
        second = replace(first, messages=(*first.messages, reply.message(), again))
        reply = await _collect(provider, second, begun)
        value, wrong = _read(reply, output)
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


def _read(reply: Reply, output: OutputSchema) -> tuple[Any, list[str]]:
    try:
        value = find_json(reply.text)
    except ValueError as error:
        cut = reply.done is not None and reply.done.stop == "length"
        return None, ["the reply was cut off at the token limit" if cut else str(error)]
    return value, problems(value, output.schema)[:MOST_PROBLEMS]


def _instruction(output: OutputSchema) -> str:
    return f"Answer with JSON only, without any other text. It must fit this JSON Schema: {json.dumps(output.schema)}"


def _complaint(wrong: list[str], output: OutputSchema) -> str:
    return f"That does not fit: {'; '.join(wrong)}. {_instruction(output)}"
