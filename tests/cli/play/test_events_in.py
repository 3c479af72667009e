"""What is typed becomes events."""

import asyncio
import io
import os
import threading

import pytest

from antiphon import create_machine, from_task
from antiphon.cli.play.events_in import EventParser, InvalidEvent, read_lines

INVOKE = {"src": "load", "id": "l", "onDone": {"actions": "x"}}


def event_parser():
    chart = {"id": "m", "invoke": INVOKE, "on": {"GO": {"actions": "x"}}}
    return EventParser(create_machine(chart, actions={"x": lambda: None}, actors={"load": from_task(lambda: None)}))


@pytest.mark.parametrize(
    ("line", "event"),
    [
        ("GO\n", {"type": "GO"}),
        ('GO {"n": 1}', {"type": "GO", "n": 1}),
        ('{"type": "GO", "n": 1}', {"type": "GO", "n": 1}),
        ("done l", {"type": "xstate.done.actor.l"}),
        ('done l {"output": 2}', {"type": "xstate.done.actor.l", "output": 2}),
        ("something else", {"type": "something else"}),
        ('{"after": 50}', {"after": 50}),
    ],
)
def test_a_line_is_an_event(line, event):
    assert event_parser().parse(line) == event


@pytest.mark.parametrize("line", ["{", 'GO {"n": }', '{"n": 1}', '{"type": 5}', '{"after": -1}', '{"after": true}'])
def test_a_line_that_is_no_event_is_refused(line):
    with pytest.raises(InvalidEvent):
        event_parser().parse(line)


def test_lines_that_come_when_nobody_waits_are_dropped():
    end, beginning = os.pipe()

    async def read_one(source):
        return await anext(read_lines(source))

    with os.fdopen(end) as source, os.fdopen(beginning, "wb", buffering=0) as typed:
        typed.write(b"one\n")
        first = asyncio.run(read_one(source))
        reader = next(thread for thread in threading.enumerate() if thread.name == "keyboard")
        typed.write(b"two\n")
        reader.join(timeout=60)

    assert (first, reader.is_alive()) == ("one\n", False)


def test_lines_come_until_the_file_ends():
    async def read():
        return [line async for line in read_lines(io.StringIO("one\n\n  \ntwo"))]

    assert asyncio.run(read()) == ["one\n", "two"]
