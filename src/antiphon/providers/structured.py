"""Structured output: request a value by JSON Schema, check it, and retry once."""

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

MAX_VALUES = 16


@dataclass(frozen=True, slots=True)
class Structured:
    """Value that matches its schema, with the usage and the replies of all attempts."""

    value: Any
    usage: Usage
    replies: tuple[Reply, ...]


async def ask(
    provider: Provider, request: Request, output: OutputSchema, *, replies: list[Reply] | None = None
) -> Structured:
    """Request a value; if it does not match the schema, request it once more with a list of its problems.

    An invalid schema raises `ProviderError` before any request.
    Each reply is added to `replies` when it begins, so that its usage is known even if the request fails.
    """
    attempts = replies if replies is not None else []
    checker = checker_of(output)
    first = demand_output(provider, request, output)
    reply = await _collect(provider, first, attempts)
    value, problems = read_value(reply, checker)
    if problems:
        feedback = user(_feedback(problems, output))
        second = replace(first, messages=(*first.messages, reply.message(), feedback))
        reply = await _collect(provider, second, attempts)
        value, problems = read_value(reply, checker)
    if problems:
        raise ProviderError(Code.INVALID_OUTPUT, f"the model gave no valid {output.name}: {'; '.join(problems)}")
    usage = Usage()
    for attempt in attempts:
        usage += attempt.usage
    return Structured(value, usage, tuple(attempts))


async def _collect(provider: Provider, request: Request, attempts: list[Reply]) -> Reply:
    reply = Reply(provider.model, request)
    attempts.append(reply)
    async for delta in provider.stream(request):
        reply.add(delta)
    return reply


def demand_output(provider: Provider, request: Request, output: OutputSchema) -> Request:
    """Return a request for a value: by the provider's own means, or by an instruction where it has none."""
    if provider.model.structured:
        return replace(request, output=output)
    return replace(request, output=None, messages=(*request.messages, system(_instruction(output))))


def checker_of(output: OutputSchema) -> Checker:
    """Return the checker of a schema; raise `ProviderError` if the schema is not valid."""
    checker = Checker(output.schema)
    try:
        checker.compile()
    except SchemaError as error:
        raise ProviderError(Code.BAD_REQUEST, f"cannot request a value for {output.name!r}: {error}") from None
    return checker


def read_value(reply: Reply, checker: Checker) -> tuple[Any, list[str]]:
    """Return the first valid value of a reply, or the likeliest one with its problems."""
    values = list(islice(json_values(reply.text), MAX_VALUES))
    if not values:
        is_truncated = reply.done is not None and reply.done.stop == "length"
        return None, ["the reply was truncated at the token limit" if is_truncated else "there is no JSON in the reply"]
    problems = [checker.problems(value) for value in values]
    best = next((index for index, texts in enumerate(problems) if not texts), 0)
    return values[best], problems[best]


def _instruction(output: OutputSchema) -> str:
    return f"Answer with JSON only, without any other text. It must match this JSON Schema: {json.dumps(output.schema)}"


def _feedback(problems: list[str], output: OutputSchema) -> str:
    return f"That does not match the schema: {'; '.join(problems)}. {_instruction(output)}"
