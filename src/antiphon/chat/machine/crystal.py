"""What remains of a conversation that has ended: its crystal, and its metrics."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from antiphon.chat.machine.context import FlowContext, StoredMessage
from antiphon.chat.machine.tree import hash_at, head_of, path, turns_of
from antiphon.chat.machine.windows import LINE_LENGTH, line_of, utilisation
from antiphon.threads.machine.content import text_of
from antiphon.threads.machine.thread import UNTITLED

TITLE_WORDS = 8
SUMMARY_TURNS = 20
INACTIVE_MS = 5 * 60 * 1000
OVERFLOW = 0.95
CODE = re.compile(r"^```([^\n`]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DECISION = re.compile(
    r"^\W*(?:decision|decided|we decided|we will|we'll|let's|agreed|i will|i'll)\b.*$", re.IGNORECASE | re.MULTILINE
)


def plain_crystal(context: FlowContext) -> dict[str, Any]:
    """A crystal made by rules, for when there is no model: it quotes, and invents nothing."""
    messages = path(context["messages"], head_of(context))
    asked = next((text_of(message["parts"]) for message in messages if message["role"] == "user"), "")
    turns = turns_of(message for message in messages if message["turn"] > 0)
    lines = [line_of(message) for turn in turns[-SUMMARY_TURNS:] for message in turn if text_of(message["parts"])]
    return {
        "title": " ".join(asked.split()[:TITLE_WORDS]) or UNTITLED,
        "summary": "\n".join(lines),
        "decisions": list(_decisions(messages)),
        "artifacts": list(_artifacts(messages)),
    }


def crystal_of(context: FlowContext, found: Mapping[str, Any], event: Mapping[str, Any], by: str) -> dict[str, Any]:
    """A crystal with what is missing in it taken from the plain one, and with where it comes from."""
    plain = plain_crystal(context)
    crystal = {key: found.get(key) or plain[key] for key in plain}
    return {
        **crystal,
        "by": by,
        "trigger": event.get("trigger") or "close",
        "branch": context["branch"],
        "hash": hash_at(context["messages"], head_of(context)),
        "significance": significance(context, crystal),
    }


def due_trigger(context: FlowContext, idle_ms: float = 0) -> str | None:
    """Why a conversation should end by now, or nothing; who keeps the time asks."""
    if idle_ms >= INACTIVE_MS:
        return "inactivity"
    return "overflow" if utilisation(context, context["branch"]) >= OVERFLOW else None


def significance(context: FlowContext, crystal: Mapping[str, Any]) -> float:
    """How much a conversation is worth keeping, from 0 to 1: long ones, and those that led to something."""
    turns = min(context["metrics"]["turns"], 20) / 20
    led_to = min(len(crystal["decisions"]) + len(crystal["artifacts"]), 5) / 5
    return round(0.5 * turns + 0.5 * led_to, 3)


def _decisions(messages: Iterable[StoredMessage]) -> Iterable[str]:
    for message in messages:
        if message["role"] in ("user", "assistant"):
            prose = CODE.sub("", text_of(message["parts"]))
            for match in DECISION.finditer(prose):
                yield match.group().strip()[:LINE_LENGTH]


def _artifacts(messages: Iterable[StoredMessage]) -> Iterable[dict[str, Any]]:
    for message in messages:
        if message["role"] == "assistant":
            for match in CODE.finditer(text_of(message["parts"])):
                yield {"language": match.group(1).strip() or None, "content": match.group(2), "message": message["id"]}


def harvest(context: FlowContext) -> dict[str, Any]:
    """The metrics of a conversation, with what follows from them."""
    metrics: dict[str, Any] = {**context["metrics"]}
    answered = metrics["replies"]
    return {
        **metrics,
        "totalTokens": metrics["inputTokens"] + metrics["outputTokens"],
        "averageMs": metrics["durationMs"] / answered if answered else 0.0,
        "utilisation": utilisation(context, context["branch"]),
        "branches": len(context["branches"]) + len(context["closed"]),
        "checkpoints": len(context["checkpoints"]),
    }
