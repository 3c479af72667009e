"""The routes of the server: each calls one method of the app; those of facades speak other protocols."""

from antiphon.server.contracts import Routes
from antiphon.server.facades.openai import chat_routes, model_routes, response_routes
from antiphon.server.routes import actions, actors, catalog, streams, system, threads

ROUTES: tuple[Routes, ...] = (
    *(module.routes for module in (threads, actions, streams, catalog, actors, system)),
    chat_routes.routes,
    response_routes.routes,
    model_routes.routes,
)
