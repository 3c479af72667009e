"""The streaming machine as an actor, with one model behind it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from antiphon.actors.actor import Actor
from antiphon.actors.clock import Clock
from antiphon.actors.creation import create_actor
from antiphon.chart.snapshot import Snapshot
from antiphon.messages import Message, message_to_json
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.threads.errors import UnknownSetting
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.streaming_reply import DEFAULT_SETTINGS
from antiphon.threads.machine.streaming_types import State, StreamingContext, StreamingEvent
from antiphon.threads.reply import stream_reply

StreamingSnapshot = Snapshot[StreamingContext, StreamingEvent, State]
"""Snapshot of the streaming machine."""


def streaming_actor(
    provider: Provider,
    *,
    messages: Sequence[Message],
    session_id: str | None,
    settings: Mapping[str, Any],
    prices: Prices | None,
    clock: Clock,
    jitter: Callable[[], float],
) -> Actor[Any, Any]:
    """Create the actor; raise `UnknownSetting` for a setting that does not exist."""
    options = {"model": provider.model.reference, **settings}
    if unknown := options.keys() - DEFAULT_SETTINGS.keys():
        raise UnknownSetting(f"unknown setting {', '.join(sorted(unknown))}; known: {', '.join(DEFAULT_SETTINGS)}")
    price_list = prices or Prices(limited=options.get("budgetUsd") is not None)
    service = stream_reply(lambda model: provider, prices=price_list, clock=clock, jitter=jitter)
    return create_actor(
        streaming_machine.provide(actors={"streamReply": service}),
        input={**options, "sessionId": session_id, "messages": [message_to_json(message) for message in messages]},
        clock=clock,
    )
