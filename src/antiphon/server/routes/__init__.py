"""The routes of the server; each calls one method of the app."""

from antiphon.server.contracts import Routes
from antiphon.server.routes import actions, actors, administration, catalog, streams, system, threads

ROUTES: tuple[Routes, ...] = tuple(
    module.routes for module in (threads, actions, streams, catalog, actors, administration, system)
)
