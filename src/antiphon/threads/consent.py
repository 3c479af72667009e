"""What was agreed on in a thread: its mode, its lasting permissions, and the tools that keep failing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antiphon.threads.errors import ThreadError
from antiphon.threads.machine.permission import PermissionOutput
from antiphon.threads.machine.permission_rules import MODES, Call, Mode, Override, lasting_overrides, recent, tripped

TIMEOUT_MS = 300_000


@dataclass(slots=True)
class Consent:
    """What one thread may do without asking; plain data, so that it can be stored with the thread."""

    mode: Mode = "ask"
    blocked: Sequence[str] = ()
    auto_allow: Sequence[str] = ()
    overrides: list[Override] = field(default_factory=list)
    failures: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ThreadError(f"{self.mode!r} is no permission mode; known: {', '.join(MODES)}")

    def request(self, id: str, calls: Sequence[Call], *, at: int, timeout_ms: int = TIMEOUT_MS) -> dict[str, Any]:
        """The input of a permission machine for these calls, at this time."""
        rules = {
            "blocked": list(self.blocked),
            "tripped": tripped(self.failures, at),
            "overrides": list(self.overrides),
            "autoAllow": list(self.auto_allow),
        }
        return {"id": id, "calls": list(calls), "mode": self.mode, "rules": rules, "timeoutMs": timeout_ms}

    def remember(self, output: PermissionOutput) -> None:
        """Keep what a person allowed for the whole thread."""
        if output["decision"] == "allowed" and output["scope"] == "thread":
            self.overrides += [one for one in lasting_overrides(output["calls"]) if one not in self.overrides]

    def note_failure(self, tool: str, at: int) -> None:
        """A tool failed; three times within a minute, and it rests."""
        self.failures[tool] = [*recent(self.failures.get(tool, []), at), at]

    def note_success(self, tool: str) -> None:
        """A tool worked: its failures are forgotten."""
        self.failures.pop(tool, None)

    def to_json(self) -> dict[str, Any]:
        """This as JSON."""
        return {
            "mode": self.mode,
            "blocked": list(self.blocked),
            "autoAllow": list(self.auto_allow),
            "overrides": list(self.overrides),
            "failures": dict(self.failures),
        }


def consent_from_json(stored: Mapping[str, Any]) -> Consent:
    """What `to_json` gave, made good again."""
    return Consent(
        mode=stored["mode"],
        blocked=stored["blocked"],
        auto_allow=stored["autoAllow"],
        overrides=list(stored["overrides"]),
        failures={tool: list(times) for tool, times in stored["failures"].items()},
    )
