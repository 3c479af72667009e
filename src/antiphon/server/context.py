"""The parts that all routes of a server share: the app, the settings, the counters, and whether it is stopping."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from antiphon.app import App
from antiphon.server.local import LocalServer
from antiphon.server.metrics import ServerMetrics
from antiphon.server.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class ServerContext:
    """An app, and what its server needs."""

    app: App
    settings: ServerSettings
    local: LocalServer | None = None
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    closing: asyncio.Event = field(default_factory=asyncio.Event)


async def find_context(request: Request) -> ServerContext:
    """Return the context of the server that answers a request."""
    context: ServerContext = request.app.state.context
    return context


Context = Annotated[ServerContext, Depends(find_context)]
