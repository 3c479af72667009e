"""Names whose modules differ between checkouts.

The same measuring script runs on both sides of a comparison, and a refactoring moves modules. So what is not known to
be importable from `antiphon` itself in every checkout is looked up here, the newest place first. Whoever moves one of
these modules adds its new place in front and keeps the old ones.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

FRONT_DOOR = "antiphon"
PLACES: dict[str, tuple[str, ...]] = {
    "Runtime": (FRONT_DOOR, "antiphon.runtime.runtime"),
    "MemoryStore": (FRONT_DOOR, "antiphon.stores.memory"),
    "SqliteStore": (FRONT_DOOR, "antiphon.stores.sqlite"),
    "orchestrator_machine": (
        FRONT_DOOR,
        "antiphon.agents.machine.orchestrator",
        "antiphon.machines.orchestrator",
    ),
}


class NotInCheckout(Exception):
    """A checkout has nothing of this name in any of its places."""


def locate(name: str) -> Any:
    """Import a name from the first of its places that has it."""
    for place in PLACES[name]:
        try:
            return getattr(import_module(place), name)
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith(FRONT_DOOR):
                raise  # the module is there, but what it needs is not installed
        except AttributeError:
            continue
    raise NotInCheckout(f"no {name!r} in {', '.join(PLACES[name])}; add its module to bench/comparing/names.py")
