"""Consent of a thread: its mode, its lasting permissions, and the tools that keep failing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.threads.errors import ThreadError
from antiphon.threads.machine.permission import PermissionOutput
from antiphon.threads.machine.permission_rules import (
    MODES,
    CallRequest,
    Mode,
    recent_failures,
    tripped_tools,
)
from antiphon.threads.machine.scopes import Override, add_overrides, scope_overrides

TIMEOUT_MS = 300_000


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
