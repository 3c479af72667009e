"""Words of all streams: how late they are, and whether one is missing or came twice."""

from __future__ import annotations

import asyncio
import re
from statistics import median
from time import monotonic, process_time
from typing import Any

from serving.proc import cpu_s, memory_mb, waited_s

WORD = re.compile(rb"(\d+)@(\d+) ")


class Tally:
    """What all streams have received."""

    def __init__(self, streams: int, words: int, pid: int | None) -> None:
        self.words = words
        self.pid = pid
        self.delays_us: list[int] = []
        self.received = 0
        self.wrong = 0  # words that came twice, late or not at all
        self._waiting = streams
        self._left = streams
        self._marks: list[tuple[float, float, int, int, float, float]] = []
        self.memory_mb = 0.0
        self.over = asyncio.Event()

    def begin(self) -> None:
        """A stream has its first word."""
        self._waiting -= 1
        if self._waiting == 0:
            self._mark()

    def end(self) -> None:
        """A stream has its last word."""
        if len(self._marks) == 1:
            self._mark()
            self.memory_mb = memory_mb(self.pid) if self.pid else 0.0
        self._left -= 1
        if self._left == 0:
            self.over.set()

    def take(self, number: int, delay_us: int, expected: int) -> int:
        """Count a word of a stream; return the number of the next."""
        if number != expected:
            self.wrong += abs(number - expected)
        self.received += 1
        self.delays_us.append(delay_us)
        if number == 0:
            self.begin()
        elif number == self.words - 1:
            self.end()
        return number + 1

    def _mark(self) -> None:
        used, waited = (cpu_s(self.pid), waited_s(self.pid)) if self.pid else (0.0, 0.0)
        self._marks.append((used, process_time(), self.received, len(self.delays_us), waited, monotonic()))

    def figures(self) -> dict[str, Any]:
        """The figures of the time in which all streams ran."""
        if len(self._marks) < 2:
            return {"failed": "the streams did not run together"}
        first, last = self._marks
        words = max(1, last[2] - first[2])
        delays = sorted(self.delays_us[first[3] : last[3]]) or [0]
        return {
            "words": words,
            "cpu_us": (last[0] - first[0]) / words * 1e6,
            "load_cpu_us": (last[1] - first[1]) / words * 1e6,
            "p50_ms": median(delays) / 1000,
            "p95_ms": delays[len(delays) * 95 // 100] / 1000,
            "memory_mb": self.memory_mb,
            "wrong": self.wrong,
            "waited": (last[4] - first[4]) / max(0.001, last[5] - first[5]),
        }
