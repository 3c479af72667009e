"""Rules of the real providers: a request that violates them gets status 400."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.testing.fake_llm.scenarios import SIGNATURE


def request_problems(format: str, model: str, body: Mapping[str, Any]) -> list[str]:
    """Return the problems that the provider would report for a request."""
    try:
        match format:
            case "anthropic":
                return list(_anthropic(body))
            case "google":
                return list(_google(model, body))
            case _:
                return list(_chat(format, body))
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        return [f"the request does not have the expected shape: {error!r}"]


def _anthropic(body: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("max_tokens"), int):
        yield "max_tokens: field required"
    turns = body.get("messages") or []
    if not turns or turns[0]["role"] != "user":
        yield "messages: first message must use the user role"
    open_calls: list[str] = []
    for before, turn in zip([{"role": ""}, *turns], turns, strict=False):
        if before["role"] == turn["role"]:
            yield "messages: roles must alternate"
        content = turn["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        kinds = [block["type"] for block in blocks]
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if answered != open_calls:
            yield f"messages: tool_use ids {open_calls} need tool_result blocks right after, found {answered}"
        if "tool_result" in kinds and kinds.index("tool_result") != 0:
            yield "messages: tool_result blocks come first"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for block in blocks:
            if block["type"] == "thinking" and block["signature"] != SIGNATURE:
                yield "messages: invalid signature in thinking block"
            if block["type"] == "text" and not block["text"]:
                yield "messages: text content blocks must be non-empty"
    if open_calls:
        yield f"messages: tool_use ids {open_calls} need tool_result blocks right after"


def _chat(format: str, body: Mapping[str, Any]) -> Iterator[str]:
    open_calls: list[str] = []
    for message in body.get("messages") or []:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield f"tool_call_ids did not have response messages: {open_calls}"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if format == "mistral" and any(not re.fullmatch("[a-zA-Z0-9]{9}", id) for id in open_calls):
            yield "Tool call id must be a-z, A-Z, 0-9, with a length of 9"
    if open_calls:
        yield f"tool_call_ids did not have response messages: {open_calls}"
    if format == "openai" and "max_tokens" in body:
        yield "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."


def _google(model: str, body: Mapping[str, Any]) -> Iterator[str]:
    called = 0
    for content in body.get("contents") or []:
        if content["role"] not in ("user", "model"):
            yield "contents: please use a valid role: user, model"
        answers = sum("functionResponse" in part for part in content["parts"])
        if answers != called:
            yield "the number of function response parts must equal the number of function call parts"
        calls = [part for part in content["parts"] if "functionCall" in part]
        called = len(calls)
        if calls and "gemini-3" in model and not calls[0].get("thoughtSignature"):
            yield "Function call is missing a thought_signature"
    if called:
        yield "the number of function response parts must equal the number of function call parts"
