"""The routes of the server; each calls one method of the app."""

from antiphon.server.contracts import Routes
from antiphon.server.facades import agui, vercel
from antiphon.server.facades.mcp import http as mcp
from antiphon.server.routes import actions, actors, administration, catalog, local, streams, system, threads

MODULES = (threads, actions, streams, catalog, actors, agui, vercel, mcp, administration, system, local)
ROUTES: tuple[Routes, ...] = tuple(module.routes for module in MODULES)
