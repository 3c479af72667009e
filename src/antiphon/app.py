"""The composition root: a store, models, tools and machines, opened and closed together."""

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Self

from antiphon.agents.service import Runs
from antiphon.chat.service import Threads
from antiphon.composition import compose
from antiphon.debate.service import Debates
from antiphon.providers.prices import Prices
from antiphon.providers.registry import Models
from antiphon.runtime.runtime import Runtime
from antiphon.runtime.store import Store
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads.toolbox import Toolbox


class App:
    """Runs conversations from `async with` until its end."""

    def __init__(
        self,
        store: Path | Store,
        *,
        models: Models | None = None,
        prices: Prices | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        self.models = models or Models()
        self._closing = asyncio.Event()
        opened = SqliteStore(store) if isinstance(store, Path) else store
        machine = compose(self.models.open, prices=prices, toolbox=toolbox, closing=self._closing)
        self.runtime = Runtime(opened, [machine])
        self.threads = Threads(self.runtime)
        self.runs = Runs(self.runtime)
        self.debates = Debates(self.runtime)

    async def __aenter__(self) -> Self:
        await self.runtime.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Requests for permission end with the process that would have made the calls.
        self._closing.set()
        try:
            await self.runtime.stop()
        finally:
            await self.models.close()
