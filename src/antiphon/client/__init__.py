"""Threads of a server, with the names of `app.threads`: over HTTP, or over the socket of a server on this machine."""

from typing import TYPE_CHECKING

from antiphon.lazy import lazy_names

if TYPE_CHECKING:
    from antiphon.client.client import Client
    from antiphon.client.errors import ClientError, NotAuthenticated, ServerUnreachable, UnexpectedProblem
    from antiphon.client.following import ClientUntilIdle
    from antiphon.client.library import ClientLibrary
    from antiphon.client.threads import ClientThreads

__getattr__ = lazy_names(
    __name__,
    {
        "client": ("Client",),
        "errors": (
            "ClientError",
            "NotAuthenticated",
            "UnexpectedProblem",
            "ServerUnreachable",
        ),
        "following": ("ClientUntilIdle",),
        "library": ("ClientLibrary",),
        "threads": ("ClientThreads",),
    },
)

__all__ = [
    "Client",
    "ClientError",
    "ClientLibrary",
    "ClientThreads",
    "ClientUntilIdle",
    "NotAuthenticated",
    "ServerUnreachable",
    "UnexpectedProblem",
]
