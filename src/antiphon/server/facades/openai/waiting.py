"""Waiting for a thread on behalf of a client, until the client goes away or the server stops."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import Request

from antiphon.server.context import ServerContext
from antiphon.server.problems import ProblemError
from antiphon.server.streams import wait_for_disconnect

Result = TypeVar("Result")
STOPPING = "the server is stopping; try again later"


class ClientGone(Exception):
    """The client has closed the connection before there was an answer."""


async def wait_for(context: ServerContext, request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of some work; raise `ClientGone`, or `ProblemError` if the server stops."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(wait_for_disconnect(request.receive))
    closing = asyncio.ensure_future(context.closing.wait())
    try:
        await asyncio.wait([task, gone, closing], return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if closing.done():
            raise ProblemError("stopping", STOPPING)
        raise ClientGone
    finally:
        for other in (task, gone, closing):
            other.cancel()
        await asyncio.gather(task, gone, closing, return_exceptions=True)
