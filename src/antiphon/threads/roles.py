"""Plain functions as judges, arbiters, approvers and summarisers."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from antiphon.tools.functions import run_in_thread

T = TypeVar("T")


async def call_role(function: Callable[..., T | Awaitable[T]], *arguments: Any) -> T:
    """Call a function and await its result; one that is not async runs in a thread."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        result: Any = function(*arguments)
    else:
        result = await run_in_thread(lambda: function(*arguments))
    return await result if inspect.isawaitable(result) else result  # type: ignore[no-any-return]
