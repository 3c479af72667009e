"""Engines of local models: one for each model, shared by all who open it."""

from antiphon.providers.base import Timeouts
from antiphon.providers.clock import ProviderClock
from antiphon.providers.local.engine import Engine
from antiphon.providers.local.model import LocalModel
from antiphon.providers.local.settings import LocalSettings, local_settings
from antiphon.providers.local.sources import PREFIX, absolute_reference, open_source
from antiphon.providers.wire import Transport


class Engines:
    """Engines by model; close it to end their child processes."""

    __slots__ = ("_by_reference", "_settings")

    def __init__(self, settings: LocalSettings | None = None) -> None:
        self._settings = settings or LocalSettings()
        self._by_reference: dict[str, Engine] = {}

    def open(self, model: str) -> Engine:
        """Return the engine of a model, which starts with the first request; all spellings of a path share one."""
        reference = absolute_reference(f"{PREFIX}{model}")
        if reference not in self._by_reference:
            source = open_source(model, self._settings.over(local_settings()))
            self._by_reference[reference] = Engine(source)
        return self._by_reference[reference]

    def open_model(self, model: str, transport: Transport, *, timeouts: Timeouts, clock: ProviderClock) -> LocalModel:
        """Return a model on its engine."""
        return LocalModel(self.open(model), transport, timeouts=timeouts, clock=clock)

    async def release(self, model: str) -> None:
        """End the child process of a model, unless a request uses it; the next request starts it again."""
        engine = self._by_reference.get(absolute_reference(f"{PREFIX}{model}"))
        if engine is not None and not engine.is_used:
            await engine.close()

    async def close(self) -> None:
        """End all child processes."""
        while self._by_reference:
            await self._by_reference.popitem()[1].close()
