"""Setups: types and functions that charts are made into machines with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Generic, overload

from antiphon.chart import actions as builtin
from antiphon.chart.actions import Action, BoundAction, Collect, Computed, Delay, Duration, Event, Target
from antiphon.chart.checks.event_types import EventTypes
from antiphon.chart.config import StateConfig
from antiphon.chart.guards import Guard
from antiphon.chart.machine import Machine, Migrate
from antiphon.chart.names import Implementations
from antiphon.chart.signatures import Assignment, C, E, Function, N, T, Variant


class setup(Generic[C, E, N]):
    """The functions that charts of one kind are bound to.

    `setup[Context, Events](...)` checks them against a `TypedDict` of the context and a union of `TypedDict`s
    of the events, and so does everything made from it. A third argument, a `Literal` of states, is checked by
    `snapshot.matches`. Its actions are those of `antiphon`, held to the same types.

    `events` has the same types at run time, as a union or a list: events from outside are checked against them.
    `public` lists the types of events that may come from outside, as names or patterns such as `REPLY.*`; without it
    all may. `input` is the TypedDict of the machine's input. A runtime checks what is sent to it; with `check_events`,
    `actor.send` does too and raises `EventRefused`.
    """

    __slots__ = ("implementations",)
    if not TYPE_CHECKING:
        __class_getitem__ = classmethod(GenericAlias)  # `setup[C, E]` too

    def __init__(
        self,
        *,
        actions: Mapping[str, BoundAction[C, E]] | None = None,
        guards: Mapping[str, Guard[C, E]] | None = None,
        actors: Mapping[str, Any] | None = None,
        delays: Mapping[str, Duration[C, E]] | None = None,
        events: object = None,
        public: Iterable[str] | None = None,
        input: type | None = None,
        check_events: bool = False,
    ) -> None:
        is_declared = any(given is not None for given in (events, public, input)) or check_events
        types = EventTypes(events or (), public, input=input, in_process=check_events) if is_declared else None
        self.implementations = Implementations(actions, guards, actors, delays, types)

    def extend(
        self,
        *,
        actions: Mapping[str, BoundAction[C, E]] | None = None,
        guards: Mapping[str, Guard[C, E]] | None = None,
        actors: Mapping[str, Any] | None = None,
        delays: Mapping[str, Duration[C, E]] | None = None,
    ) -> setup[C, E, N]:
        """Return this setup with more functions, or with others under the same names; this one does not change."""
        extended: setup[C, E, N] = setup()
        extended.implementations = self.implementations.merge(Implementations(actions, guards, actors, delays))
        return extended

    def create_machine(
        self,
        config: Mapping[str, Any],
        *,
        strict: bool = True,
        migrate: Migrate | None = None,
    ) -> Machine[C, E, N]:
        """Bind these functions to the names in a chart."""
        return Machine(config, self.implementations.merge(Implementations()), strict=strict, migrate=migrate)

    def create_state_config(self, config: StateConfig) -> StateConfig:
        """Return a state for a chart of this setup as it is; checkers check its keys and functions."""
        return config

    @overload
    def create_action(self, action: Callable[[C, E], T], /) -> Callable[[C, E], T]: ...
    @overload
    def create_action(self, action: Action[C, E], /) -> Action[C, E]: ...
    @overload
    def create_action(self, action: Variant[C, E, T], /) -> Variant[C, E, T]: ...
    def create_action(self, action: Any, /) -> Any:
        """Return an action for a chart of this setup as it is; checkers check its parameters."""
        return action

    @overload
    def assign(self, assignment: Callable[[C, E], C], /) -> Action[C, E]: ...
    @overload
    def assign(self, assignment: Callable[[C], C], /) -> Action[C, E]: ...
    @overload
    def assign(self, assignment: Callable[[C, E, Any], C], /) -> Action[C, E]: ...
    @overload
    def assign(self, assignment: Assignment[C, E] | Variant[C, E, C], /) -> Action[C, E]: ...
    def assign(self, assignment: Any, /) -> Action[C, E]:
        """`assign`; a function gives the whole next context, so that its keys and values are checked."""
        return builtin.assign(assignment)

    @overload
    def raise_(
        self, event: Callable[[C, E], E], *, delay: Delay[C, E] = None, id: str | None = None
    ) -> Action[C, E]: ...
    @overload
    def raise_(self, event: Callable[[C], E], *, delay: Delay[C, E] = None, id: str | None = None) -> Action[C, E]: ...
    @overload
    def raise_(
        self, event: E | Variant[C, E, E], *, delay: Delay[C, E] = None, id: str | None = None
    ) -> Action[C, E]: ...
    def raise_(self, event: Any, *, delay: Delay[C, E] = None, id: str | None = None) -> Action[C, E]:
        """`raise_` of one of the machine's own events."""
        return builtin.raise_(event, delay=delay, id=id)

    def send_to(
        self, target: Target[C, E], event: Event[C, E], *, delay: Delay[C, E] = None, id: str | None = None
    ) -> Action[C, E]:
        """`send_to`."""
        return builtin.send_to(target, event, delay=delay, id=id)

    def emit(self, event: Event[C, E]) -> Action[C, E]:
        """`emit`."""
        return builtin.emit(event)

    def log(self, value: Computed[C, E] = None, label: str | None = None) -> Action[C, E]:
        """`log`."""
        return builtin.log(value, label)

    def cancel(self, send_id: str | Function[C, E, str]) -> Action[C, E]:
        """`cancel`."""
        return builtin.cancel(send_id)

    def spawn_child(
        self,
        src: Any,
        *,
        id: str | Function[C, E, str] | None = None,
        input: Computed[C, E] = None,
        system_id: str | None = None,
        sync_snapshot: bool = False,
    ) -> Action[C, E]:
        """`spawn_child`."""
        return builtin.spawn_child(src, id=id, input=input, system_id=system_id, sync_snapshot=sync_snapshot)

    def stop_child(self, child: Target[C, E]) -> Action[C, E]:
        """`stop_child`."""
        return builtin.stop_child(child)

    def enqueue_actions(self, collect: Collect[C, E]) -> Action[C, E]:
        """`enqueue_actions`."""
        return builtin.enqueue_actions(collect)

    def __repr__(self) -> str:
        bound = self.implementations
        named = {name: list(getattr(bound, name)) for name in ("actions", "guards", "actors", "delays")}
        return f"setup({', '.join(f'{name}={names}' for name, names in named.items() if names)})"
