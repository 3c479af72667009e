"""The parts that all routes of a server share: the app, the settings, tokens, limits, counters, and its end."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Annotated

from starlette.requests import Request
from starlette.types import Scope

from antiphon.app import App
from antiphon.server.audit import AuditLog
from antiphon.server.authentication import Authentication
from antiphon.server.contracts import CONTEXT
from antiphon.server.facades.known_conversations import KnownConversations
from antiphon.server.frames import SharedFrames
from antiphon.server.limits import CallerLimits
from antiphon.server.metrics import ServerMetrics
from antiphon.server.parameters import Depends
from antiphon.server.settings import ServerSettings
from antiphon.server.windows.local import LocalServer

MOST_SEEN = 10_000


class LastOwners:
    """Owners of threads that were used lately, also of deleted ones: their owners are told that they are gone.

    Nothing is allowed by it, because another thread may have the id today.
    """

    def __init__(self, most: int = MOST_SEEN) -> None:
        self._most = most
        self._owners: OrderedDict[str, str] = OrderedDict()

    def note(self, thread: str, owner: str) -> None:
        """Note the owner of a thread."""
        self._owners[thread] = owner
        self._owners.move_to_end(thread)
        if len(self._owners) > self._most:
            self._owners.popitem(last=False)

    def get(self, thread: str) -> str | None:
        """Return the owner of a thread, if it is remembered."""
        return self._owners.get(thread)


@dataclass(frozen=True, slots=True)
class ServerContext:
    """An app, and what its server needs."""

    app: App
    settings: ServerSettings
    local: LocalServer | None = None
    metrics: ServerMetrics = field(default_factory=ServerMetrics)
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    deletions: dict[str, None] = field(default_factory=dict)  # keys of the latest deletions, the oldest first
    conversations: KnownConversations = field(default_factory=KnownConversations)
    frames: SharedFrames = field(default_factory=SharedFrames)
    owners: LastOwners = field(default_factory=LastOwners)
    authentication: Authentication = field(init=False)
    limits: CallerLimits = field(init=False)
    audit: AuditLog = field(init=False)
    backing_up: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        settings = self.settings
        object.__setattr__(self, "authentication", Authentication(settings))
        object.__setattr__(self, "limits", CallerLimits(settings))
        object.__setattr__(self, "audit", AuditLog(settings.folder, settings.audit_bytes, settings.audit_files))


def note_context(scope: Scope, context: ServerContext) -> None:
    """Note the context of the server in the scope of a request."""
    scope[CONTEXT] = context


async def find_context(request: Request) -> ServerContext:
    """Return the context of the server that answers a request."""
    context: ServerContext = request.scope[CONTEXT]
    return context


Context = Annotated[ServerContext, Depends(find_context)]
