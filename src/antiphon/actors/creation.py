"""Creation of actors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from antiphon.actors.actor import Actor
from antiphon.actors.clock import Clock
from antiphon.actors.logic import Logic
from antiphon.actors.system import Inspector
from antiphon.chart.machine import Machine
from antiphon.chart.signatures import C, E, N
from antiphon.chart.snapshot import Snapshot


@overload
def create_actor(
    logic: Machine[C, E, N],
    *,
    id: str | None = None,
    input: Any = None,
    snapshot: Any = None,
    system_id: str | None = None,
    clock: Clock | None = None,
    logger: Callable[..., Any] | None = None,
    inspect: Inspector | None = None,
    on_unhandled: Callable[[Any, Any], Any] | None = None,
    timers: str = "absolute",
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
    shared: bool = False,
) -> Actor[Snapshot[C, E, N], E]: ...
@overload
def create_actor(
    logic: Logic,
    *,
    id: str | None = None,
    input: Any = None,
    snapshot: Any = None,
    system_id: str | None = None,
    clock: Clock | None = None,
    logger: Callable[..., Any] | None = None,
    inspect: Inspector | None = None,
    on_unhandled: Callable[[Any, Any], Any] | None = None,
    timers: str = "absolute",
    new_id: Callable[[], str] | None = None,
    random: Callable[[], float] | None = None,
    shared: bool = False,
) -> Actor[Any, Any]: ...
def create_actor(logic: Any, **options: Any) -> Actor[Any, Any]:
    """Create an actor that runs a machine or other logic; it does nothing until it is started.

    It belongs to the thread that starts it, unless it is `shared`.
    """
    return Actor(logic, **options)
