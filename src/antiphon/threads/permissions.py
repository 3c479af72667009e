"""Permissions of a thread that last: what a person, or its settings, allowed for more than one call."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from antiphon.threads.errors import UnknownPermission
from antiphon.threads.machine.scopes import Override, describe_override

REVOKE: Mapping[str, str] = {"chat": "revoke", "run": "REVOKE"}
"""The event that takes back a permission, by the kind of the thread."""
ID_LENGTH = 8


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
