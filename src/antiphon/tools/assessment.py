"""Assessment of a tool call before it is made: what it would do, and what it would need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from antiphon.tools.risks import ORDER, Risk

Kind = Literal["command", "file", "network", "other"]
KINDS: tuple[Kind, ...] = get_args(Kind)
ANY_HOST = "*"


@dataclass(frozen=True, slots=True)
class Assessment:
    """Assessment of one call; without any facts, the call is destructive and a person is asked."""

    risk: Risk = "destructive"
    kind: Kind = "other"
    sandbox: bool = False
    """A command can be confined on this machine."""
    network: tuple[str, ...] = ()
    """Hosts that the call needs; `*` if a command needs the network."""
    protected: tuple[str, ...] = ()
    """Protected paths that the call would change, or may change; if it only reads, files with keys that it reads."""
    path: str | None = None
    """File that the call would change, relative to the workspace, with symlinks resolved."""
    diff: str | None = None
    """Change of the file as a unified diff."""
    is_cut: bool = False
    """The diff does not show the whole change."""
    reason: str = ""
    """Why a person is asked, in plain words; empty leaves it to the rules."""
    no_undo: str | None = None
    """Why the changes of the call cannot be undone; None if they can, or if that is not known."""
    problem: str | None = None
    """Why the call cannot be made; it is answered with that, and nobody is asked."""

    def to_json(self) -> dict[str, Any]:
        """Return the assessment as JSON, without what it does not have."""
        facts = {
            "network": list(self.network),
            "protected": list(self.protected),
            "path": self.path,
            "diff": self.diff,
            "cut": self.is_cut or None,
            "reason": self.reason,
            "noUndo": self.no_undo,
            "problem": self.problem,
        }
        present = {key: value for key, value in facts.items() if value not in (None, "", [])}
        return {"risk": self.risk, "kind": self.kind, "sandbox": self.sandbox, **present}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the assessment that `to_json` returned; what is missing or unknown counts as the most careful."""
        return cls(
            risk=stored["risk"] if stored.get("risk") in ORDER else "destructive",
            kind=stored["kind"] if stored.get("kind") in KINDS else "other",
            sandbox=stored.get("sandbox") is True,
            network=tuple(stored.get("network") or ()),
            protected=tuple(stored.get("protected") or ()),
            path=stored.get("path"),
            diff=stored.get("diff"),
            is_cut=stored.get("cut") is True,
            reason=stored.get("reason") or "",
            no_undo=stored.get("noUndo"),
            problem=stored.get("problem"),
        )
