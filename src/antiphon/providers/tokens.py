"""Guesses at token counts, for when nobody says."""

from antiphon.messages import Image, Message, Text, Thinking, ToolCall, ToolResult, Usage
from antiphon.providers.base import Request

BYTES_PER_TOKEN = 4
TOKENS_PER_IMAGE = 1_200
TOKENS_PER_MESSAGE = 4


def tokens_of_text(text: str) -> int:
    """About how many tokens a text is; bytes fit scripts of all kinds better than characters."""
    return tokens_of_bytes(len(text if text.isascii() else text.encode("utf-8", "replace")))


def tokens_of_bytes(size: int) -> int:
    """About how many tokens a text of so many bytes is."""
    return -(-size // BYTES_PER_TOKEN)


def tokens_of_request(request: Request) -> int:
    """About how many tokens a request is."""
    tools = sum(tokens_of_text(f"{tool.name}{tool.description}{tool.parameters}") for tool in request.tools)
    return tools + sum(_tokens_of_message(message) for message in request.messages)


def guessed_usage(request: Request, size: int) -> Usage:
    """About what a request and so many bytes of its reply use."""
    return Usage(tokens_of_request(request), tokens_of_bytes(size), estimated=True)


def _tokens_of_message(message: Message) -> int:
    total = TOKENS_PER_MESSAGE
    for part in message.parts:
        match part:
            case Text(text) | Thinking(text):
                total += tokens_of_text(text)
            case Image():
                total += TOKENS_PER_IMAGE
            case ToolCall(_, name, arguments):
                total += tokens_of_text(name + arguments)
            case ToolResult(_, shown):
                total += sum(tokens_of_text(p.text) if isinstance(p, Text) else TOKENS_PER_IMAGE for p in shown)
    return total
