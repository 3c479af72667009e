"""Threads that windows work on: their keys and models are used for them, until they are deleted."""

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.histories import HistoryIds, is_continued
from antiphon.server.access import SAFE
from antiphon.server.context import ServerContext
from antiphon.server.models import WindowModels
from antiphon.server.windows.keys import WINDOW
from antiphon.server.windows.local import LocalServer
from antiphon.server.windows.rules import CHANGING
from antiphon.threads.errors import ThreadError
from antiphon.threads.requests import PROVIDER_ERROR

WAITING = "waiting"
PAGE = 100


def join_thread(context: ServerContext, thread: str) -> None:
    """Note that the window of this request, if it is of one, works on a thread, so that its keys are used for it."""
    if context.local is not None:
        context.local.windows.join(WINDOW.get(), thread)


async def join_changed_thread(context: ServerContext, method: str, path: str) -> None:
    """Note that a window works on the thread that its request changes, and trust the models of that thread."""
    parts = path.strip("/").split("/")
    if method in SAFE or len(parts) < 3 or parts[0] not in CHANGING or context.local is None:
        return
    join_thread(context, parts[1])
    await _trust_models(context, parts[1])


async def continue_waiting(context: ServerContext, local: LocalServer, variables: Collection[str]) -> None:
    """Continue the threads that wait for a key which the window of this request has given.

    Threads of users, and those that were continued over TCP, are not continued with the keys of a window. A server for
    windows alone has no such threads, so that it also continues those that no window has joined since it has started.
    """
    cursor: str | None = None
    while views := await context.app.library.latest(PAGE, status=WAITING, owner="", archived=None, after=cursor):
        cursor = views[-1].cursor
        for view in views:
            if local.mode == "local" or local.windows.has_joined(view.id):
                with suppress(ThreadError, RuntimeFault):  # it was continued by somebody else, or cannot be
                    await _continue(context, view.id, variables)


async def _continue(context: ServerContext, thread: str, variables: Collection[str]) -> None:
    for request in await context.app.threads.requests(thread):
        if request.reason == PROVIDER_ERROR and any(variable in (request.text or "") for variable in variables):
            join_thread(context, thread)
            await _trust_models(context, thread)
            await context.app.threads.answer(thread, request=request.id)


async def _trust_models(context: ServerContext, thread: str) -> None:
    """Let a thread use the models that it was created with."""
    if not isinstance(context.app.models, WindowModels):
        return
    with suppress(RuntimeFault):  # the route says that there is no such thread
        origin = await context.app.runtime.origin(thread)
        if not is_continued(HistoryIds(origin.history).current):
            trust_models(context, created_with((origin.input or {}).get("config") or {}))


def trust_models(context: ServerContext, references: Iterable[str]) -> None:
    """Let threads use models that a person in a window has chosen."""
    if isinstance(context.app.models, WindowModels):
        context.app.models.trust(references)


def created_with(config: Mapping[str, Any]) -> list[str]:
    """Return the models that were checked when a thread was created with its settings."""
    agents = config.get("agents") or {}
    users = [config, config.get("arbiter"), config.get("judge"), *agents.values(), *(config.get("participants") or ())]
    settings = [user for user in users if isinstance(user, Mapping)]
    names = [name for user in settings for name in (user.get("model"), *(user.get("fallback") or ()))]
    return [name for name in names if isinstance(name, str)]


def forget_thread(context: ServerContext, thread: str) -> None:
    """Forget the windows and the folder of a thread that was deleted: another one may get its id."""
    if context.local is not None:
        context.local.windows.forget(thread)
        context.local.folders.forget(thread)
