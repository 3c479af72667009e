"""The rules by which tool calls are allowed, denied or asked about.

1. What is blocked is denied, and so is a tool that failed too often lately (the circuit breaker).
2. In plan mode, whatever changes something is denied.
3. What was decided for this thread before, holds again.
4. What is on the list of calls that are always allowed, is allowed.
5. The mode decides the rest: `ask` lets reads pass, `auto-edit` also writes that are no commands, `auto` all writes.
6. A destructive call is never allowed by a rule: a person sees the exact command, whatever 3 to 5 say.
7. Calls that come together are decided together, by the strictest of their decisions.

A risk, a mode or a decision that is not known counts as the most careful one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict, get_args

from antiphon.tools.patterns import escape_pattern, matches
from antiphon.tools.risk import Risk

Mode = Literal["plan", "ask", "auto-edit", "auto"]
Decision = Literal["deny", "ask", "allow"]
Source = Literal["blocked", "breaker", "plan", "override", "auto-allow", "mode"]
Transparency = Literal["silent", "acknowledged", "approved", "refused"]

MODES: tuple[Mode, ...] = get_args(Mode)
"""Modes of permission, from strict to lenient."""
STRICTEST_FIRST: tuple[Decision, ...] = get_args(Decision)
SOURCES: tuple[Source, ...] = get_args(Source)

# What a mode lets pass without a question. A command that writes is no edit: nobody knows what else it does.
SILENT: Mapping[str, tuple[str, ...]] = {
    "plan": ("read",),
    "ask": ("read",),
    "auto-edit": ("read", "edit"),
    "auto": ("read", "edit", "command"),
}
# How much a person sees of a call that was made; a notice stays for a while, and nothing waits for it.
TRANSPARENCY: Mapping[str, Transparency] = {"read": "silent", "write": "acknowledged", "destructive": "approved"}
NOTICE_MS = 10_000

BREAKER_FAILURES = 3
BREAKER_MS = 60_000


class Call(TypedDict):
    """A tool call as it is judged."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    risk: Risk


class Override(TypedDict):
    """What was decided for a thread."""

    pattern: str
    decision: Literal["allow", "deny"]


class Rules(TypedDict, total=False):
    """What is known before anybody is asked; `tripped` names the tools whose circuit is open."""

    blocked: Sequence[str]
    tripped: Sequence[str]
    overrides: Sequence[Override]
    autoAllow: Sequence[str]


class Judgement(TypedDict):
    """What the rules say about one call."""

    decision: Decision
    by: Source
    reason: str


class JudgedCall(Judgement):
    """A call as a person sees it: its words, its risk, and what the rules say."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    risk: Risk
    text: str


class AnsweredCall(JudgedCall):
    """A call that was decided, and how much of it a person sees."""

    shown: Transparency


class Verdict(TypedDict):
    """What the rules say about calls that come together."""

    decision: Decision
    by: Source
    reason: str
    calls: list[JudgedCall]


def decide(calls: Sequence[Call], mode: str, rules: Rules) -> Verdict:
    """What the rules say: the strictest decision wins, and every call is listed."""
    judged = [_judged(call, mode, rules) for call in calls]
    if not judged:
        return {"decision": "deny", "by": "blocked", "reason": "no call was named", "calls": []}
    first = min(judged, key=lambda call: (STRICTEST_FIRST.index(call["decision"]), SOURCES.index(call["by"])))
    return {"decision": first["decision"], "by": first["by"], "reason": first["reason"], "calls": judged}


def _judged(call: Call, mode: str, rules: Rules) -> JudgedCall:
    risk: Risk = call["risk"] if call.get("risk") in TRANSPARENCY else "destructive"
    text = call_text(call)
    deed = risk if risk != "write" else "command" if _has_command(call["arguments"]) else "edit"
    found = _judge(call["name"], text, deed, mode, rules)
    return {
        "id": call["id"], "name": call["name"], "arguments": call["arguments"], "risk": risk, "text": text, **found,
    }  # fmt: skip


def _judge(name: str, text: str, deed: str, mode: str, rules: Rules) -> Judgement:
    blocked = next((pattern for pattern in rules.get("blocked", ()) if _matches(pattern, name, text)), None)
    if blocked is not None:
        return {"decision": "deny", "by": "blocked", "reason": f"{text} is blocked by {blocked!r}"}
    if name in rules.get("tripped", ()):
        return {"decision": "deny", "by": "breaker", "reason": f"{name} failed too often; it rests for a minute"}
    if mode == "plan" and deed != "read":
        return {"decision": "deny", "by": "plan", "reason": "plan mode"}
    override = _override(name, text, rules)
    if override == "deny":
        return {"decision": "deny", "by": "override", "reason": f"{text} was denied for this thread"}
    if deed == "destructive":
        return {"decision": "ask", "by": "mode", "reason": f"{text} may destroy something"}
    if override == "allow":
        return {"decision": "allow", "by": "override", "reason": f"{text} was allowed for this thread"}
    if any(_matches(pattern, name, text, careful=True) for pattern in rules.get("autoAllow", ())):
        return {"decision": "allow", "by": "auto-allow", "reason": f"{text} is always allowed"}
    if deed in SILENT.get(mode, ()):
        return {"decision": "allow", "by": "mode", "reason": f"{mode} mode"}
    return {"decision": "ask", "by": "mode", "reason": f"{text} changes something"}


def _override(name: str, text: str, rules: Rules) -> str | None:
    """The latest decision for this thread; only a plain `allow` is one, anything else is no."""
    for override in reversed(rules.get("overrides", ())):
        allows = override["decision"] == "allow"
        if _matches(override["pattern"], name, text, careful=allows):
            return "allow" if allows else "deny"
    return None


def call_text(call: Call) -> str:
    """A call in words: `shell(git status)`; what is no command, or comes beside one, as JSON."""
    arguments = _arguments(call["arguments"])
    if isinstance(arguments, Mapping):
        command = arguments.get("command")
        rest = {key: value for key, value in arguments.items() if key != "command" or not isinstance(value, str)}
        words = [command] if isinstance(command, str) else []
        arguments = " ".join([*words, *([_json(rest)] if rest else [])])
    return f"{call['name']}({arguments if isinstance(arguments, str) else _json(arguments)})"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _arguments(arguments: Any) -> Any:
    # Models write arguments as JSON; a rule about a command must see the command.
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments
    return arguments


def is_meant(pattern: str, call: Call, *, careful: bool = False) -> bool:
    """Whether a pattern means a call; a careful one does not reach over what could begin a second command."""
    return _matches(pattern, call["name"], call_text(call), careful=careful)


def _matches(pattern: str, name: str, text: str, *, careful: bool = False) -> bool:
    """Whether a pattern means this call: `shell` any call of it, `shell(git *)` those that read so."""
    return matches(pattern, text if "(" in pattern else name, careful=careful)


def lasting_overrides(calls: Sequence[JudgedCall]) -> list[Override]:
    """What to remember when calls were allowed for the thread: commands word by word, other tools by name.

    Destructive calls are not remembered: they are asked about each time.
    """
    remembered: list[Override] = []
    for call in calls:
        if call["risk"] != "destructive":
            pattern = escape_pattern(call["text"]) if _has_command(call["arguments"]) else escape_pattern(call["name"])
            remembered.append({"pattern": pattern, "decision": "allow"})
    return remembered


def _has_command(arguments: Any) -> bool:
    found = _arguments(arguments)
    return not isinstance(found, Mapping) or isinstance(found.get("command"), str)


def tripped(failures: Mapping[str, Sequence[int]], at: int) -> list[str]:
    """The tools that failed too often just now."""
    return sorted(name for name, times in failures.items() if len(recent(times, at)) >= BREAKER_FAILURES)


def recent(times: Sequence[int], at: int) -> list[int]:
    """The failures that still count."""
    return [time for time in times if at - time < BREAKER_MS]
