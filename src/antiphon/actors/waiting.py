"""Waiting for a snapshot or the output of an actor."""

from collections.abc import Awaitable, Callable
from typing import Any

from antiphon.actors.errors import WaitError
from antiphon.actors.loop import require_loop, running_loop


async def wait_for(actor: Any, predicate: Callable[[Any], bool], *, timeout: float | None = None) -> Any:
    """Return the first snapshot, from the current one on, for which the predicate holds; `timeout` is in seconds."""
    # Imported here because asyncio is slow to load; a caller with an event loop has loaded it already.
    import asyncio

    actor.system.release_held()
    first = actor.get_snapshot()
    if predicate(first):
        return first
    matching: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def look(snapshot: Any) -> None:
        if not matching.done():
            try:
                if predicate(snapshot):
                    _settle(matching, snapshot)
            except Exception as error:
                _fail(matching, error)

    def give_up() -> None:
        _fail(matching, WaitError(f"actor {actor.id!r} ended before the predicate held"))

    subscription = actor.subscribe(look, lambda error: _fail(matching, error), give_up)
    if actor.get_snapshot().status == "stopped":
        give_up()
    elif actor.get_snapshot() is not first:  # changed by another thread before the subscription
        look(actor.get_snapshot())
    try:
        return await asyncio.wait_for(matching, timeout)
    except TimeoutError:
        milliseconds = round((timeout or 0) * 1000)
        raise WaitError(f"the predicate did not hold for actor {actor.id!r} within {milliseconds} ms") from None
    finally:
        subscription.unsubscribe()


def to_awaitable(actor: Any) -> Awaitable[Any]:
    """Return a future of the actor's output; it raises the actor's error, and is None if the actor is stopped."""
    loop = require_loop("to_awaitable needs a running asyncio event loop")
    actor.system.release_held()
    ended: Any = loop.create_future()

    def complete() -> None:
        _settle(ended, actor.get_snapshot().output)

    actor.subscribe(None, lambda error: _fail(ended, error), complete)
    if actor.get_snapshot().status == "stopped":
        complete()
    awaitable: Awaitable[Any] = ended
    return awaitable


def _settle(future: Any, result: Any) -> None:
    _call(future, future.set_result, result)


def _fail(future: Any, error: Any) -> None:
    reason = error if isinstance(error, BaseException) else WaitError(f"the actor failed: {error!r}")
    _call(future, future.set_exception, reason)


def _call(future: Any, end: Callable[[Any], None], value: Any) -> None:
    """End a future in its own event loop: a shared actor may call its observers in any thread."""
    loop = future.get_loop()
    if running_loop() is not loop:
        loop.call_soon_threadsafe(_call, future, end, value)
    elif not future.done():
        end(value)
