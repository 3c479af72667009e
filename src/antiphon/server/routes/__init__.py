"""The routes of the server: each calls one method of the app; those of facades speak other protocols.

Facades are loaded when they are needed: a server that a window has started is waited for, and windows use none of them.
"""

from collections.abc import Mapping
from importlib import import_module

from antiphon.server.contracts import Routes
from antiphon.server.routes import (
    actions,
    actors,
    administration,
    catalog,
    charts,
    local,
    streams,
    system,
    threads,
    web,
    windows,
)

MODULES = (threads, actions, streams, catalog, charts, actors, administration, web, system, local, windows)
OWN_ROUTES: tuple[Routes, ...] = tuple(module.routes for module in MODULES)
FACADES: Mapping[str, tuple[str, ...]] = {
    "v1": ("openai.chat_routes", "openai.response_routes", "openai.model_routes"),
    "agui": ("agui",),
    "vercel": ("vercel",),
    "mcp": ("mcp.http",),
}
"""Modules of the facades, by the first part of their paths."""


def load_facade(name: str) -> list[Routes]:
    """Load the routes of a facade."""
    modules = [import_module(f"antiphon.server.facades.{module}") for module in FACADES[name]]
    return [module.routes for module in modules]


def all_routes() -> list[Routes]:
    """Load all routes."""
    return [*OWN_ROUTES, *(routes for name in FACADES for routes in load_facade(name))]
