"""Version 1 of the rules by which tool calls were allowed, denied or asked about.

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
from typing import Any

from antiphon.tools.patterns import escape_pattern, matches
from antiphon.tools.risks import Risk

Json = dict[str, Any]
Rules = Mapping[str, Any]
STRICTEST_FIRST = ("deny", "ask", "allow")
SOURCES = ("blocked", "breaker", "plan", "override", "auto-allow", "mode")
# What a mode allows without a question. A command that writes is no edit: it may do anything else as well.
SILENT: Mapping[str, tuple[str, ...]] = {
    "plan": ("read",),
    "ask": ("read",),
    "auto-edit": ("read", "edit"),
    "auto": ("read", "edit", "command"),
}
# How much a person saw of a call that was made.
TRANSPARENCY: Mapping[str, str] = {"read": "silent", "write": "acknowledged", "destructive": "approved"}


def decide(calls: Sequence[Json], mode: str, rules: Rules) -> Json:
    """Judge calls that come together: the strictest decision wins, and every call is listed."""
    judged = [_judge_call(call, mode, rules) for call in calls]
    if not judged:
        return {"decision": "deny", "by": "blocked", "reason": "no call was named", "calls": []}
    first = min(judged, key=lambda call: (STRICTEST_FIRST.index(call["decision"]), SOURCES.index(call["by"])))
    return {"decision": first["decision"], "by": first["by"], "reason": first["reason"], "calls": judged}


def _judge_call(call: Json, mode: str, rules: Rules) -> Json:
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


def _judge(name: str, text: str, effect: str, mode: str, rules: Rules) -> Json:
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


def _find_override(name: str, text: str, rules: Rules) -> str | None:
    """Return the latest decision for this thread; anything but a plain `allow` denies."""
    for override in reversed(rules.get("overrides", ())):
        allows = override["decision"] == "allow"
        if _matches(override["pattern"], name, text, careful=allows):
            return "allow" if allows else "deny"
    return None


def call_text(call: Json) -> str:
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


def _matches(pattern: str, name: str, text: str, *, careful: bool = False) -> bool:
    """Return whether a pattern matches: `shell` any call of it, `shell(git *)` those whose text fits."""
    return matches(pattern, text if "(" in pattern else name, careful=careful)


def lasting_overrides(calls: Sequence[Json]) -> list[Json]:
    """Return the overrides for calls that were allowed for the thread: commands by their text, other tools by name.

    Destructive calls get none: a person is asked each time.
    """
    overrides: list[Json] = []
    for call in calls:
        if call["risk"] != "destructive":
            pattern = escape_pattern(call["text"]) if _has_command(call["arguments"]) else escape_pattern(call["name"])
            overrides.append({"pattern": pattern, "decision": "allow"})
    return overrides


def _has_command(arguments: Mapping[str, Any] | str) -> bool:
    parsed = _parse_arguments(arguments)
    return not isinstance(parsed, Mapping) or isinstance(parsed.get("command"), str)
