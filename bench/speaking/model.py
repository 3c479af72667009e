"""A model that speaks chunk by chunk at a pace, and notes when it let go of each."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator
from time import perf_counter

from antiphon.messages import Usage
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta, UsageDelta
from antiphon.providers.references import Reference

POSITIONS = ("for", "against", "neutral", "neutral")
VERDICT = '{{"winner": null, "scores": {{{marks}}}, "criteria": {{{criteria}}}, "reasoning": "All alike."}}'
CRITERIA = ("argument", "evidence", "rebuttal", "clarity")


class Metronome:
    """A debater whose chunks have numbers and come every `pace_ms`, a little more or less."""

    def __init__(self, name: str, chunks: int, pace_ms: float) -> None:
        self.model = Model(f"scripted:{name}", "scripted", name, structured=False)
        self._chunks, self._pace_s = chunks, pace_ms / 1000
        self.let_go: list[list[float]] = []  # when each chunk was, reply by reply

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Speak."""
        dice = random.Random(self.model.name)
        times: list[float] = []
        self.let_go.append(times)
        yield UsageDelta(Usage(100, 0), self.model.name)
        due = perf_counter()
        for number in range(self._chunks):
            # Due times are fixed beforehand: a late chunk delays no other.
            due += self._pace_s * dice.uniform(0.5, 1.5)
            await asyncio.sleep(max(0.0, due - perf_counter()))
            times.append(perf_counter())
            yield TextDelta(f"{number:06d} ")
        yield UsageDelta(Usage(100, self._chunks), self.model.name)
        yield Done("end")


class Bench:
    """The debaters of one debate, by name, and a judge who finds them all alike."""

    def __init__(self, count: int, chunks: int, pace_ms: float) -> None:
        self.debaters = {f"d{place}": Metronome(f"d{place}", chunks, pace_ms) for place in range(count)}

    def open(self, reference: Reference) -> Metronome | Judge:
        """The model of that name."""
        return self.debaters.get(reference.model) or Judge(list(self.debaters))

    def config(self, rounds: int = 1) -> dict[str, object]:
        """A round table of them all."""
        seats = [
            {"id": name, "position": position, "model": {"provider": "scripted", "modelId": name, "maxTokens": 4096}}
            for name, position in zip(self.debaters, POSITIONS, strict=False)
        ]
        judge = {"model": {"provider": "scripted", "modelId": "judge"}}
        return {
            "topic": "Is it worth the wait?",
            "format": "roundtable",
            "maxRounds": rounds,
            "participants": seats,
            "judge": judge,
        }


class Judge:
    """A judge who decides at once."""

    model = Model("scripted:judge", "scripted", "judge", structured=False)

    def __init__(self, names: list[str]) -> None:
        self._marks = ", ".join(f'"{name}": 50' for name in names)

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """A tie."""
        criteria = ", ".join(f'"{name}": {{{self._marks}}}' for name in CRITERIA)
        yield TextDelta(VERDICT.format(marks=self._marks, criteria=criteria))
        yield UsageDelta(Usage(100, 10), "judge")
        yield Done("end")
