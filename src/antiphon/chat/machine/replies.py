"""The life of a reply: what it is asked with, and what remains of it however it ends.

`context.reply` says what is in flight. It is *wanted* when a message asks for it, *compressing* while the window
moves, *replying* while the child speaks, and waits for *tools* when the child has asked for some.
"""

from collections.abc import Mapping
from typing import Any

from antiphon.chart.text import Text
from antiphon.chat.machine.context import FlowContext, Reply
from antiphon.chat.machine.crystal import crystal_of
from antiphon.chat.machine.operations import wanting_reply
from antiphon.chat.machine.tree import appended, head_of
from antiphon.chat.machine.windows import Shift, asked, digest, rearmed, shift, shifted, view
from antiphon.threads.machine.content import calls_of, text_of
from antiphon.threads.machine.permission_rules import lasting_overrides
from antiphon.tools.risk import risk_of_call

Event = Mapping[str, Any]
INTERRUPTED = {
    "code": "interrupted",
    "message": "the process was lost while tools were called",
    "recoverable": True,
}
TIMED_OUT = {"code": "turn_timeout", "message": "the turn took longer than it may", "recoverable": True}


def current(context: FlowContext) -> Reply:
    """The reply in flight."""
    reply = context["reply"]
    assert reply is not None
    return reply


def with_phase(context: FlowContext, phase: Any, **changes: Any) -> FlowContext:
    """The context with its reply in another phase."""
    reply: Any = {**current(context), "phase": phase, **changes}
    return {**context, "reply": reply}


def summary_wanted(context: FlowContext) -> Shift | None:
    """What a model should summarise before the reply, or nothing."""
    config, reply = context["config"], context["reply"]
    if (
        reply is None
        or reply["phase"] != "wanted"
        or (config["strategy"], config["summaries"]) != ("summarise", "model")
    ):
        return None
    return shift(context, reply["branch"])


def summary_input(context: FlowContext) -> dict[str, Any]:
    """What the summariser is given: the old summary and the messages that are left out."""
    reply, messages = current(context), context["messages"]
    found, old = shift(context, reply["branch"]), view(context, reply["branch"]).summary
    left_out = [messages[id] for id in found.left_out] if found else []
    return {
        "requestId": reply["requestId"],
        "model": context["config"]["model"],
        "summary": text_of(old["parts"]) if old else None,
        "messages": [{"role": message["role"], "parts": message["parts"]} for message in left_out],
    }


def summarised(context: FlowContext, event: Event) -> FlowContext:
    """The window moved, with what the summariser said, or with the plain digest if it said nothing."""
    branch = current(context)["branch"]
    output = event.get("output")
    facts: Mapping[str, Any] = output if isinstance(output, Mapping) else {}
    found = shift(context, branch)
    if found is not None:
        text = facts.get("text")
        context = shifted(context, branch, found, text if text else digest(context, branch, found))
    return with_phase(spent(context, facts), "wanted")


def begun(context: FlowContext) -> FlowContext:
    """The reply about to be asked for, its window moved if it has to be."""
    branch = current(context)["branch"]
    context = rearmed(context, branch)
    found = shift(context, branch)
    if found is not None:
        plain = context["config"]["strategy"] == "summarise"
        context = shifted(context, branch, found, digest(context, branch, found) if plain else None)
    return with_phase(context, "replying")


def reply_input(context: FlowContext) -> dict[str, Any]:
    """What the child that replies is given."""
    reply, config = current(context), context["config"]
    return {
        **config["settings"],
        "requestId": reply["requestId"],
        "model": config["model"],
        "prompt": None,  # it is the last of the messages
        "messages": with_note(asked(context, reply["branch"]), reply["prefix"]),
        "reportsToParent": True,
    }


def with_note(messages: list[dict[str, Any]], note: str | None) -> list[dict[str, Any]]:
    """The messages with a note before the last question; after an answer, which cannot be last, on its own."""
    if not note:
        return messages
    part = {"type": "text", "text": note}
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "parts": [{**part, "text": note.strip()}]}]
    *before, question = messages
    return [*before, {**question, "parts": [part, *question["parts"]]}]


def completed(context: FlowContext, event: Event) -> FlowContext:
    """The reply at the end of the branch it was asked on; if it asks for tools, it goes on with their results."""
    reply, message = current(context), event.get("message") or {}
    parts = [plain(part) for part in message.get("parts") or []]
    draft = {"role": "assistant", "parts": parts, "source": message.get("source")}
    draft |= {key: event.get(key) for key in ("at", "usage", "costUsd")}
    context = spent(appended(context, reply["branch"], draft), event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "replies": metrics["replies"] + 1}, "lastError": None}
    if calls_of(parts) and reply["cut"] is None:
        return with_phase(context, "tools")
    return ended(context, "completed")


def plain(part: Mapping[str, Any]) -> dict[str, Any]:
    """A part as JSON holds it: words that grew by chunks are a string there."""
    return {key: str(value) if isinstance(value, Text) else value for key, value in part.items()}


def failed(context: FlowContext, event: Event) -> FlowContext:
    """What the reply said before it failed, and why it did."""
    error = error_of(event.get("error"))
    context = spent(kept_text(context, event), event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "failures": metrics["failures"] + 1}, "lastError": error}
    return ended(context, "failed", error)


def cut(context: FlowContext, event: Event) -> FlowContext:
    """What the reply said before it was cut, unless that is not wanted."""
    reply = current(context)
    if reply["cut"] != "discard":
        context = kept_text(context, event)
    context = spent(context, event)
    metrics = context["metrics"]
    context = {**context, "metrics": {**metrics, "cancelled": metrics["cancelled"] + 1}}
    if reply["error"] is not None:
        return ended({**context, "lastError": reply["error"]}, "failed", reply["error"])
    return ended(context, "cancelled")


def kept_text(context: FlowContext, event: Event) -> FlowContext:
    """The words of a reply that did not come to its end, as an interrupted message."""
    if not event.get("text"):
        return context
    parts = [{"type": "text", "text": str(event["text"])}]
    draft = {"role": "assistant", "parts": parts, "interrupted": True, "at": event.get("at")}
    return appended(context, current(context)["branch"], draft)


def ended(context: FlowContext, outcome: Any, error: dict[str, Any] | None = None) -> FlowContext:
    """No reply is in flight."""
    run = context["run"]
    told = None if run is None else {**run, "outcome": outcome, "error": error}
    return {**context, "reply": None, "run": told}  # type: ignore[typeddict-item]  # a run with other values


def spent(context: FlowContext, event: Event) -> FlowContext:
    """The metrics and the run with what something used."""
    usage, cost, duration = event.get("usage") or {}, event.get("costUsd"), event.get("durationMs") or 0
    metrics, run = context["metrics"], context["run"]
    unpriced = 1 if usage and cost is None else 0
    counted: FlowContext = {
        **context,
        "metrics": {
            **metrics,
            "inputTokens": metrics["inputTokens"] + usage.get("input", 0),
            "outputTokens": metrics["outputTokens"] + usage.get("output", 0),
            "costUsd": metrics["costUsd"] + (cost or 0.0),
            "unpriced": metrics["unpriced"] + unpriced,
            "durationMs": metrics["durationMs"] + duration,
            "slowestMs": max(metrics["slowestMs"], duration),
        },
    }
    if run is not None:
        counted["run"] = {**run, "cost": run["cost"] + (cost or 0.0), "duration": run["duration"] + duration}
    return counted


def answered(context: FlowContext, event: Event) -> FlowContext:
    """The results of tools, and the next reply wanted."""
    reply = current(context)
    draft = {"role": "tool", "parts": event["results"], "at": event.get("at"), "id": event.get("id")}
    return wanting_reply(appended(context, reply["branch"], draft), reply["branch"])


def tools_wanted(context: FlowContext) -> bool:
    """Whether there are tools to be called here."""
    reply = context["reply"]
    return (
        context["config"]["consent"] is not None
        and reply is not None
        and reply["phase"] == "tools"
        and not reply["called"]
    )


def tools_input(context: FlowContext) -> dict[str, Any]:
    """What the child that calls tools is given: the calls, how risky they are, and what is allowed."""
    reply, config = current(context), context["config"]
    head = head_of(context, reply["branch"])
    assert head is not None
    known = {tool["name"]: tool for tool in config["settings"].get("options", {}).get("tools", ())}
    calls = [_judged(call, known) for call in calls_of(context["messages"][head]["parts"])]
    consent = config["consent"] or {}
    # The latest decision counts, and a person decides after the settings.
    consent = {**consent, "overrides": [*consent.get("overrides", []), *context["overrides"]]}
    found = {"requestId": reply["requestId"], "calls": calls, "consent": consent}
    limit = consent.get("timeoutMs")
    return found if limit is None else {**found, "timeoutMs": limit}


def _judged(call: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A call and its risk; a tool that nobody knows is as risky as any."""
    return {**call, "risk": risk_of_call(known.get(call["name"], {}).get("risk"), call["arguments"])}


def tools_done(context: FlowContext, event: Event) -> FlowContext:
    """The results of the tools, and the next reply wanted, unless nobody knows what the tools have done."""
    output = event["output"]
    permission = output["permission"]
    if permission and permission["decision"] == "allowed" and permission["scope"] == "thread":
        known = context["overrides"]
        new: list[Any] = [one for one in lasting_overrides(permission["calls"]) if one not in known]
        context = {**context, "overrides": [*known, *new]}
    context = answered(context, {"results": output["results"]})
    if not output["lost"]:
        return context
    return ended({**context, "lastError": INTERRUPTED}, "failed", INTERRUPTED)


def error_of(error: Any) -> dict[str, Any]:
    """An error as data, whatever it was."""
    if isinstance(error, Mapping):
        known = {key: error[key] for key in ("code", "recoverable") if key in error}
        return {"code": "reply_failed", "recoverable": True, **known, "message": str(error.get("message", ""))}
    return {"code": "reply_failed", "recoverable": True, "message": str(error)}


def crystal_input(context: FlowContext) -> dict[str, Any]:
    """What the crystallizer is given."""
    messages = asked(context, context["branch"])
    return {"model": context["config"]["model"], "messages": messages, "branch": context["branch"]}


def crystallized(context: FlowContext, event: Event) -> FlowContext:
    """The crystal that a model gave, with what it left out taken from the rules."""
    output = event.get("output")
    facts: Mapping[str, Any] = output if isinstance(output, Mapping) else {}
    crystal = crystal_of(context, facts, {"trigger": context["crystallizing"]}, "model")
    done: FlowContext = {**context, "crystal": crystal, "crystallizing": None, "queue": [], "lastError": None}
    return spent(done, facts)


def crystal_failed(context: FlowContext, event: Event) -> FlowContext:
    """No crystal, and why; it can be tried again."""
    error = {**error_of(event.get("error")), "code": "crystallize_failed"}
    return {**context, "crystallizing": None, "lastError": error}
