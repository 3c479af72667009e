"""The routes of the server: each calls one method of the app; those of facades speak other protocols.

Routes that windows seldom use are loaded when they are needed, because the first window waits for its server.
"""

from collections.abc import Mapping
from importlib import import_module

from antiphon.server.contracts import Routes
from antiphon.server.routes import actions, local, streams, system, threads, windows

THREAD_ROUTES: tuple[Routes, ...] = (threads.routes, actions.routes, streams.routes)
SERVER_ROUTES: tuple[Routes, ...] = (system.routes, local.routes, windows.routes)
WINDOW_ROUTES: tuple[Routes, ...] = (*THREAD_ROUTES, local.routes, windows.routes)
MODULES: Mapping[str, tuple[str, ...]] = {
    "routes.catalog": ("models", "agents", "tools"),
    "routes.charts": ("charts",),
    "routes.actors": ("actors",),
    "routes.web": ("", "new", "chats", "runs", "debates", "inspector", "assets"),
    "facades.openai.chat_routes": ("v1",),
    "facades.openai.response_routes": ("v1",),
    "facades.openai.model_routes": ("v1",),
    "facades.agui": ("agui",),
    "facades.vercel": ("vercel",),
    "facades.mcp.http": ("mcp",),
    "routes.administration": ("audit", "backup"),
}
"""First parts of the paths of other routes, by their modules."""


def load_routes(module: str) -> Routes:
    """Load the routes of a module."""
    routes: Routes = import_module(f"antiphon.server.{module}").routes
    return routes


def all_routes() -> list[Routes]:
    """Load all routes."""
    return [*THREAD_ROUTES, *map(load_routes, MODULES), *SERVER_ROUTES]
