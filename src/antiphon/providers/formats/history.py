"""Conversations as every provider accepts them.

A conversation may have been stopped between a tool call and its result, or begun with another provider.
1. Each tool call is followed by exactly one result, at once; a missing one says that there was none.
2. A result without a call, an empty text and an empty message are left out.
3. Thoughts and signatures go back to the provider that wrote them, and to no other; a provider that signs its thoughts
   does not want those that were cut off before their signature.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from antiphon.messages import Message, Part, Text, Thinking, ToolCall, ToolResult

NO_RESULT = "The tool was stopped before it gave a result."


def settled(messages: Iterable[Message], source: str, *, signed: bool = False) -> list[Message]:
    """The conversation without system messages, ready to be written in one provider's format."""
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
                    place = open_calls.pop(part.call_id)
                    results[place][part.call_id] = part
                    if message.cache:
                        cached.add(place)
            continue
        parts = tuple(_own_parts(message, source, signed))
        if not parts:
            continue
        turns.append(replace(message, parts=parts))
        calls = [part.id for part in parts if isinstance(part, ToolCall)]
        if calls:
            place = len(turns)
            results[place] = dict.fromkeys(calls)
            open_calls.update(dict.fromkeys(calls, place))
            turns.append(Message("tool", ()))
    for place, found in results.items():
        answers = tuple(result or _missing(id) for id, result in found.items())
        turns[place] = Message("tool", answers, cache=place in cached)
    return turns


def system_messages(messages: Iterable[Message]) -> list[Message]:
    """The instructions, which some formats keep apart."""
    return [message for message in messages if message.role == "system" and message.text]


def portable_id(id: str, pattern: str, length: int) -> str:
    """The id of a tool call as a provider accepts it: another provider's id may be too long or too odd."""
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


def _missing(call_id: str) -> ToolResult:
    return ToolResult(call_id, (Text(NO_RESULT),), is_error=True)
