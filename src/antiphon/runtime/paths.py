"""Addresses of actors in a tree: the ids of an actor and its ancestors below the root, joined by slashes."""

from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote

from antiphon.chart.snapshot import Snapshot


def path_of(actor: Any) -> str:
    """Return the address of an actor; that of the root is empty."""
    parent = actor.parent
    if parent is None:
        return ""
    if parent.parent is None:  # the usual case
        return _part(actor.id)
    parts: list[str] = []
    while actor.parent is not None:
        parts.append(_part(actor.id))
        actor = actor.parent
    return "/".join(reversed(parts))


def actor_at(root: Any, path: str) -> Any:
    """Return the actor at an address, or None."""
    actor = root
    if not path:
        return actor
    for part in path.split("/") if "/" in path else (path,):
        snapshot = actor.snapshot
        if not isinstance(snapshot, Snapshot):
            return None
        ref = snapshot.frame.children.get(unquote(part) if "%" in part else part)
        if ref is None:
            return None
        actor = ref.actor
    return actor


def child_path(path: str, id: str) -> str:
    """Return the address of a child of the actor at an address."""
    return f"{path}/{_part(id)}" if path else _part(id)


def parent_of(path: str) -> str:
    """Return the address of the parent of an actor."""
    return path.rpartition("/")[0]


@lru_cache(1024)
def _part(id: str) -> str:
    return quote(id, safe="")
