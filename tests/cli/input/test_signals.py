"""Ctrl-C goes to whatever waits now, and the signals that end a command let it clean up first."""

import asyncio
import os
import signal

import pytest

from antiphon.cli.input.lines import TerminalLines
from antiphon.cli.input.signals import Signals
from antiphon.cli.input.waiting import InterruptibleWait, WaitAbandoned


class LimitedLoop(asyncio.SelectorEventLoop):
    """An event loop that handles no signals, as on Windows."""

    def add_signal_handler(self, *arguments):
        raise NotImplementedError

    def remove_signal_handler(self, *arguments):
        raise NotImplementedError


def run(work, loop=asyncio.SelectorEventLoop):
    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(work)


@pytest.mark.parametrize("loop", [asyncio.SelectorEventLoop, LimitedLoop])
def test_a_press_goes_to_the_innermost_handler_and_ends_nothing(loop):
    async def press():
        pressed = []
        done = asyncio.Event()
        with (
            Signals() as signals,
            signals.handled_by(lambda: pressed.append("outer")),
            signals.handled_by(lambda: (pressed.append("inner"), done.set())),
        ):
            os.kill(os.getpid(), signal.SIGINT)
            await done.wait()
        return pressed

    before = signal.getsignal(signal.SIGINT)

    assert run(press(), loop) == ["inner"]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_press_between_prompt_and_work_stops_the_work():
    async def press():
        with Signals() as signals:
            signals.press()
            stopped = asyncio.Event()

            async def stop():
                stopped.set()

            return await InterruptibleWait(signals, TerminalLines(signals), stop).wait(stopped.wait())

    assert run(press()) is True


def test_a_press_before_a_prompt_is_for_nobody():
    async def press():
        signals = Signals()
        pressed = []
        signals.press()
        with signals.handled_by(lambda: pressed.append(1)):
            pass
        with signals.handled_by(lambda: pressed.append(2), takes_early=True):
            pass
        return pressed

    assert run(press()) == []


@pytest.mark.parametrize(("after", "is_abandoned"), [(1.9, False), (2.0, True)])
def test_work_that_does_not_stop_is_abandoned_by_a_later_press(after, is_abandoned):
    clock = [0.0]

    async def work():
        with Signals() as signals:
            ended = asyncio.Event()

            async def stop():
                clock[0] = after
                signals.press()
                asyncio.get_running_loop().call_soon(ended.set)
                await asyncio.Event().wait()

            lines = TerminalLines(signals)
            wait = InterruptibleWait(signals, lines, stop, patience_s=2.0, now=lambda: clock[0])
            signals.press()
            return await wait.wait(ended.wait())

    if is_abandoned:
        with pytest.raises(WaitAbandoned):
            run(work())
    else:
        assert run(work()) is True


def test_a_stop_that_fails_ends_the_wait_with_its_error():
    async def work():
        with Signals() as signals:

            async def stop():
                raise ConnectionError("gone")

            signals.press()
            await InterruptibleWait(signals, TerminalLines(signals), stop).wait(asyncio.Event().wait())

    with pytest.raises(ConnectionError, match="gone"):
        run(work())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_a_command_lets_it_clean_up(number):
    cleaned = []

    async def work():
        with Signals():
            try:
                os.kill(os.getpid(), number)
                await asyncio.Event().wait()
            finally:
                cleaned.append(number)

    with pytest.raises(SystemExit) as ending:
        run(work())

    assert ending.value.code == 128 + number
    assert cleaned == [number]
