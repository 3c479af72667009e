"""CPU time of a playing machine, taken in slices of a few milliseconds with the collector off."""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import process_time

Play = Callable[[int], None]


def time_slice(play: Play, cycles: int) -> float:
    """CPU seconds that so many cycles take."""
    gc.disable()
    began = process_time()
    play(cycles)
    took = process_time() - began
    gc.enable()
    return took


def burst_rate(play: Play, cycles: int, events: int) -> float:
    """Events per second: the middle one of three slices, after one that fills the caches again."""
    play(cycles // 2)
    return cycles * events / sorted(time_slice(play, cycles) for _ in range(3))[1]


def warm_up(play: Play, warm_s: float, slice_s: float) -> int:
    """Play for a while; say how many cycles make a slice."""
    began = process_time()
    cycles = 1
    fastest = time_slice(play, 1)
    while process_time() - began < warm_s:
        took = time_slice(play, cycles)
        fastest = min(fastest, took / cycles)
        if took < slice_s / 2:
            cycles *= 2
    return max(1, round(slice_s / fastest))
