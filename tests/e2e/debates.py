"""Debates for tests in a browser: scripted models with prices, whose words wait at a gate."""

import asyncio
import json
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

from antiphon.app import App
from antiphon.providers.prices import Price, Prices
from antiphon.providers.registry import Models
from antiphon.providers.scripted import ScriptedModel
from antiphon.threads.kinds import Json
from tests.fixtures.server import LiveServer, live_server

TOPIC = "Should a city close its centre to private cars?"
HOLD = 3_600_000  # milliseconds that stand for the gate
WORDS_BEFORE_GATE = 8
PRICES = {"scripted:*": Price(Decimal(3), Decimal(15))}
SIDES = {"for": "Ada", "against": "Bruno", "neutral": "Clara"}


class Gate:
    """A clock on which words wait, in the middle of each reply, as long as the gate is closed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_open = True
        self._waiting: dict[object, tuple[asyncio.AbstractEventLoop, Callable[[], None]]] = {}

    def now(self) -> float:
        return 0

    def set_timeout(self, callback: Callable[[], None], delay_ms: float) -> object:
        loop = asyncio.get_running_loop()
        handle = object()
        with self._lock:
            if delay_ms == HOLD and not self._is_open:
                self._waiting[handle] = (loop, callback)
                return handle
        loop.call_soon(callback)
        return handle

    def clear_timeout(self, handle: object) -> None:
        with self._lock:
            self._waiting.pop(handle, None)

    def close(self) -> None:
        """Let each reply wait after its first words."""
        with self._lock:
            self._is_open = False

    def let_through(self) -> None:
        """Let the replies that wait now be finished; the next ones wait again."""
        with self._lock:
            waiting = list(self._waiting.values())
        for loop, callback in waiting:
            loop.call_soon_threadsafe(callback)

    def open(self) -> None:
        with self._lock:
            self._is_open = True
        self.let_through()


def gated(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The steps of a text: its first words, the gate, and the rest."""
    if "text" not in step:
        return [step]
    words = step["text"].split(" ")
    first = " ".join(words[:WORDS_BEFORE_GATE])
    rest = " ".join(words[WORDS_BEFORE_GATE:])
    return [{"text": f"{first} "}, {"delay_ms": HOLD}, {"text": rest or " "}]


def script(name: str) -> dict[str, Any]:
    """A script, that of the package or a file; the first text of each reply waits at the gate."""
    path = Path(name)
    packaged = files("antiphon.providers") / "scripts" / f"{name}.toml"
    loaded = tomllib.loads(path.read_text("utf-8") if path.suffix == ".toml" else packaged.read_text("utf-8"))
    for reply in loaded["replies"]:
        steps = list(reply["steps"])
        index = next((place for place, step in enumerate(steps) if "text" in step), None)
        if index is not None:
            steps[index : index + 1] = gated(steps[index])
        reply["steps"] = steps
    return {**loaded, "pace_ms": 0}


class Stage:
    """A server that holds debates, and the gate of their words."""

    def __init__(self, server: LiveServer, gate: Gate) -> None:
        self.server = server
        self.gate = gate

    def create(self, *, is_started: bool = True, **config: Any) -> str:
        """Create a debate, by default of one round between two debaters, and start it."""
        settings = {"topic": TOPIC, "maxRounds": 1, **config}
        if "participants" not in settings:
            settings["models"] = ["scripted:debate"]

        async def create(app: App) -> str:
            id = await app.debates.create(settings)
            if is_started:
                await app.debates.start(id)
            return id

        return str(self.server.call(create))

    def read(self, id: str) -> Json:
        async def read(app: App) -> Json:
            return await app.debates.read(id)

        result: Json = self.server.call(read)
        return result


def debaters(*sides: str, model: str = "scripted:debate", **settings: Any) -> list[dict[str, Any]]:
    """Participants whose ids are their sides, as the script of the package names them in its verdict."""
    return [{"id": side, "name": SIDES[side], "position": side, "model": model, **settings} for side in sides]


VERDICT = {
    "reasoning": "Ada named figures in her opening. Bruno was clearer, but in round 1 he left them standing.",
    "criteria": {"evidence": {"for": 82, "against": 64}, "clarity": {"for": 70, "against": 76}},
    "scores": {"for": 78, "against": 71},
    "winner": "for",
    "references": [{"participantId": "for", "phase": "rebuttal", "round": 1}],
}


def judge_script(folder: Path, *before: str) -> dict[str, Any]:
    """A judge that names the turns it refers to; `before` are steps of its script before the verdict."""
    path = folder / "judge.toml"
    steps = ", ".join([*before, f"{{ text = '''{json.dumps(VERDICT)}''' }}"])
    path.write_text(f"[[replies]]\nsteps = [{steps}]\n")
    return {"model": f"scripted:{path}", "evaluationCriteria": ["evidence", "clarity"]}


def make_app(store: Path, gate: Gate) -> App:
    """An app whose scripted models wait at a gate, and have prices."""

    raised: Counter[str] = Counter()

    def open_model(reference: Any) -> ScriptedModel:
        return ScriptedModel(script(reference.model), name=reference.model, clock=gate, raised=raised)

    return App(store, models=Models(openers={"scripted": open_model}), prices=Prices(PRICES))


@contextmanager
def open_stage(store: Path, **settings: Any) -> Iterator[Stage]:
    """Run a server on a store until the block ends; its gate is open."""
    gate = Gate()
    with live_server(app=lambda: make_app(store, gate), retry_ms=100, **settings) as server:
        yield Stage(server, gate)
