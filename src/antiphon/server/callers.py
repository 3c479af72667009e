"""Callers: the user that a request comes from, and the threads that belong to that user.

An unknown thread and one of another user are the same to a caller: the same answer, after the same look at the index.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Annotated

from starlette.requests import Request

from antiphon.runtime.errors import UnknownRoot
from antiphon.server.authentication import OPERATOR, Caller
from antiphon.server.context import ServerContext, find_context
from antiphon.server.contracts import CALLER
from antiphon.server.parameters import Depends
from antiphon.server.problems import ProblemError
from antiphon.server.windows.rules import check_no_folder, check_remote_change
from antiphon.threads import ThreadChange
from antiphon.threads.errors import UnknownThread

__all__ = ["CALLER", "OPERATOR", "Caller", "RequestCaller", "check_owner", "find_caller", "note_thread"]

THREAD = "antiphon.thread"  # key of the thread that a request is about, for the log and the audit log
FOREIGN = "antiphon.foreign"  # key that says that the thread belongs to another user


async def find_caller(request: Request) -> Caller:
    """Return the caller of a request, which the guard has authenticated."""
    caller: Caller = request.scope[CALLER]
    return caller


RequestCaller = Annotated[Caller, Depends(find_caller)]


def note_thread(request: Request, thread: str) -> None:
    """Name the thread of a request in the log and the audit log."""
    request.scope[THREAD] = thread


async def owners_of(context: ServerContext, threads: Iterable[str]) -> dict[str, str]:
    """Return the owners of those threads that exist, by their ids."""
    rows = await context.app.library.index.get(threads)
    return {id: tree.row.owner for id, tree in rows.items() if tree.machine == "thread"}


async def check_owner(context: ServerContext, caller: Caller, thread: str) -> None:
    """Raise `UnknownThread` if a thread does not exist or belongs to another user.

    Raise `ProblemError` if it belongs to a window of this machine, with tools in a folder.
    """
    if caller.is_operator:
        await context.app.threads.state(thread)
    elif (await owners_of(context, [thread])).get(thread) != caller.user:
        raise UnknownThread(f"there is no thread {thread!r}")
    await check_no_folder(context, thread)


async def admit(request: Request, id: str, unknown: type[UnknownThread] | type[UnknownRoot], noun: str) -> str:
    """Return the id of a thread that a request names; raise the error of an unknown one if it is not the caller's."""
    context = await find_context(request)
    caller = await find_caller(request)
    if caller.is_operator:  # whether there is such a thread is found by the route
        note_thread(request, id)
        return id
    owner = (await owners_of(context, [id])).get(id)
    if owner is not None:
        note_thread(request, id)
        context.owners.note(id, owner)
    if owner != caller.user:
        request.scope[FOREIGN] = owner is not None
        raise unknown(f"there is no {noun} {id!r}")
    await check_remote_change(context, request.method, request.url.path)  # a window may have given it a folder
    return id


async def select_own(context: ServerContext, caller: Caller, threads: Iterable[str]) -> list[str]:
    """Return those of some threads that a caller may follow."""
    if caller.is_operator:
        return list(threads)
    return [id for id, owner in (await owners_of(context, list(threads))).items() if owner == caller.user]


async def own_changes(
    context: ServerContext, caller: Caller, changes: AsyncIterator[ThreadChange], missing: Iterable[str]
) -> AsyncIterator[ThreadChange]:
    """Iterate over those changes that are of a caller's own threads.

    Threads that were named and are not the caller's are reported as removed, whether they exist or not.
    """
    pending = list(missing)
    histories: set[tuple[str, str]] = set()  # those of the caller; a thread that gets the same id has another
    async for change in changes:
        if not change.thread:
            yield change
            for id in pending:
                yield ThreadChange("removed", id)
            pending = []
        elif change.kind == "removed":
            if context.owners.get(change.thread) == caller.user:
                yield change
        else:
            key = (change.thread, change.cursor.rpartition(":")[0])
            if key not in histories or not change.cursor:
                owner = (await owners_of(context, [change.thread])).get(change.thread)
                if owner is not None:
                    context.owners.note(change.thread, owner)
                if owner != caller.user:
                    continue
                histories.add(key)
            yield change


def require_own_name(caller: Caller, owner: str | None) -> str | None:
    """Return the owner of new or listed threads: a user's own name, or for the operator the name in the request.

    Raise `ProblemError` if a user names another.
    """
    if caller.is_operator:
        return owner
    if owner not in (None, caller.user):
        raise ProblemError("not_allowed", "owner is set by the token; leave it out")
    return caller.user
