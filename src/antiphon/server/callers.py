"""Callers: the user that a request comes from, and the threads that belong to that user."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from antiphon.server.context import ServerContext
from antiphon.threads.errors import UnknownThread

CALLER = "antiphon.caller"  # key of the caller in the scope of a request


@dataclass(frozen=True, slots=True)
class Caller:
    """User that a request comes from; the operator has no name and may use every thread."""

    user: str = ""

    @property
    def is_operator(self) -> bool:
        """True for the holder of the server's own token."""
        return not self.user


OPERATOR = Caller()


async def find_caller(request: Request) -> Caller:
    """Return the caller of a request, which the guard has authenticated."""
    caller: Caller = request.scope[CALLER]
    return caller


RequestCaller = Annotated[Caller, Depends(find_caller)]


async def check_owner(context: ServerContext, caller: Caller, thread: str) -> None:
    """Raise `UnknownThread` if a thread does not exist or belongs to another user."""
    owner = (await context.app.threads.state(thread)).get("owner") or ""
    if not caller.is_operator and owner != caller.user:
        raise UnknownThread(f"there is no thread {thread!r}")
