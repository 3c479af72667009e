"""The crystal and the metrics of a conversation that has ended."""

import re
from collections.abc import Iterable
from typing import Any

from antiphon.chat.machine.context import Artifact, Crystal, CrystalDraft, FlowContext, StoredMessage
from antiphon.chat.machine.events import CrystalOutput
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


def plain_crystal(context: FlowContext) -> CrystalDraft:
    """Build a crystal by rules, without a model: it only quotes the conversation."""
    messages = path(context["messages"], head_of(context))
    question = next((text_of(message["parts"]) for message in messages if message["role"] == "user"), "")
    turns = turns_of(message for message in messages if message["turn"] > 0)
    lines = [line_of(message) for turn in turns[-SUMMARY_TURNS:] for message in turn if text_of(message["parts"])]
    return {
        "title": " ".join(question.split()[:TITLE_WORDS]) or UNTITLED,
        "summary": "\n".join(lines),
        "decisions": list(_decisions(messages)),
        "artifacts": list(_artifacts(messages)),
    }


def build_crystal(context: FlowContext, output: CrystalOutput, trigger: str | None, by: str) -> Crystal:
    """Build a crystal from the output of a model, with gaps filled by rules, and with its origin."""
    plain = plain_crystal(context)
    content: CrystalDraft = {
        "title": output.get("title") or plain["title"],
        "summary": output.get("summary") or plain["summary"],
        "decisions": output.get("decisions") or plain["decisions"],
        "artifacts": output.get("artifacts") or plain["artifacts"],
    }
    return {
        **content,
        "by": by,
        "trigger": trigger or "close",
        "branch": context["branch"],
        "hash": hash_at(context["messages"], head_of(context)),
        "significance": significance(context, content),
    }


def due_trigger(context: FlowContext, idle_ms: float = 0) -> str | None:
    """Return the reason why a conversation should end by now, or None; the caller keeps the time."""
    if idle_ms >= INACTIVE_MS:
        return "inactivity"
    return "overflow" if utilisation(context, context["branch"]) >= OVERFLOW else None


def significance(context: FlowContext, crystal: CrystalDraft) -> float:
    """Rate from 0 to 1 how much a conversation is worth keeping, by its length and its results."""
    turns = min(context["metrics"]["turns"], 20) / 20
    results = min(len(crystal["decisions"]) + len(crystal["artifacts"]), 5) / 5
    return round(0.5 * turns + 0.5 * results, 3)


def _decisions(messages: Iterable[StoredMessage]) -> Iterable[str]:
    for message in messages:
        if message["role"] in ("user", "assistant"):
            prose = CODE.sub("", text_of(message["parts"]))
            for match in DECISION.finditer(prose):
                yield match[0].strip()[:LINE_LENGTH]


def _artifacts(messages: Iterable[StoredMessage]) -> Iterable[Artifact]:
    for message in messages:
        if message["role"] == "assistant":
            for match in CODE.finditer(text_of(message["parts"])):
                language: str = match[1]
                content: str = match[2]
                yield {"language": language.strip() or None, "content": content, "message": message["id"]}


def harvest(context: FlowContext) -> dict[str, Any]:
    """Return the metrics of a conversation, with those that follow from them."""
    metrics = context["metrics"]
    replies = metrics["replies"]
    return {
        **metrics,
        "totalTokens": metrics["inputTokens"] + metrics["outputTokens"],
        "averageMs": metrics["durationMs"] / replies if replies else 0.0,
        "utilisation": utilisation(context, context["branch"]),
        "branches": len(context["branches"]) + len(context["closed"]),
        "checkpoints": len(context["checkpoints"]),
    }
