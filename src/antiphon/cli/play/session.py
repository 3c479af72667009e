"""A session: an actor that runs, a view that shows it, and someone who sends it events."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TextIO

from antiphon.chart.explore.labels import value_label
from antiphon.chart.machine import Machine
from antiphon.cli.play.demo import converse
from antiphon.cli.play.events_in import NoEvent, Typist, lines
from antiphon.cli.play.feed import Feed, View
from antiphon.cli.play.scaled_clock import PacedClock

FRAME_S = 0.04


async def play_demo(machine: Machine[Any, Any], clock: PacedClock, view: View, command: str) -> str:
    """Play the demonstration to its end; gives what to say about it."""
    feed = await _play(machine, clock, view, lambda feed: converse(feed.actor, clock.pause))
    context = feed.actor.get_snapshot().context
    hints = {
        "--mermaid": "this chart as a diagram",
        "--plain --speed 20": "every step as a line",
        "--chart FILE": "a chart of yours, by events you type",
    }
    tries = "".join(f"  {command} {options:<20}{what}\n" for options, what in hints.items())
    reply = f"The reply came on attempt {context['attempt']}, in {context['chunks']} chunks."
    return f"\n{reply}\n{_figures(feed)}\n\nWhat to try next:\n{tries}"


async def play_chart(machine: Machine[Any, Any], clock: PacedClock, view: View, source: TextIO) -> str:
    """Play a chart by typed events until they or the machine end; gives what to say about it."""
    typist = Typist(machine)
    feed = await _play(machine, clock, view, lambda feed: _type(feed, typist, clock, view, source))
    snapshot = feed.actor.get_snapshot()
    return f"\nEnded in {value_label(snapshot.value) or machine.id}: {_figures(feed)}\n"


async def _play(
    machine: Machine[Any, Any], clock: PacedClock, view: View, drive: Callable[[Feed], Awaitable[None]]
) -> Feed:
    feed = Feed(machine, clock)
    drawing = asyncio.create_task(_draw(feed, clock, view))
    driving = asyncio.ensure_future(drive(feed))
    try:
        feed.actor.start()
        # Drawing goes on for ever, unless the terminal is gone.
        ended, _ = await asyncio.wait({drawing, driving}, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            task.result()
        _show(feed, clock, view)
    finally:
        drawing.cancel()
        driving.cancel()
        feed.actor.stop()
        view.close()
    return feed


async def _draw(feed: Feed, clock: PacedClock, view: View) -> None:
    while True:
        _show(feed, clock, view)
        await asyncio.sleep(FRAME_S)


def _show(feed: Feed, clock: PacedClock, view: View) -> None:
    for step in feed.take():
        view.show(step)
    view.refresh(clock.now())


async def _type(feed: Feed, typist: Typist, clock: PacedClock, view: View, source: TextIO) -> None:
    typing = asyncio.create_task(_send_typed(feed, typist, clock, view, source))
    ending = asyncio.create_task(feed.ended.wait())
    try:
        await asyncio.wait({typing, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        typing.cancel()
        ending.cancel()
    if typing.done() and not typing.cancelled():
        typing.result()


async def _send_typed(feed: Feed, typist: Typist, clock: PacedClock, view: View, source: TextIO) -> None:
    async for line in lines(source):
        problem = None
        try:
            event = typist.event(line)
        except NoEvent as error:
            problem = str(error)
        else:
            if "type" in event:
                feed.actor.send(event)
            else:
                await clock.pause(event["after"])
        view.typed(problem)


def _figures(feed: Feed) -> str:
    counts = [(feed.steps, "step"), (len(feed.states), "state"), (feed.failures, "failure")]
    listed = ", ".join(f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count)
    return f"{listed}, {feed.last_ms / 1000:.1f} s."
