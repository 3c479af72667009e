"""How much a run stores: for a turn late in a long run as much as for one early in it."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest

from antiphon.app import App
from antiphon.providers.base import Delta, Done, Model, Request, TextDelta
from antiphon.providers.registry import Models
from antiphon.runtime.records import Commit
from antiphon.stores import rows
from antiphon.stores.memory import MemoryStore
from tests.fixtures.orchestrator import agent

WORDS = "word " * 100
TURNS = 60
PATIENCE_S = 60


class Talker:
    """A model that picks two agents in turn when it is asked as the arbiter, and speaks as either of them."""

    model = Model("scripted:talker", "scripted", "talker")

    def __init__(self) -> None:
        self._picked = 0

    async def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """The next reply."""
        if request.output is None:
            yield TextDelta(WORDS)
        else:
            mode = ("developer", "reviewer")[self._picked % 2]
            self._picked += 1
            yield TextDelta(json.dumps({"type": "SELECT_MODE", "mode": mode}))
        yield Done("end")


class Scales(MemoryStore):
    """A store that weighs every commit; snapshots are left out, as they come now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.weights: list[int] = []

    async def commit(self, commits: Sequence[Commit], written: Callable[[], None] | None = None) -> None:
        """Weigh, and store."""
        for commit in commits:
            entries = [rows.entry_row(entry)[-1] for entry in commit.entries]
            tasks = [rows.task_row(task)[3] for task in commit.tasks]
            letters = [rows.letter_row(letter)[-1] for letter in commit.letters]
            self.weights.append(sum(map(len, (*entries, *tasks, *letters))))
        await super().commit(commits, written)


def weights_of_a_run() -> list[int]:
    talker, store = Talker(), Scales()

    async def main() -> None:
        models = Models(openers={"scripted": lambda reference: talker})
        async with App(store, models=models) as app, asyncio.timeout(PATIENCE_S):
            settings = {"model": "scripted:talker", "maxIterations": TURNS}
            id = await app.runs.create([agent("developer"), agent("reviewer")], **settings)
            receipt = await app.runs.start(id, "Talk")
            async for _ in app.runs.until_idle(id, receipt.seq - 1):
                pass

    asyncio.run(main())
    return store.weights


@pytest.mark.requirement("S1-98")
def test_a_turn_late_in_a_run_stores_as_much_as_one_early_in_it() -> None:
    """Every transition is stored, and what is stored does not grow with what was said before."""
    weights = weights_of_a_run()
    turns = weights[2:-2]  # without the beginning and the end, which tells the whole history once
    quarter = len(turns) // 4

    assert len(turns) >= 2 * (TURNS - 2)
    assert sum(turns[-quarter:]) <= 1.05 * sum(turns[:quarter])
    assert max(turns) < 8 * len(WORDS)
