"""Usage of a reply: counts as reported, and estimates for those that are missing or no counts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from antiphon.messages import Usage
from antiphon.providers.base import Request
from antiphon.tokens import tokens_of_bytes, tokens_of_message, tokens_of_text

MOST_TOKENS = 10**12


class CountReader:
    """Reads counts that a server reports; `is_exact` is False once a value was not a count."""

    __slots__ = ("is_exact",)

    def __init__(self) -> None:
        self.is_exact = True

    def count(self, value: Any) -> int:
        """Return a count; absent and invalid ones are zero."""
        if value is None:
            return 0
        is_number = value.__class__ is int or (value.__class__ is float and value.is_integer())
        if is_number and 0 <= value <= MOST_TOKENS:
            return int(value)
        self.is_exact = False
        return 0

    def group(self, value: Any) -> Mapping[str, Any]:
        """Return an object with counts; empty if it is absent or not an object."""
        if isinstance(value, dict):
            return value
        self.is_exact = self.is_exact and value is None
        return {}


def tokens_of_request(request: Request) -> int:
    """Estimate the tokens of a request."""
    tools = sum(tokens_of_text(f"{tool.name}{tool.description}{tool.parameters}") for tool in request.tools)
    return tools + sum(tokens_of_message(message) for message in request.messages)


def complete_usage(reported: Usage | None, request: Request, size: int) -> Usage:
    """Return the reported usage of a reply of `size` bytes; missing counts are estimated, and so is the usage then."""
    usage = reported or Usage()
    # Every request has tokens, and so has every reply with text.
    if usage.input and (usage.output or not size):
        return usage
    return replace(
        usage,
        input=usage.input or tokens_of_request(request),
        output=usage.output or tokens_of_bytes(size),
        estimated=True,
    )
