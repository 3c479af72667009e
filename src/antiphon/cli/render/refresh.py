"""Views that are redrawn at regular intervals."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from antiphon.cli.render.plain import View

REFRESH_S = 0.1


@asynccontextmanager
async def refreshed(view: View) -> AsyncIterator[None]:
    """Refresh a view at regular intervals, from its begin to its end."""
    view.begin()
    ticking = asyncio.create_task(_tick(view))
    try:
        yield
    finally:
        ticking.cancel()
        view.end()


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(REFRESH_S)
        view.refresh()
