"""The ASGI application of a server: all routes behind the guard.

A server that a window has started answers ordinary requests of windows itself (`application/binding.py`), and loads
FastAPI when another request comes, because the first window waits for it.
"""

from starlette.types import ASGIApp

from antiphon.app import App
from antiphon.server.application.binding import DirectRoutes
from antiphon.server.context import ServerContext
from antiphon.server.contracts import Contract
from antiphon.server.guard import Guard
from antiphon.server.routes import WINDOW_ROUTES, all_routes
from antiphon.server.settings import ServerSettings
from antiphon.server.tracing import Tracing
from antiphon.server.windows.local import LocalServer


def contracts() -> list[tuple[str, Contract]]:
    """Return the contracts of all routes, each with its tag."""
    return [(routes.tag, contract) for routes in all_routes() for contract in routes.contracts]


def build_asgi(app: App, settings: ServerSettings, local: LocalServer | None = None) -> tuple[ASGIApp, ServerContext]:
    """Return the ASGI application for an app, which the caller opens and closes, and its context."""
    context = ServerContext(app, settings, local)
    is_complete = local is None or local.mode != "local"

    def load() -> ASGIApp:
        # Imported here because it is slow to load.
        from antiphon.server.application.api import build_api

        return build_api(context, contracts, is_complete=is_complete)

    return Tracing(Guard(load() if is_complete else DirectRoutes(WINDOW_ROUTES, load), context)), context
