"""Windows: a command works on the threads of a store, in its own process or by the server that owns the store.

1. `--server URL` names a server. Otherwise the server of the store on this machine is used, if it runs.
2. A chat, a run or a debate starts that server if there is none; other commands own the store themselves then.
3. `--no-server`, ANTIPHON_SERVER=off, or no packages for a server: everything is done in this process.
"""

import argparse
import os
import stat
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from antiphon.cli.frame import UsageError
from antiphon.cli.options import existing_store
from antiphon.cli.windows.early import STARTED
from antiphon.cli.windows.releasing import release
from antiphon.cli.windows.types import AnyLibrary, Window, load_client
from antiphon.client import local, starting
from antiphon.paths import store_path
from antiphon.runtime.errors import StoreBusy, StoreError

if TYPE_CHECKING:
    from antiphon.app import App
    from antiphon.client.client import Client

PATIENCE_S = 30.0  # the longest wait for a server elsewhere that was lost


@asynccontextmanager
async def open_window(
    options: argparse.Namespace,
    store: Path,
    open_app: Callable[[], AbstractAsyncContextManager["App"]],
    *,
    starts: bool = False,
    releases: bool = False,
    opening: Mapping[str, Any] | None = None,
) -> AsyncIterator[Window]:
    """Open the app in this process, or a client of the server that has the threads; `starts` starts one if needed.

    With `releases`, an idle server of this machine hands the store over to a command with `--no-server`.
    A window with an `opening` brings it to the server of this machine, which does not end while the window is open.
    """
    if releases and options.no_server:
        await release(store)
    async with AsyncExitStack() as stack:
        address = await find_address(options, store, starts=starts)
        window: Window | None = None
        if address is None:
            try:
                window = await stack.enter_async_context(open_app())
            except StoreBusy as error:
                address = await _address_of_owner(options, store, error)
        if address is not None:
            window = await stack.enter_async_context(open_client(options, address, store, opening=opening))
        assert window is not None
        yield window


def open_threads(options: argparse.Namespace, store: Path) -> AbstractAsyncContextManager[Window]:
    """Open a window without tools; it starts no server."""
    # Imported here because a client does not need it.
    from antiphon.app import App

    return open_window(options, store, lambda: App(store))


async def is_from_file(window: Window, store: Path, id: str) -> bool:
    """Return whether a thread was imported or restored; the store is read beside a server that owns it."""
    if not hasattr(window, "connection"):
        return await window.library.is_from_file(id)
    # Imported here because other windows do not need it.
    from antiphon.app import open_library

    async with open_library(store) as library:
        return await library.is_from_file(id)


@asynccontextmanager
async def open_records(options: argparse.Namespace) -> AsyncIterator[AnyLibrary]:
    """Open the library of a server, or that of the store, which is read beside the process that owns it."""
    if options.server is None:
        # Imported here because a client does not need it.
        from antiphon.app import open_library

        async with open_library(existing_store(options)) as library:
            yield library
        return
    async with open_remote(options) as client:
        yield client.library


@asynccontextmanager
async def open_server(options: argparse.Namespace) -> AsyncIterator["Client | None"]:
    """Open a client of the server that has the threads of an existing store; None if there is none."""
    address = await find_address(options, named_store(options))
    if address is None:
        yield None
        return
    async with open_client(options, address, named_store(options)) as client:
        yield client


def named_store(options: argparse.Namespace) -> Path:
    """Return the path of an existing store; with `--server` there need not be one."""
    return store_path() if options.server is not None else existing_store(options)


@asynccontextmanager
async def open_client(
    options: argparse.Namespace, address: str | Path, store: Path, *, opening: Mapping[str, Any] | None = None
) -> AsyncIterator["Client"]:
    """Open a client of a server; one of this machine gets the keys of this environment for its threads."""
    # Imported here because the HTTP library is slow to load.
    from antiphon.client.client import Client
    from antiphon.client.window import WindowClient

    if isinstance(address, Path):
        async with WindowClient(address, store, opening=opening) as window:
            yield window
        return
    async with Client(address, _token(options), patience_s=PATIENCE_S) as client:
        yield client


@asynccontextmanager
async def open_remote(options: argparse.Namespace) -> AsyncIterator["Client"]:
    """Open a client of the server of `--server`."""
    store = named_store(options)
    address = await find_address(options, store)
    assert address is not None
    async with open_client(options, address, store) as client:
        yield client


async def find_address(options: argparse.Namespace, store: Path, *, starts: bool = False) -> str | Path | None:
    """Return the address of the server to use, or None; `UsageError` if it cannot be used, `StoreError` if it fails."""
    address: str | None = getattr(options, "server", None)
    if address is not None:
        if not address.startswith(("http://", "https://")):
            raise UsageError(f"--server is {address!r}; it must be an address like https://host:8787")
        if set("?#@") & set(address):  # it may have a token, which is not to be printed
            raise UsageError("--server has more than an address; put the token into ANTIPHON_TOKEN or --token-file")
        return address
    if not starting.is_enabled(os.environ, options):
        return None
    if starts:
        load_client()
    try:
        started: starting.StartingServer | None = getattr(options, STARTED, None)
        return await (local.ensure_server(store, started=started) if starts else local.find_server(store))
    except starting.ServerFailed as error:
        raise StoreError(str(error)) from error
    except starting.LocalServerError as error:
        raise UsageError(str(error)) from error


async def _address_of_owner(options: argparse.Namespace, store: Path, error: StoreBusy) -> Path:
    """Return the server that has taken the store meanwhile; raise `StoreBusy` again if there is none."""
    if not getattr(options, "no_server", False) and starting.missing_packages():
        raise StoreBusy(f"{error}; {starting.NOT_INSTALLED}") from error
    try:
        path = await local.find_server(store) if starting.is_enabled(os.environ, options) else None
    except starting.LocalServerError as problem:
        raise UsageError(str(problem)) from error
    if path is None:
        raise error
    return path


def _token(options: argparse.Namespace) -> str | None:
    """Return the token of a file that only its owner can read, or None."""
    path: Path | None = getattr(options, "token_file", None)
    if path is None:
        return None
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if mode & 0o077:
        raise UsageError(f"{path} can be read by others; run: chmod 600 {path}")
    return text
