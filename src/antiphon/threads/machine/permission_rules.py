"""The rules by which tool calls are allowed, denied or asked about.

1. Blocked calls are denied, and so are calls of a tool that failed too often lately (the circuit breaker).
2. In plan mode, calls that do anything but read are denied.
3. Calls that a person or a setting denied are denied.
4. A call that would change protected paths, or read a file with keys, is asked about; nothing that was allowed
   before covers it.
5. A call that a person allowed by a scope is allowed: this exact command, this folder, this host, this tool.
6. A call on the list of those that are always allowed is allowed, if it is not destructive; a command only in the
   sandbox, and without network.
7. Otherwise the mode decides (`_judge_by_mode`). A command is never allowed by a mode if there is no sandbox for it.
8. Calls of one reply are decided together, by the strictest of their decisions.

A decision comes with the access that a command gets if it is allowed. An unknown risk, kind, mode or decision counts as
the most careful one.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, get_args

from antiphon.threads.machine.scopes import Override, ScopeOffer, covers, offered_scopes, without_permission
from antiphon.tools.access import READ_ONLY, Access
from antiphon.tools.assessment import ANY_HOST, Assessment
from antiphon.tools.patterns import matches
from antiphon.tools.risks import Risk

Mode = Literal["plan", "ask", "auto-edit", "auto"]
Decision = Literal["deny", "ask", "allow"]
Source = Literal["blocked", "breaker", "plan", "override", "auto-allow", "mode"]
Transparency = Literal["silent", "acknowledged", "approved", "refused"]

MODES: tuple[Mode, ...] = get_args(Mode)
"""Modes of permission, from strict to lenient."""
STRICTEST_FIRST: tuple[Decision, ...] = get_args(Decision)
SOURCES: tuple[Source, ...] = get_args(Source)
# How much a person sees of a call that was made. A notice is shown for a while and needs no answer.
TRANSPARENCY: Mapping[str, Transparency] = {"read": "silent", "write": "acknowledged", "destructive": "approved"}
NOTICE_MS = 10_000

BREAKER_FAILURES = 3
BREAKER_MS = 60_000

NO_SANDBOX = "this machine has no complete sandbox, as `antiphon doctor` explains"
# Why a command failed is known from its output only, and a command prints what it likes.
WAS_READ_ONLY = (
    "it failed, and the command says that something was denied; the workspace was read-only for it. "
    "Allowed, it runs again and may change the workspace"
)
WAS_PROTECTED = (
    "it failed, and the command says that something was denied; protected paths were read-only for it. "
    "Allowed, it runs again and may change them too"
)


class CallRequest(TypedDict):
    """A tool call as it is judged, with its assessment (`tools/assessment.py`)."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    # The risk that the settings of the thread give its tool; the assessment judges the call.
    risk: NotRequired[str | None]
    assessment: NotRequired[Mapping[str, Any]]
    # Why it cannot be made; such a call is answered, and not judged.
    problem: NotRequired[str]
    # What it could not do when it was made before: "write" to its workspace, or to "protected" paths.
    denied: NotRequired[str]
    # Set if a person has changed its arguments.
    edited: NotRequired[bool]


class Rules(TypedDict, total=False):
    """Rules that apply before a person is asked; `tripped` names the tools whose circuit is open.

    `notice` is added to the reasons of questions.
    """

    blocked: Sequence[str]
    tripped: Sequence[str]
    overrides: Sequence[Override]
    autoAllow: Sequence[str]
    notice: str


class ConsentSettings(TypedDict, total=False):
    """Rules together with the mode, how long a person may take to answer, and whether a function is asked first."""

    blocked: Sequence[str]
    tripped: Sequence[str]
    overrides: Sequence[Override]
    autoAllow: Sequence[str]
    mode: Mode
    timeoutMs: int
    approver: bool


def consent_without(consent: ConsentSettings, permission: Override) -> ConsentSettings:
    """Return settings without a permission that was taken back."""
    overrides = consent.get("overrides", [])
    return {**consent, "overrides": without_permission(overrides, permission)} if permission in overrides else consent


class Judgement(TypedDict):
    """The decision of the rules about one call."""

    decision: Decision
    by: Source
    reason: str


class JudgedCall(Judgement):
    """A call as a person sees it: its text, its assessment, and what an answer could allow."""

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    risk: Risk
    kind: str
    text: str
    # What a command gets if the call is allowed; None for other calls.
    access: Mapping[str, bool] | None
    scopes: list[ScopeOffer]
    # Whether the call may be allowed to run outside the sandbox, by an answer of its own.
    outside: bool
    sandbox: bool
    network: list[str]
    protected: list[str]
    path: NotRequired[str]
    diff: NotRequired[str]
    # Set if the diff does not show the whole change.
    cut: NotRequired[bool]
    # Why its changes cannot be undone.
    noUndo: NotRequired[str]


class AnsweredCall(JudgedCall):
    """A call after the decision, with how much of it is shown; `edited` if a person has changed its arguments."""

    shown: Transparency
    edited: NotRequired[bool]


class Verdict(TypedDict):
    """The decision of the rules about all calls of a request."""

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
    # Without an assessment, nothing but the risk of the tool is known.
    assessment = Assessment.from_json(call.get("assessment") or {"risk": call.get("risk")})
    text = call_text(call)
    scopes = [] if call.get("denied") == "protected" else offered_scopes(call["name"], arguments_key(call), assessment)
    judgement, access = _judge(call, text, assessment, mode, rules)
    judged: JudgedCall = {
        "id": call["id"],
        "name": call["name"],
        "arguments": call["arguments"],
        "risk": assessment.risk,
        "kind": assessment.kind,
        "text": text,
        "decision": judgement["decision"],
        "by": judgement["by"],
        "reason": judgement["reason"],
        "access": access.to_json() if assessment.kind in ("command", "file") else None,
        "scopes": scopes,
        "outside": assessment.kind == "command",
        "sandbox": assessment.sandbox,
        "network": list(assessment.network),
        "protected": list(assessment.protected),
    }
    if assessment.path is not None:
        judged["path"] = assessment.path
    if assessment.diff is not None:
        judged["diff"] = assessment.diff
    if assessment.is_cut:
        judged["cut"] = True
    if assessment.no_undo is not None:
        judged["noUndo"] = assessment.no_undo
    return judged


def _judge(call: CallRequest, text: str, assessment: Assessment, mode: str, rules: Rules) -> tuple[Judgement, Access]:
    """Apply the rules to a call; return the decision and the access of a command that is allowed."""
    name = call["name"]
    granted = _granted_access(call, assessment)
    blocked = next((pattern for pattern in rules.get("blocked", ()) if _matches(pattern, name, text)), None)
    if blocked is not None:
        return _deny("blocked", f"{text} is blocked by {blocked!r}"), READ_ONLY
    if name in rules.get("tripped", ()):
        return _deny("breaker", f"{name} failed too often; it rests for a minute"), READ_ONLY
    if mode == "plan" and not _only_reads(assessment):
        return _deny("plan", "plan mode"), READ_ONLY
    override = _find_override(call, text, assessment, rules)
    if override == "deny":
        return _deny("override", f"{text} was denied for this thread"), READ_ONLY
    if "denied" not in call and not assessment.protected:
        if override == "allow":
            return _allow("override", f"{text} was allowed before"), granted
        if _is_auto_allowed(name, text, assessment, rules):
            return _allow("auto-allow", f"{text} is always allowed"), granted
        access = _judge_by_mode(mode, assessment)
        if access is not None:
            return _allow("mode", f"{mode} mode"), access
    reasons = [_reason_to_ask(call, assessment), rules.get("notice") or ""]
    return {"decision": "ask", "by": "mode", "reason": "; ".join(filter(None, reasons))}, granted


def _deny(by: Source, reason: str) -> Judgement:
    return {"decision": "deny", "by": by, "reason": reason}


def _allow(by: Source, reason: str) -> Judgement:
    return {"decision": "allow", "by": by, "reason": reason}


def _only_reads(assessment: Assessment) -> bool:
    return assessment.risk == "read" and not assessment.network and not assessment.protected


def _judge_by_mode(mode: str, assessment: Assessment) -> Access | None:
    """Return the access that a mode gives without a question, or None if a person is asked."""
    if assessment.kind == "command":
        if not assessment.sandbox or assessment.network:
            return None
        if mode == "auto":
            return Access(writes=True)
        return READ_ONLY if assessment.risk == "read" else None
    if _only_reads(assessment):
        return READ_ONLY
    if assessment.risk == "destructive" or assessment.network:
        return None
    modes = ("auto-edit", "auto") if assessment.kind == "file" else ("auto",)
    return Access(writes=True) if mode in modes else None


def _granted_access(call: CallRequest, assessment: Assessment) -> Access:
    """Return the access of a call that a person allows: what the question says that it needs, and no more."""
    if "denied" not in call and _only_reads(assessment):
        return READ_ONLY
    is_protected = bool(assessment.protected) or call.get("denied") == "protected"
    return Access(writes=True, protected=is_protected, network=bool(assessment.network))


def _is_auto_allowed(name: str, text: str, assessment: Assessment, rules: Rules) -> bool:
    if assessment.risk == "destructive":
        return False
    if assessment.kind == "command" and (assessment.network or not assessment.sandbox):
        return False
    return any(_matches(pattern, name, text, careful=True) for pattern in rules.get("autoAllow", ()))


def _find_override(
    call: CallRequest, text: str, assessment: Assessment, rules: Rules
) -> Literal["allow", "deny"] | None:
    """Return the latest decision that holds for a call; anything but a plain `allow` denies."""
    for override in reversed(rules.get("overrides", ())):
        allows = override["decision"] == "allow"
        if "scope" in override:
            if covers(override, call["name"], arguments_key(call), assessment):
                return "allow" if allows else "deny"
        elif _matches(override["pattern"], call["name"], text, careful=allows):
            # A pattern that allows is a setting like `autoAllow`, and covers no more than that.
            if not allows:
                return "deny"
            if _is_auto_allowed(call["name"], text, assessment, {"autoAllow": [override["pattern"]]}):
                return "allow"
            return None
    return None


def _reason_to_ask(call: CallRequest, assessment: Assessment) -> str:
    """Return why a person is asked, in plain words."""
    if "denied" in call:
        return WAS_PROTECTED if call["denied"] == "protected" else WAS_READ_ONLY
    reasons = [assessment.reason or _reason_of_risk(assessment)]
    if assessment.protected and (assessment.kind, assessment.risk) != ("file", "read"):
        reasons.append(f"it would change protected paths: {', '.join(assessment.protected)}")
    if ANY_HOST in assessment.network:
        reasons.append("it needs the network")
    elif assessment.network:
        reasons.append(f"it connects to {', '.join(assessment.network)}")
    if assessment.kind == "command" and not assessment.sandbox:
        reasons.append(NO_SANDBOX)
    return "; ".join(filter(None, reasons))


def _reason_of_risk(assessment: Assessment) -> str:
    match assessment.risk:
        case "destructive":
            return "it may destroy something"
        case "write":
            return "" if assessment.kind == "network" else "it changes something"
        case _:
            return ""


def call_text(call: CallRequest) -> str:
    """Format a call as `shell(git status)`; arguments besides a command are written as JSON."""
    arguments = _parse_arguments(call["arguments"])
    if isinstance(arguments, Mapping):
        command = arguments.get("command")
        options = {key: value for key, value in arguments.items() if key != "command" or not isinstance(value, str)}
        words = [command] if isinstance(command, str) else []
        arguments = " ".join([*words, *([_to_json(options)] if options else [])])
    return f"{call['name']}({arguments if isinstance(arguments, str) else _to_json(arguments)})"


def arguments_key(call: CallRequest) -> str:
    """Return all arguments of a call as JSON in one form; calls with the same key do the same."""
    return _to_json(_parse_arguments(call["arguments"]))


def _to_json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _parse_arguments(arguments: Mapping[str, Any] | str) -> object:
    # Models write arguments as JSON; a rule about a command must see the command.
    if isinstance(arguments, str):
        try:
            return json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments
    return arguments


def matches_call(pattern: str, call: CallRequest, *, careful: bool = False) -> bool:
    """Return whether a pattern matches a call; a careful one does not match across the start of a second command."""
    return _matches(pattern, call["name"], call_text(call), careful=careful)


def _matches(pattern: str, name: str, text: str, *, careful: bool = False) -> bool:
    """Return whether a pattern matches: `shell` any call of it, `shell(git *)` those whose text fits."""
    return matches(pattern, text if "(" in pattern else name, careful=careful)


def tripped_tools(failures: Mapping[str, Sequence[int]], at: int) -> list[str]:
    """Return the tools whose circuit breaker is open, because they failed too often lately."""
    return sorted(name for name, times in failures.items() if len(recent_failures(times, at)) >= BREAKER_FAILURES)


def recent_failures(times: Sequence[int], at: int) -> list[int]:
    """Return the times of the failures that still count."""
    return [time for time in times if at - time < BREAKER_MS]
