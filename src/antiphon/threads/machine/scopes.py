"""Scopes of an answer: for how much more than this call an allowance holds.

1. A scope is offered only where it means one thing: this exact command, this folder, this host, this tool.
2. No scope is offered for protected paths, and none for destructive calls: a person sees each of them.
3. What a scope allows is compared with the assessment of a later call, not with its text alone.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from antiphon.tools.assessment import ANY_HOST, Assessment

Scope = Literal["once", "command", "folder", "host", "tool"]
ONCE = "once"


class ScopeOffer(TypedDict):
    """A scope that a person may choose, in words."""

    scope: str
    value: str
    label: str


class Override(TypedDict):
    """A decision that holds for later calls: those that match a pattern, or those in a scope."""

    decision: Literal["allow", "deny"]
    pattern: NotRequired[str]
    scope: NotRequired[str]
    # The tool, and the exact command, folder, host or name that the scope is about.
    tool: NotRequired[str]
    value: NotRequired[str]
    # Whether the person was told that a command runs in a sandbox, and that it needs the network.
    sandbox: NotRequired[bool]
    network: NotRequired[bool]
    # The history of the thread in which it was given, if that continues a past from a file.
    history: NotRequired[str]


def offered_scopes(name: str, arguments: str, assessment: Assessment) -> list[ScopeOffer]:
    """Return the scopes that a person may choose for a call, besides `once`.

    `arguments` are all of its arguments as JSON in one form, so that no text of a command looks like other arguments.
    """
    if assessment.protected or assessment.risk == "destructive":
        return []
    match assessment.kind:
        case "command":
            return [{"scope": "command", "value": arguments, "label": "this exact command"}]
        case "file" if assessment.path is not None:
            folder = _folder(assessment.path)
            label = "files of the workspace folder itself" if folder == "." else f"files in {folder}/"
            return [{"scope": "folder", "value": folder, "label": f"{label}, not in its subfolders"}]
        case "network" if len(assessment.network) == 1 and ANY_HOST not in assessment.network:
            (host,) = assessment.network
            return [{"scope": "host", "value": host, "label": f"the host {host}"}]
        case "other":
            return [{"scope": "tool", "value": name, "label": f"the tool {name}"}]
    return []


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "."


def covers(override: Override, name: str, arguments: str, assessment: Assessment) -> bool:
    """Return whether a decision for a scope holds for a call."""
    if override.get("tool") != name and override.get("scope") != "folder":
        return False
    if not any(_is_offer(offer, override) for offer in offered_scopes(name, arguments, assessment)):
        return False
    if assessment.kind != "command":
        return True
    # The same command is another question if it would run without the sandbox, or with the network.
    is_confined = assessment.sandbox or not override.get("sandbox")
    return is_confined and (not assessment.network or bool(override.get("network")))


def _is_offer(offer: ScopeOffer, override: Override) -> bool:
    return offer["scope"] == override.get("scope") and offer["value"] == override.get("value")


def scope_overrides(calls: Iterable[Mapping[str, Any]], scope: str | None) -> list[Override]:
    """Return the overrides for calls that a person was asked about and allowed by a scope."""
    overrides: list[Override] = []
    for call in calls:
        for offer in call["scopes"] if call["decision"] == "ask" else ():
            if offer["scope"] == scope:
                override: Override = {
                    "decision": "allow",
                    "scope": offer["scope"],
                    "tool": call["name"],
                    "value": offer["value"],
                }
                if call["kind"] == "command":
                    override["sandbox"] = call["sandbox"]
                    override["network"] = bool(call["network"])
                overrides.append(override)
    return overrides


def describe_override(override: Override) -> str:
    """Return what a decision is about, in words."""
    value = override.get("value", "")
    match override.get("scope"):
        case None:
            text = override.get("pattern", "")
        case "command":
            text = _command_in(value)
        case "folder":
            text = f"files in {'the workspace folder' if value == '.' else f'{value}/'}"
        case "host":
            text = f"pages of {value}"
        case _:
            text = override.get("tool", value)
    return text if override["decision"] == "allow" else f"never {text}"


def _command_in(arguments: str) -> str:
    """Return the command in arguments as JSON, or the arguments."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    return str(value["command"]) if isinstance(value, dict) and "command" in value else arguments


def answer_scopes(calls: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the scopes that an answer to a request may have."""
    offers = [offer["scope"] for call in calls if call["decision"] == "ask" for offer in call["scopes"]]
    return list(dict.fromkeys([ONCE, *offers]))


def without_permission(overrides: Sequence[Override], permission: Override) -> list[Override]:
    """Return decisions without a permission that was taken back; what was denied stays denied."""
    return [override for override in overrides if override != permission or override["decision"] != "allow"]


def add_overrides(overrides: Sequence[Override], new: Iterable[Override]) -> list[Override]:
    """Return decisions with further ones, each once; the latest counts."""
    return [*overrides, *(override for override in new if override not in overrides)]
