"""The server of a store on this machine: its socket, finding it, and starting it.

1. The name of the socket is derived from the path of the store, so that all windows of a store find the same one. It is
   in a folder that only its user can enter.
2. A server listens while it owns the store, so a store has at most one; its locks decide, not the socket. A socket
   that a killed server has left is replaced by that of the next server, which is renamed over it.
3. Windows that start a server at the same time take turns (a lock in the same folder): the first one starts it.
4. The window that starts a server reads its standard output, by which the server says that it listens.
5. The server belongs to no window: it has a session of its own, no terminal, and none of the secrets in the environment
   of the window that started it.
"""

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from antiphon.client.starting import (
    READY,
    LocalServerError,
    ServerFailed,
    StartingServer,
    log_path,
    socket_path,
    spawn_server,
    take_turn,
)
from antiphon.version import VERSION

HOST = "local"
ANSWER_S = 5.0
START_S = 30.0
POLL_S = 0.02
MOST_REPLY = 1_000_000
MOST_TAIL = 4_000
REPORTED = "\nantiphon serve: "  # how a server begins the line of its error
CALLED_WRONGLY = 2  # its exit code for settings that it cannot use


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server that answers, as it describes itself."""

    version: str
    pid: int
    store: str
    started_at: int
    mode: str
    """`local`, which ends by itself, or `serve`."""


async def find_server(store: Path) -> Path | None:
    """Return the socket of the server of a store, if it answers.

    A server of another version ends if it is idle; raise `LocalServerError` if it is in use.
    """
    path = socket_path(store)
    server = await read_server(path)
    if server is None or server.version == VERSION:
        return None if server is None else path
    await _replace(path, server)
    return None


async def read_server(path: Path) -> ServerInfo | None:
    """Return what the server behind a socket says of itself; None if none answers."""
    with suppress(OSError, ValueError, KeyError, TypeError, EOFError, TimeoutError):
        status, body = await request(path, "GET", "/local")
        if status == 200:
            return ServerInfo(body["version"], body["pid"], body["store"], body["startedAt"], body["mode"])
    return None


async def request(path: Path, method: str, route: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
    """Send one request to the server behind a socket; return the status and the JSON of its answer.

    Raise `OSError`, `EOFError`, `ValueError` or `TimeoutError` if no server answers.
    """
    text = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {route} HTTP/1.1", f"Host: {HOST}", "Connection: close", "Accept: application/json"]
    lines += [] if body is None else ["Content-Type: application/json", f"Content-Length: {len(text)}"]
    async with asyncio.timeout(ANSWER_S):
        reader, writer = await asyncio.open_unix_connection(str(path))
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode() + text)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"\r\ncontent-length: *([0-9]+)\r\n", head, re.IGNORECASE)
            size = min(MOST_REPLY, int(length.group(1))) if length is not None else 0
            reply = await reader.readexactly(size)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
    return int(head.split(" ", 2)[1]), json.loads(reply) if reply else None


async def ensure_server(
    store: Path, *, extra_options: Sequence[str] = (), started: StartingServer | None = None
) -> Path:
    """Return the socket of the server of a store; start one if there is none, or wait for the one that was `started`.

    A server of another version is replaced if it is idle. Raise `LocalServerError` if there is no server to use.
    """
    path = socket_path(store)
    try:
        async with asyncio.timeout(START_S):
            if started is not None:
                with started.turn:
                    if await _until_ready(store, started):
                        return path
            while True:
                server = await read_server(path)
                if server is not None and server.version == VERSION:
                    return path
                with take_turn(path) as is_first:
                    if is_first and server is not None:
                        await _replace(path, server)
                    elif is_first and await read_server(path) is None:
                        await _until_ready(store, spawn_server(store, extra_options))
                    else:
                        await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise ServerFailed(
            f"the server of {store} did not answer within {START_S:g} seconds; see {log_path(store)}, "
            "or use --no-server"
        ) from None


async def _replace(path: Path, server: ServerInfo) -> None:
    """Let an idle server of another version end; raise `LocalServerError` if it is in use."""
    try:
        status, _ = await request(path, "POST", "/local/hand-over", {"version": VERSION, "ifIdle": True})
    except (OSError, EOFError, ValueError):
        return  # it has ended by itself
    if status != 202:
        raise LocalServerError(
            f"{server.store} is served by Antiphon {server.version} (process {server.pid}), and this is {VERSION}; "
            f"use that version, or end its server with: kill {server.pid}"
        )
    while await read_server(path) is not None:
        await asyncio.sleep(POLL_S)


async def _until_ready(store: Path, server: StartingServer) -> bool:
    """Wait until a server says that it listens; return False if it ends because another one does.

    Raise `LocalServerError` if it fails to start.
    """
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    loop.add_reader(server.output, is_readable.set)
    try:
        await is_readable.wait()
        if os.read(server.output, len(READY)):
            return True
    finally:
        loop.remove_reader(server.output)
        os.close(server.output)
    while server.process.returncode is None:
        await asyncio.sleep(POLL_S)
    if server.process.returncode:
        raise _start_error(_tail(log_path(store), server.log_offset), server.process.returncode)
    return False


def _start_error(log: str, code: int) -> LocalServerError:
    """Return the error of a server that has ended with an exit code before it listened.

    What the server has reported itself is true for a command in this process, too.
    """
    *_, report = f"\n{log}".split(REPORTED)
    problem = report if REPORTED in f"\n{log}" else f"{log}\nor use --no-server"
    return LocalServerError(problem) if code == CALLED_WRONGLY else ServerFailed(problem)


def _tail(path: Path, offset: int) -> str:
    """Return the end of what was logged after a place."""
    with path.open("rb") as file:
        file.seek(offset)
        text = file.read()[-MOST_TAIL:].decode("utf-8", "replace").strip()
    return text or f"the server did not start; see {path}"
