"""Types of charts that are written in Python, for type checkers and for editors that complete keys.

`explore/schema.py` says the same of charts that are JSON files. Nothing needs these types: a plain dict is a chart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Literal, TypedDict

from antiphon.chart.actions import ChartAction, Delay
from antiphon.chart.guards import Guard
from antiphon.chart.signatures import C


class TransitionConfig(TypedDict, total=False):
    """Keys of a transition."""

    target: str | Sequence[str] | None
    guard: Guard[Any, Any]
    actions: ChartAction[Any, Any] | Sequence[ChartAction[Any, Any]]
    reenter: bool
    meta: Any
    description: str


Transitions = str | TransitionConfig | Sequence[str | TransitionConfig] | None


class InvokeConfig(TypedDict, total=False):
    """Keys of an invoked actor."""

    src: Any
    id: str
    systemId: str
    input: Any
    onDone: Transitions
    onError: Transitions
    onSnapshot: Transitions
    onTimeout: Transitions
    timeout: Delay[Any, Any]
    meta: Any
    description: str


class StateConfig(TypedDict, total=False):
    """Keys of a state."""

    id: str
    type: Literal["atomic", "compound", "parallel", "final", "history"]
    initial: str | TransitionConfig
    states: Mapping[str, StateConfig]
    entry: ChartAction[Any, Any] | Sequence[ChartAction[Any, Any]]
    exit: ChartAction[Any, Any] | Sequence[ChartAction[Any, Any]]
    on: Mapping[str, Transitions]
    always: Transitions
    after: Mapping[str | float, Transitions]
    invoke: InvokeConfig | Sequence[InvokeConfig]
    onDone: Transitions
    tags: str | Sequence[str]
    output: Any
    history: Literal["shallow", "deep"] | bool
    target: str
    route: TransitionConfig
    order: int
    meta: Any
    description: str


_JsonSchema = TypedDict("_JsonSchema", {"$schema": str}, total=False)


class MachineConfig(StateConfig, _JsonSchema, Generic[C], total=False):
    """Keys of a whole chart."""

    context: C | Callable[..., C]
    version: Any
    types: Any
    schemas: Any
    options: Mapping[str, Any]
