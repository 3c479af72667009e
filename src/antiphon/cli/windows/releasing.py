"""Stores that a command needs for itself: the server of this machine hands one over if it is idle."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from antiphon.cli.frame import UsageError
from antiphon.client import local, starting
from antiphon.stores.ownership import owner_of
from antiphon.version import VERSION

ENDING_S = 10.0  # the longest wait for a server that hands the store over
POLL_S = 0.02


def free_store(store: Path) -> Path:
    """Return a store that this process can own: the server of this machine hands it over if it is idle.

    Raise `UsageError` if the server is in use.
    """
    return asyncio.run(release(store))


async def release(store: Path) -> Path:
    """Return a store that this process can own, as `free_store` does."""
    if not starting.is_enabled(os.environ):
        return store
    try:
        path = starting.socket_path(store)
    except starting.LocalServerError:
        return store
    server = await local.read_server(path)
    if server is not None:
        await _hand_over(store, path, server)
    return store


async def _hand_over(store: Path, path: Path, server: local.ServerInfo) -> None:
    is_ending = False
    if server.mode == "local":
        body = {"version": VERSION, "ifIdle": True}
        try:
            is_ending = (await local.request(path, "POST", "/local/hand-over", body))[0] == 202
        except (OSError, EOFError, ValueError, TimeoutError):
            return  # it has ended by itself
    if not is_ending:
        raise UsageError(
            f"{store} is used by a server (process {server.pid}), and this command needs the store for itself; "
            f"wait until its threads and windows are done, or end it with: kill {server.pid}"
        )
    with suppress(TimeoutError):  # the error of the store says then that it is in use
        async with asyncio.timeout(ENDING_S):
            while owner_of(store) == server.pid:
                await asyncio.sleep(POLL_S)
