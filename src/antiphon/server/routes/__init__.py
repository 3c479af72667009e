"""The routes of the server; each calls one method of the app."""

from antiphon.server.contracts import Routes
from antiphon.server.routes import actions, actors, catalog, local, streams, system, threads

ROUTES: tuple[Routes, ...] = tuple(
    module.routes for module in (threads, actions, streams, catalog, actors, system, local)
)
