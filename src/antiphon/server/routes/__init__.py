"""The routes of the server: each calls one method of the app; those of facades speak other protocols."""

from antiphon.server.contracts import Routes
from antiphon.server.facades import agui, vercel
from antiphon.server.facades.mcp import http as mcp
from antiphon.server.facades.openai import chat_routes, model_routes, response_routes
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
)

OPENAI = (chat_routes, response_routes, model_routes)
INSPECTOR = (charts, actors)
MODULES = (
    threads, actions, streams, catalog, *INSPECTOR, *OPENAI, agui, vercel, mcp, administration, web, system, local,
)  # fmt: skip
ROUTES: tuple[Routes, ...] = tuple(module.routes for module in MODULES)
