"""A process that is killed in a state of a debate, and the same life without the end: what both do, and when."""

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

from antiphon.app.app import App
from antiphon.app.debates import Debates
from antiphon.providers.base import Delta, Model, Request, TextDelta
from antiphon.providers.errors import Code, ProviderError
from antiphon.providers.models import Models
from antiphon.providers.prices import Prices
from antiphon.providers.scripted import ScriptedModel
from tests.app.debate_stage import CONFIG, PRICES, brief, to_the_end

# Where a process is killed; `opening`, `rebuttal` and `closing` are in the middle of a reply, `judging` of a verdict.
SCENES = ("idle", "initializing", "opening", "rebuttal", "closing", "judging", "paused", "error", "completed")
HALT_AFTER = 3


class Stage:
    """Models that come to a halt once, in a scene; without one they play on."""

    def __init__(self, scene: str | None, arrived: Callable[[], None] = lambda: None) -> None:
        self._scene, self._arrived, self._has_halted = scene, arrived, False
        self.models = Models(openers={"scripted": self._open})

    def halts(self, scene: str) -> bool:
        """Whether this is the place; only once."""
        place = "rebuttal" if self._scene == "paused" else "judging" if self._scene == "error" else self._scene
        if self._has_halted or scene != place:
            return False
        self._has_halted = True
        return True

    def breaks(self) -> bool:
        """Whether a halt is an error."""
        return self._scene == "error"

    def _open(self, reference: Any) -> "Speaker":
        if self._scene == "initializing":
            self._arrived()
            threading.Event().wait()
        return Speaker(self, brief(reference, pace_ms=0))


class Speaker:
    """A script that can halt in the middle of a reply."""

    def __init__(self, stage: Stage, script: ScriptedModel) -> None:
        self._stage, self._script = stage, script
        self.model: Model = script.model

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The reply of the script, or its beginning."""
        is_judge = "the judge of a debate" in request.messages[0].text
        asked = request.messages[-1].text
        scene = "judging" if is_judge else next(one for one in ("opening", "rebuttal", "closing") if one in asked)
        left = HALT_AFTER if self._stage.halts(scene) else None
        if left is not None and self._stage.breaks():
            raise ProviderError(Code.OVERLOADED, "come back later")
        async for delta in self._script.stream(request):
            yield delta
            if left is not None and isinstance(delta, TextDelta):
                left -= 1
                if left == 0:
                    await asyncio.Event().wait()


def opened(path: Path, stage: Stage) -> App:
    """An app with prices on a file."""
    return App(path, models=stage.models, prices=Prices(PRICES))


async def arrive(debates: Debates, id: str, scene: str) -> None:
    """Come to a scene of a debate; everything until there is in the journal."""
    if scene == "idle":
        return
    await debates.start(id)
    phase, words = "opening", 0
    async for one in debates.follow(id):
        phase = one.facts["phase"] if one.kind == "round_started" else phase
        # Words are joined on their way to the journal: they are counted, not events.
        words = 0 if one.kind == "round_started" else words
        words += len(one.facts["text"].split()) if one.kind == "text" else 0
        if _is_there(one, scene, phase, words):
            break
    if scene == "paused":
        await debates.pause(id)


def _is_there(one: Any, scene: str, phase: str, words: int) -> bool:
    match scene:
        case "opening" | "rebuttal" | "closing" | "paused":
            return phase == ("rebuttal" if scene == "paused" else scene) and words >= HALT_AFTER
        case "judging":
            return bool(one.kind == "judging")
        case _:
            status = {"error": "failed", "completed": "completed"}.get(scene)
            return bool(one.kind == "status" and one.facts["status"] == status)


async def go_on(debates: Debates, id: str, scene: str) -> None:
    """What a person does after a scene."""
    if scene == "error":
        await debates.retry(id)
    await to_the_end(debates, id)


async def live(path: Path, scene: str) -> None:
    """Come to a scene, say so, and wait for the end."""
    stage = Stage(scene, lambda: print("here", flush=True))
    async with opened(path, stage) as app:
        await arrive(app.debates, await app.debates.create(CONFIG), scene)
        print("here", flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(live(Path(sys.argv[1]), sys.argv[2]))
