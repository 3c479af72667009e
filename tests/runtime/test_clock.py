"""The clock of the runtime never runs backwards or stands still, and a wall clock that jumps holds no timer."""

import asyncio
import time

import pytest

from antiphon import raise_, setup
from antiphon.runtime.clock import SLOWDOWN, SUSTAINED_S, SteadyClock, elapsed_s
from antiphon.runtime.runtime import Runtime
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.simulation.loop import SimulatedLoop

HOUR_S = 3600.0
START_S = 1_000_000.0


class Times:
    """A wall clock that can be set, and a clock that cannot."""

    def __init__(self) -> None:
        self.elapsed_s = 50.0
        self.skew_s = 0.0
        self.clock = SteadyClock(lambda: START_S + self.elapsed_s + self.skew_s, lambda: self.elapsed_s)

    def passed_after(self, seconds: float, readings: int = 100) -> float:
        """Let time pass, reading the clock now and then; return how much has passed by the clock, in seconds."""
        before = self.clock.now()
        latest = before
        for _ in range(readings):
            self.elapsed_s += seconds / readings
            now = self.clock.now()
            assert now >= latest
            latest = now
        return (latest - before) / 1000

    @property
    def error_s(self) -> float:
        """Seconds by which the clock is ahead of the wall clock."""
        return self.clock.now() / 1000 - START_S - self.elapsed_s - self.skew_s


@pytest.fixture
def times() -> Times:
    return Times()


def test_a_clock_that_is_not_disturbed_tells_the_wall_clock_time(times: Times) -> None:
    assert times.passed_after(10.0) == pytest.approx(10.0, abs=0.002)
    assert times.error_s == pytest.approx(0.0, abs=0.002)


@pytest.mark.parametrize("jump_s", [HOUR_S, 86_400.0, 0.5])
def test_a_jump_ahead_that_is_taken_back_changes_nothing(times: Times, jump_s: float) -> None:
    times.skew_s = jump_s
    assert times.passed_after(SUSTAINED_S - 1) == pytest.approx(SUSTAINED_S - 1, abs=0.002)
    times.skew_s = 0.0
    assert times.passed_after(HOUR_S) == pytest.approx(HOUR_S, abs=0.002)


def test_jumps_ahead_that_are_taken_back_do_not_add_up(times: Times) -> None:
    for _ in range(5):
        times.skew_s = HOUR_S
        times.passed_after(SUSTAINED_S / 2)
        times.skew_s = 0.0
        times.passed_after(1.0)

    assert times.error_s == pytest.approx(0.0, abs=0.002)


def test_a_jump_ahead_that_lasts_is_followed(times: Times) -> None:
    times.skew_s = HOUR_S
    times.passed_after(SUSTAINED_S + 2)

    assert times.error_s == pytest.approx(0.0, abs=0.002)


def test_of_a_wall_clock_that_wavers_the_smallest_lead_is_followed(times: Times) -> None:
    times.skew_s = HOUR_S
    times.passed_after(SUSTAINED_S / 2)
    times.skew_s = 1.0
    times.passed_after(SUSTAINED_S / 2 - 1)
    times.skew_s = HOUR_S
    times.passed_after(3.0)

    assert times.error_s == pytest.approx(1.0 - HOUR_S, abs=0.002)


def test_a_clock_that_is_set_back_is_followed_slowly(times: Times) -> None:
    times.skew_s = -60.0
    times.clock.now()
    assert times.passed_after(100.0) == pytest.approx(100.0 * (1 - SLOWDOWN), abs=0.01)
    assert times.error_s == pytest.approx(60.0 - 100.0 * SLOWDOWN, abs=0.01)
    times.passed_after(60.0 / SLOWDOWN)
    assert times.error_s == pytest.approx(0.0, abs=0.002)
    assert times.passed_after(10.0) == pytest.approx(10.0, abs=0.002)


def test_a_jump_ahead_that_was_followed_and_is_taken_back_makes_time_slower_but_does_not_stop_it(times: Times) -> None:
    times.skew_s = HOUR_S
    times.passed_after(SUSTAINED_S + 2)
    times.skew_s = 0.0
    times.clock.now()

    assert times.passed_after(60.0) == pytest.approx(60.0 * (1 - SLOWDOWN), abs=0.01)


def test_time_for_which_the_computer_was_suspended_has_passed(times: Times) -> None:
    before = times.clock.now()
    times.elapsed_s += HOUR_S

    assert times.clock.now() - before == pytest.approx(HOUR_S * 1000, abs=2)


@pytest.mark.skipif(not hasattr(time, "CLOCK_BOOTTIME"), reason="the system has no such clock")
def test_the_clock_of_the_system_counts_suspended_time() -> None:
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    now = elapsed_s()

    assert before <= now <= time.clock_gettime(time.CLOCK_BOOTTIME)


RINGER = setup().create_machine(
    {
        "id": "ringer",
        "initial": "idle",
        "states": {
            "idle": {"on": {"SET": {"actions": raise_({"type": "RING"}, delay=30_000)}, "RING": "rung"}},
            "rung": {},
        },
    }
)


class SkewedWorld:
    """A wall clock that can be set, and one runtime after another on one store."""

    def __init__(self, store: MemoryStore | SqliteStore) -> None:
        self.store = store
        self.skew_s = 0.0

    def runtime(self) -> Runtime:
        """Return a runtime with a clock of its own."""
        loop = asyncio.get_running_loop()
        clock = SteadyClock(lambda: START_S + loop.time() + self.skew_s, loop.time)
        return Runtime(self.store, [RINGER], now=clock.now)


async def is_rung_after(runtime: Runtime, seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return bool((await runtime.snapshot("a"))["value"] == "rung")


def test_a_timer_that_was_set_by_a_clock_that_was_ahead_is_not_held_after_a_restart() -> None:
    async def main() -> tuple[bool, bool]:
        world = SkewedWorld(MemoryStore())
        world.skew_s = HOUR_S
        async with world.runtime() as runtime:
            await runtime.create("ringer", root="a")
            await runtime.send("a", {"type": "SET"})
            await runtime.post("a", {"type": "OTHER"}, delay_ms=10_000)
        world.skew_s = 0.0
        async with world.runtime() as runtime:
            return await is_rung_after(runtime, 25.0), await is_rung_after(runtime, 6.0)

    loop = SimulatedLoop()
    assert loop.run_until_complete(main()) == (False, True)
    loop.dispose()


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S])
def test_a_timer_of_a_process_whose_clock_jumps_fires_after_its_delay(jump_s: float) -> None:
    async def main() -> tuple[bool, bool, bool]:
        world = SkewedWorld(MemoryStore())
        async with world.runtime() as runtime:
            await runtime.create("ringer", root="a")
            await runtime.send("a", {"type": "SET"})
            world.skew_s = jump_s
            early = await is_rung_after(runtime, 15.0)
            world.skew_s = 0.0
            return early, await is_rung_after(runtime, 14.0), await is_rung_after(runtime, 5.0)

    loop = SimulatedLoop()
    assert loop.run_until_complete(main()) == (False, False, True)
    loop.dispose()
