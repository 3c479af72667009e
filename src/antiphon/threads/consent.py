"""Consent of a thread: its mode, its lasting permissions, and the tools that keep failing."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from antiphon.threads.errors import ThreadError, UnknownPermission
from antiphon.threads.machine.permission import PermissionOutput
from antiphon.threads.machine.permission_rules import (
    MODES,
    CallRequest,
    Mode,
    recent_failures,
    tripped_tools,
)
from antiphon.threads.machine.scopes import Override, add_overrides, describe_override, scope_overrides

TIMEOUT_MS = 300_000
REVOKE: Mapping[str, str] = {"chat": "revoke", "run": "REVOKE"}
"""The event that takes back a permission, by the kind of the thread."""
ID_LENGTH = 8


@dataclass(slots=True)
class Consent:
    """Permissions of one thread; plain data, so that they can be stored with the thread."""

    mode: Mode = "ask"
    blocked: Sequence[str] = ()
    auto_allow: Sequence[str] = ()
    overrides: list[Override] = field(default_factory=list)
    failures: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ThreadError(f"{self.mode!r} is not a permission mode; known: {', '.join(MODES)}")
        for name, patterns in (("blocked", self.blocked), ("auto_allow", self.auto_allow)):
            if isinstance(patterns, str):
                raise ThreadError(f"{name} is {patterns!r}; it must be a list of patterns, such as ['shell(ls*)']")

    def request(
        self, id: str, calls: Sequence[CallRequest], *, at: int, timeout_ms: int = TIMEOUT_MS
    ) -> dict[str, Any]:
        """Return the input of a permission machine for these calls, at this time."""
        rules = {
            "blocked": list(self.blocked),
            "tripped": tripped_tools(self.failures, at),
            "overrides": list(self.overrides),
            "autoAllow": list(self.auto_allow),
        }
        return {"id": id, "calls": list(calls), "mode": self.mode, "rules": rules, "timeoutMs": timeout_ms}

    def remember(self, output: PermissionOutput) -> None:
        """Remember what a person allowed beyond these calls, by the scope of the answer."""
        if output["decision"] == "allowed":
            self.overrides = add_overrides(self.overrides, scope_overrides(output["calls"], output["scope"]))

    def note_failure(self, tool: str, at: int) -> None:
        """Record a failure; a tool that fails three times within a minute is blocked for a while."""
        self.failures[tool] = [*recent_failures(self.failures.get(tool, []), at), at]

    def note_success(self, tool: str) -> None:
        """Forget the failures of a tool that worked."""
        self.failures.pop(tool, None)

    def to_json(self) -> dict[str, Any]:
        """Return the consent as JSON."""
        return {
            "mode": self.mode,
            "blocked": list(self.blocked),
            "autoAllow": list(self.auto_allow),
            "overrides": list(self.overrides),
            "failures": dict(self.failures),
        }


def consent_from_json(stored: Mapping[str, Any]) -> Consent:
    """Restore a consent from the JSON of `to_json`."""
    return Consent(
        mode=stored["mode"],
        blocked=stored["blocked"],
        auto_allow=stored["autoAllow"],
        overrides=list(stored["overrides"]),
        failures={tool: list(times) for tool, times in stored["failures"].items()},
    )


@dataclass(frozen=True, slots=True)
class StandingPermission:
    """Permission that lasts, and can be taken back by its id, which is the same as long as the permission holds."""

    id: str
    override: Override

    @property
    def text(self) -> str:
        """What is allowed, in words: a command, a folder, a host or a tool."""
        return describe_override(self.override)

    def to_json(self) -> dict[str, Any]:
        """Return the permission as JSON."""
        return {"id": self.id, "text": self.text, **self.override}


def standing_permissions(overrides: Iterable[Override]) -> list[StandingPermission]:
    """Return the permissions among decisions, each once; a denial is none."""
    allowed = (override for override in overrides if override["decision"] == "allow")
    permissions = [StandingPermission(_id_of(override), override) for override in allowed]
    return list({permission.id: permission for permission in permissions}.values())


def permission_from_json(row: Mapping[str, Any]) -> StandingPermission:
    """Return a permission from the JSON of `to_json`."""
    override = {key: value for key, value in row.items() if key not in ("id", "text")}
    return StandingPermission(row["id"], cast(Override, override))


def find_permission(thread: str, permissions: Iterable[StandingPermission], id: str) -> StandingPermission:
    """Return the permission of an id; raise `UnknownPermission` if a thread does not have it."""
    known = {permission.id: permission for permission in permissions}
    if id not in known:
        raise UnknownPermission(thread, id, list(known))
    return known[id]


def _id_of(override: Override) -> str:
    # The same decision has the same id in the settings, in the content, and in each of its agents.
    text = json.dumps(override, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:ID_LENGTH]
