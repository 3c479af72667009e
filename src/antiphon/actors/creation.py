"""Making actors."""

from typing import Any

from antiphon.actors.actor import Actor


def create_actor(logic: Any, **options: Any) -> Actor[Any, Any]:
    """An actor that runs a machine or other logic; it does nothing until it is started."""
    return Actor(logic, **options)
