"""Normalize conversations so that every provider accepts them.

A conversation may have been stopped between a tool call and its result, or started with another provider.
1. Each tool call is immediately followed by exactly one result; a missing result is replaced by an error.
2. Results without a call, empty texts and empty messages are removed.
3. Reasoning and signatures are sent only to the provider that wrote them; a provider that signs its reasoning
   rejects parts that were truncated before their signature.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from antiphon.messages import Message, Part, Text, Thinking, ToolCall, ToolResult

NO_RESULT = "The tool was stopped before it gave a result."


def normalize_history(messages: Iterable[Message], source: str, *, signed: bool = False) -> list[Message]:
    """Return the conversation without system messages, ready for the format of a provider."""
    turns: list[Message] = []
    results: dict[int, dict[str, ToolResult | None]] = {}
    cached: set[int] = set()
    open_calls: dict[str, int] = {}
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "tool":
            for part in message.parts:
                if isinstance(part, ToolResult) and part.call_id in open_calls:
                    index = open_calls.pop(part.call_id)
                    results[index][part.call_id] = part
                    if message.cache:
                        cached.add(index)
            continue
        parts = tuple(_own_parts(message, source, signed))
        if not parts:
            continue
        turns.append(replace(message, parts=parts))
        calls = [part.id for part in parts if isinstance(part, ToolCall)]
        if calls:
            index = len(turns)
            results[index] = dict.fromkeys(calls)
            open_calls.update(dict.fromkeys(calls, index))
            turns.append(Message("tool", ()))
    for index, by_call in results.items():
        parts = tuple(result or _missing_result(id) for id, result in by_call.items())
        turns[index] = Message("tool", parts, cache=index in cached)
    return turns


def system_messages(messages: Iterable[Message]) -> list[Message]:
    """Return the system messages, which some formats send separately."""
    return [message for message in messages if message.role == "system" and message.text]


def portable_id(id: str, pattern: str, length: int) -> str:
    """Return the id of a tool call, or a hash of it if the provider would reject it."""
    return id if re.fullmatch(pattern, id) else sha256(id.encode("utf-8", "replace")).hexdigest()[:length]


def _own_parts(message: Message, source: str, signed: bool) -> Iterable[Part]:
    own = message.source in (None, source)
    for part in message.parts:
        match part:
            case Text(text):
                if text:
                    yield part
            case Thinking(_, signature):
                if own and (signature or not signed):
                    yield part
            case ToolCall():
                yield part if own else replace(part, signature=None)
            case ToolResult():
                pass
            case _:
                yield part


def _missing_result(call_id: str) -> ToolResult:
    return ToolResult(call_id, (Text(NO_RESULT),), is_error=True)
