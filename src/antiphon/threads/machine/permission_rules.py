"""The rules by which tool calls are allowed, denied or asked about.

1. Blocked calls are denied, and so are calls of a tool that failed too often lately (the circuit breaker).
2. In plan mode, calls that change something are denied.
3. Earlier decisions for this thread hold.
4. Calls on the list of calls that are always allowed are allowed.
5. Otherwise the mode decides: `ask` allows reads, `auto-edit` also writes that are no commands, `auto` all writes.
6. A destructive call is never allowed by a rule: a person sees the exact command, whatever 3 to 5 say.
7. Calls of one reply are decided together, by the strictest of their decisions.

An unknown risk, mode or decision counts as the most careful one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, get_args

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

# What a mode allows without a question. A command that writes is no edit: it may do anything else as well.
SILENT: Mapping[str, tuple[str, ...]] = {
    "plan": ("read",),
    "ask": ("read",),
    "auto-edit": ("read", "edit"),
    "auto": ("read", "edit", "command"),
}
# How much a person sees of a call that was made. A notice is shown for a while and needs no answer.
TRANSPARENCY: Mapping[str, Transparency] = {"read": "silent", "write": "acknowledged", "destructive": "approved"}
NOTICE_MS = 10_000

BREAKER_FAILURES = 3
BREAKER_MS = 60_000


class CallRequest(TypedDict):
    """A tool call as it is judged."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    risk: Risk
    # Why it cannot be made; such a call is answered, and not judged.
    problem: NotRequired[str]


class Override(TypedDict):
    """A decision that holds for a whole thread."""

    pattern: str
    decision: Literal["allow", "deny"]


class Rules(TypedDict, total=False):
    """Rules that apply before a person is asked; `tripped` names the tools whose circuit is open."""

    blocked: Sequence[str]
    tripped: Sequence[str]
    overrides: Sequence[Override]
    autoAllow: Sequence[str]


class ConsentSettings(Rules, total=False):
    """Rules together with the mode, how long a person may take to answer, and whether a function is asked first."""

    mode: Mode
    timeoutMs: int
    approver: bool


class Judgement(TypedDict):
    """The decision of the rules about one call."""

    decision: Decision
    by: Source
    reason: str


class JudgedCall(Judgement):
    """A call as a person sees it: its text, its risk, and the decision of the rules."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    risk: Risk
    text: str


class AnsweredCall(JudgedCall):
    """A call with its final decision, and how much of it a person sees."""

    shown: Transparency


class Verdict(TypedDict):
    """The decision of the rules about calls of the same reply."""

    decision: Decision
    by: Source
    reason: str
    calls: list[JudgedCall]


def decide(calls: Sequence[CallRequest], mode: str, rules: Rules) -> Verdict:
    """Judge calls that come together: the strictest decision wins, and every call is listed."""
    judged = [_judge_call(call, mode, rules) for call in calls]
    if not judged:
        return {"decision": "deny", "by": "blocked", "reason": "no call was named", "calls": []}
    first = min(judged, key=lambda call: (STRICTEST_FIRST.index(call["decision"]), SOURCES.index(call["by"])))
    return {"decision": first["decision"], "by": first["by"], "reason": first["reason"], "calls": judged}


def _judge_call(call: CallRequest, mode: str, rules: Rules) -> JudgedCall:
    risk: Risk = call["risk"] if call.get("risk") in TRANSPARENCY else "destructive"
    text = call_text(call)
    effect = risk if risk != "write" else "command" if _has_command(call["arguments"]) else "edit"
    judgement = _judge(call["name"], text, effect, mode, rules)
    return {
        "id": call["id"],
        "name": call["name"],
        "arguments": call["arguments"],
        "risk": risk,
        "text": text,
        **judgement,
    }


def _judge(name: str, text: str, effect: str, mode: str, rules: Rules) -> Judgement:
    """Apply the rules to a call whose effect is `read`, `edit`, `command` or `destructive`."""
    blocked = next((pattern for pattern in rules.get("blocked", ()) if _matches(pattern, name, text)), None)
    if blocked is not None:
        return {"decision": "deny", "by": "blocked", "reason": f"{text} is blocked by {blocked!r}"}
    if name in rules.get("tripped", ()):
        return {"decision": "deny", "by": "breaker", "reason": f"{name} failed too often; it rests for a minute"}
    if mode == "plan" and effect != "read":
        return {"decision": "deny", "by": "plan", "reason": "plan mode"}
    override = _find_override(name, text, rules)
    if override == "deny":
        return {"decision": "deny", "by": "override", "reason": f"{text} was denied for this thread"}
    if effect == "destructive":
        return {"decision": "ask", "by": "mode", "reason": f"{text} may destroy something"}
    if override == "allow":
        return {"decision": "allow", "by": "override", "reason": f"{text} was allowed for this thread"}
    if any(_matches(pattern, name, text, careful=True) for pattern in rules.get("autoAllow", ())):
        return {"decision": "allow", "by": "auto-allow", "reason": f"{text} is always allowed"}
    if effect in SILENT.get(mode, ()):
        return {"decision": "allow", "by": "mode", "reason": f"{mode} mode"}
    return {"decision": "ask", "by": "mode", "reason": f"{text} changes something"}


def _find_override(name: str, text: str, rules: Rules) -> Literal["allow", "deny"] | None:
    """Return the latest decision for this thread; anything but a plain `allow` denies."""
    for override in reversed(rules.get("overrides", ())):
        allows = override["decision"] == "allow"
        if _matches(override["pattern"], name, text, careful=allows):
            return "allow" if allows else "deny"
    return None


def call_text(call: CallRequest) -> str:
    """Format a call as `shell(git status)`; arguments besides a command are written as JSON."""
    arguments = _parse_arguments(call["arguments"])
    if isinstance(arguments, Mapping):
        command = arguments.get("command")
        options = {key: value for key, value in arguments.items() if key != "command" or not isinstance(value, str)}
        words = [command] if isinstance(command, str) else []
        arguments = " ".join([*words, *([_to_json(options)] if options else [])])
    return f"{call['name']}({arguments if isinstance(arguments, str) else _to_json(arguments)})"


def _to_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _parse_arguments(arguments: Mapping[str, Any] | str) -> object:
    # Models write arguments as JSON; a rule about a command must see the command.
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except ValueError:
            return arguments
    return arguments


def matches_call(pattern: str, call: CallRequest, *, careful: bool = False) -> bool:
    """Return whether a pattern matches a call; a careful one does not match across the start of a second command."""
    return _matches(pattern, call["name"], call_text(call), careful=careful)


def _matches(pattern: str, name: str, text: str, *, careful: bool = False) -> bool:
    """Return whether a pattern matches: `shell` any call of it, `shell(git *)` those whose text fits."""
    return matches(pattern, text if "(" in pattern else name, careful=careful)


def lasting_overrides(calls: Sequence[JudgedCall]) -> list[Override]:
    """Return the overrides for calls that were allowed for the thread: commands by their text, other tools by name.

    Destructive calls get none: a person is asked each time.
    """
    overrides: list[Override] = []
    for call in calls:
        if call["risk"] != "destructive":
            pattern = escape_pattern(call["text"]) if _has_command(call["arguments"]) else escape_pattern(call["name"])
            overrides.append({"pattern": pattern, "decision": "allow"})
    return overrides


def _has_command(arguments: Mapping[str, Any] | str) -> bool:
    parsed = _parse_arguments(arguments)
    return not isinstance(parsed, Mapping) or isinstance(parsed.get("command"), str)


def tripped_tools(failures: Mapping[str, Sequence[int]], at: int) -> list[str]:
    """Return the tools whose circuit breaker is open, because they failed too often lately."""
    return sorted(name for name, times in failures.items() if len(recent_failures(times, at)) >= BREAKER_FAILURES)


def recent_failures(times: Sequence[int], at: int) -> list[int]:
    """Return the times of the failures that still count."""
    return [time for time in times if at - time < BREAKER_MS]
