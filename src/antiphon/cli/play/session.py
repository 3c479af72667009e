"""A session: an actor, the view that shows it, and the source of its events."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TextIO

from antiphon.chart.explore.labels import value_label
from antiphon.chart.machine import Machine
from antiphon.cli.play.demo import converse
from antiphon.cli.play.events_in import EventParser, InvalidEvent, read_lines
from antiphon.cli.play.feed import Feed, StepView
from antiphon.cli.play.scaled_clock import ScaledClock
from antiphon.cli.render.units import plural

FRAME_S = 0.04


async def play_demo(machine: Machine[Any, Any], clock: ScaledClock, view: StepView, command: str) -> str:
    """Play the demo to its end and return a summary."""
    feed = await _play(machine, clock, view, lambda feed: converse(feed.actor, clock.pause))
    context = feed.actor.get_snapshot().context
    hints = {
        "--plain --speed 20": "print every step as a line",
        "--chart FILE": "run your own chart by typing events",
    }
    examples = "".join(f"  {command} {options:<20}{text}\n" for options, text in hints.items())
    reply = f"The reply arrived on attempt {context['attempt']}, in {plural(context['chunks'], 'chunk')}."
    return f"\n{reply}\n{_totals(feed)}\n\nTry next:\n{examples}"


async def play_chart(machine: Machine[Any, Any], clock: ScaledClock, view: StepView, source: TextIO) -> str:
    """Play a chart by typed events until they or the machine end, and return a summary."""
    parser = EventParser(machine)
    feed = await _play(machine, clock, view, lambda feed: _type(feed, parser, clock, view, source))
    snapshot = feed.actor.get_snapshot()
    return f"\nEnded in {value_label(snapshot.value) or machine.id}: {_totals(feed)}\n"


async def _play(
    machine: Machine[Any, Any], clock: ScaledClock, view: StepView, drive: Callable[[Feed], Awaitable[None]]
) -> Feed:
    feed = Feed(machine, clock)
    drawing = asyncio.create_task(_draw(feed, clock, view))
    driving = asyncio.ensure_future(drive(feed))
    try:
        feed.actor.start()
        # Drawing never ends, unless the terminal fails.
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


async def _draw(feed: Feed, clock: ScaledClock, view: StepView) -> None:
    while True:
        _show(feed, clock, view)
        await asyncio.sleep(FRAME_S)


def _show(feed: Feed, clock: ScaledClock, view: StepView) -> None:
    for step in feed.pop_steps():
        view.show(step)
    view.refresh(clock.now())


async def _type(feed: Feed, parser: EventParser, clock: ScaledClock, view: StepView, source: TextIO) -> None:
    typing = asyncio.create_task(_send_typed(feed, parser, clock, view, source))
    ending = asyncio.create_task(feed.ended.wait())
    try:
        await asyncio.wait({typing, ending}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        typing.cancel()
        ending.cancel()
    if typing.done() and not typing.cancelled():
        typing.result()


async def _send_typed(feed: Feed, parser: EventParser, clock: ScaledClock, view: StepView, source: TextIO) -> None:
    async for line in read_lines(source):
        problem = None
        try:
            event = parser.parse(line)
        except InvalidEvent as error:
            problem = str(error)
        else:
            if "type" in event:
                feed.actor.send(event)
            else:
                await clock.pause(event["after"])
        view.on_line(problem)


def _totals(feed: Feed) -> str:
    counts = [(feed.steps, "step"), (len(feed.states), "state"), (feed.failures, "failure")]
    totals = ", ".join(plural(count, noun) for count, noun in counts if count)
    return f"{totals}, {feed.last_ms / 1000:.1f} s."
