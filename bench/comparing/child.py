"""One side of a comparison: measures the figure that a line on stdin asks for, and answers with CPU seconds."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from pathlib import Path
from time import process_time
from typing import Any

import antiphon
from comparing import engine, runtime
from comparing.engine import Play, Prepare
from comparing.reference import time_reference

GROUPS: dict[str, dict[str, Prepare]] = {"engine": engine.FIGURES, "runtime": runtime.FIGURES}


async def measure(play: Play, iterations: int, slices: int) -> dict[str, list[float]]:
    """CPU seconds of every slice, of all threads and kernel included, and of the references around the slices."""
    gc.collect()
    await play(iterations)  # the caches were the other side's
    time_reference()
    cpu_s = []
    reference_s = [time_reference()]
    for _ in range(slices):
        began = process_time()
        await play(iterations)
        cpu_s.append(process_time() - began)
        reference_s.append(time_reference())
    return {"cpu_s": cpu_s, "reference_s": reference_s}


async def serve(folder: Path) -> None:
    """Say what is measured here, then measure what each line asks for."""
    figures = {name: prepare for group in GROUPS.values() for name, prepare in group.items()}
    plays: dict[str, Play] = {}

    async def reply(question: Any) -> dict[str, Any]:
        name = question["figure"]
        try:
            if name not in plays:
                plays[name] = await figures[name](folder)
            return await measure(plays[name], question["iterations"], question["slices"])
        except (Exception, SystemExit) as error:  # one figure less; the others are still measured
            return {"problem": f"{type(error).__name__}: {error}"}

    answer({"package": antiphon.__file__, "groups": {group: list(figures) for group, figures in GROUPS.items()}})
    for line in sys.stdin:
        answer(await reply(json.loads(line)))


def bind_to_processor(number: int) -> None:
    """Stay on one of the processors that this process may use, where the system lets us choose."""
    if hasattr(os, "sched_setaffinity"):
        usable = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {usable[number % len(usable)]})


def answer(value: object) -> None:
    """One line to the driver."""
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    bind_to_processor(int(sys.argv[2]))
    asyncio.run(serve(Path(sys.argv[1])))
