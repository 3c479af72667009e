"""Periodic refresh of views."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from antiphon.cli.render.log_lines import log_lines
from antiphon.cli.render.plain import TextView

REFRESH_S = 0.1


@asynccontextmanager
async def auto_refresh(view: TextView) -> AsyncIterator[None]:
    """Begin a view, refresh it periodically, and end it."""
    view.begin()
    ticker = asyncio.create_task(_tick(view))
    try:
        with log_lines(view):
            yield
    finally:
        ticker.cancel()
        view.end()


async def _tick(view: TextView) -> None:
    while True:
        await asyncio.sleep(REFRESH_S)
        view.refresh()
