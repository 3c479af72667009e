"""Estimated usage of a request, for when the provider reports none."""

from antiphon.messages import Usage
from antiphon.providers.base import Request
from antiphon.tokens import tokens_of_bytes, tokens_of_message, tokens_of_text


def tokens_of_request(request: Request) -> int:
    """Estimate the tokens of a request."""
    tools = sum(tokens_of_text(f"{tool.name}{tool.description}{tool.parameters}") for tool in request.tools)
    return tools + sum(tokens_of_message(message) for message in request.messages)


def estimate_usage(request: Request, size: int) -> Usage:
    """Estimate the usage of a request and of `size` bytes of its reply."""
    return Usage(tokens_of_request(request), tokens_of_bytes(size), estimated=True)
