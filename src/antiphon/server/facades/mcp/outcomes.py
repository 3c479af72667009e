"""Threads in words for a model: the last words of a thread, its tokens and cost, and what it asks for."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from antiphon.threads.kinds import Record
from antiphon.threads.requests import OpenRequest

Json = Mapping[str, Any]


class LastWords(NamedTuple):
    """The last words of a thread, and the tokens and the cost that belong to them."""

    text: str = ""
    input: int = 0
    output: int = 0
    cost_usd: float = 0.0


def outcome_of(record: Record) -> LastWords:
    """Return the reply to the last message of a chat, the summary of a run, or the verdict of a debate."""
    if record.is_transcript:
        return LastWords()
    kind = record.view.kind
    outcome = {"run": _run_outcome, "debate": _debate_outcome}.get(kind, _chat_outcome)
    return outcome(record.content)


def _chat_outcome(chat: Json) -> LastWords:
    messages: Json = chat["messages"]
    id = chat["branches"][chat["branch"]]["head"]
    replies: list[Json] = []
    while id is not None and messages[id]["role"] != "user":
        if messages[id]["role"] == "assistant":
            replies.insert(0, messages[id])
        id = messages[id]["parent"]
    texts = [text for message in replies if (text := _text(message["parts"]))]
    usages = [message.get("usage") or {} for message in replies]
    return LastWords(
        "\n\n".join(texts),
        sum(usage.get("input", 0) for usage in usages),
        sum(usage.get("output", 0) for usage in usages),
        sum(message.get("costUsd") or 0.0 for message in replies),
    )


def _text(parts: Sequence[Json]) -> str:
    return "".join(part["text"] for part in parts if part["type"] == "text")


def _run_outcome(run: Json) -> LastWords:
    usage = run["usage"]
    outcome = run["outcome"] or {}
    return LastWords(outcome.get("summary") or "", usage.get("input", 0), usage.get("output", 0), float(run["costUsd"]))


def _debate_outcome(debate: Json) -> LastWords:
    usages = debate["tokenUsage"].values()
    verdict = debate["verdict"]
    text = ""
    if verdict is not None:
        winner = "It is a tie." if verdict["tie"] else f"The winner is {verdict['winner']}."
        text = f"{winner} {verdict['reasoning']}"
    cost_usd = float(debate["costTracker"]["totalCost"])
    input = sum(usage["inputTokens"] for usage in usages)
    output = sum(usage["outputTokens"] for usage in usages)
    return LastWords(text, input, output, cost_usd)


def describe_request(request: OpenRequest) -> str:
    """Return what a thread asks a person for, completely: the whole call, the whole diff."""
    speaker = "" if request.speaker is None else f"{request.speaker}: "
    if request.calls:
        return visible("\n".join(f"{speaker}permission for {_describe_call(call)}" for call in request.calls))
    options = f" (options: {', '.join(map(str, request.options))})" if request.options else ""
    return visible(f"{speaker}{request.text or request.reason}{options}")


def _describe_call(call: Json) -> str:
    diff = f"\n{call['diff']}" if call.get("diff") else ""
    return f"{call['text']}, which is asked about because {call.get('reason') or 'the rules say so'}{diff}"


def visible(text: str) -> str:
    """Return a text in which characters that are not shown, or that turn others around, are written as their codes."""
    return "".join(
        character if character in "\n\t" or character.isprintable() else f"\\u{ord(character):04x}"
        for character in text
    )
