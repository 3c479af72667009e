"""Prices of windows: a thread is priced by the file of the window that worked on it last, if it has one."""

from datetime import datetime

from antiphon.messages import Cost, Usage
from antiphon.providers.base import Model
from antiphon.providers.prices import Price, Prices
from antiphon.runtime.tasks import CURRENT
from antiphon.server.windows.keys import Windows


class WindowPrices(Prices):
    """Price table of the window that works on the thread whose task asks; without one, that of the package."""

    __slots__ = ("_windows",)

    def __init__(self, windows: Windows) -> None:
        super().__init__()
        self._windows = windows

    def _of_thread(self) -> Prices | None:
        task = CURRENT.get()
        return None if task is None else self._windows.prices_of(task.root)

    def cost(
        self,
        model: Model,
        usage: Usage,
        *,
        answered_by: str | None = None,
        tier: str | None = None,
        at: datetime | None = None,
    ) -> Cost | None:
        """Compute the cost of a usage; None if the price is unknown."""
        own = self._of_thread()
        price = super().cost if own is None else own.cost
        return price(model, usage, answered_by=answered_by, tier=tier, at=at)

    def price(self, model: Model) -> Price | None:
        """Return the base price of a model."""
        own = self._of_thread()
        return super().price(model) if own is None else own.price(model)

    def require(self, model: Model, *, limited: bool = False) -> None:
        """Raise `ProviderError` for a model without a price if its cost is limited."""
        own = self._of_thread()
        if own is None:
            super().require(model, limited=limited)
        else:
            own.require(model, limited=limited)
