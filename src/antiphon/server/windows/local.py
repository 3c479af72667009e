"""Windows of this machine: the Unix socket of a server, and what is different for requests over it.

1. The socket can be opened by its user alone, and each connection is checked again by the user of its process.
2. No token is needed. Browsers cannot reach it; a request that a browser has made is refused all the same.
3. A request over the socket is marked in its scope, which no client can write to.
4. The socket is made beside its name and renamed to it, so that a window finds a server that listens or none.
"""

import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.server.access import Headers
from antiphon.server.problems import ProblemError
from antiphon.server.windows.folders import Folders
from antiphon.server.windows.keys import IS_LOCAL, WINDOW, Windows
from antiphon.server.windows.presence import Presence
from antiphon.server.windows.servers import WindowServers

LOCAL = "antiphon.local"  # key in the scope of a request over the socket
HOSTS = ("", "local")
Mode = Literal["local", "serve"]
BACKLOG = 256
LOCAL_PEERCRED = 0x001  # of macOS, in <sys/un.h>
SOL_LOCAL = 0


def _stop_nothing() -> None:
    """Stop no server, because none runs yet."""


@dataclass(slots=True)
class LocalServer:
    """The side of a server that windows of this machine use.

    Its mode is `local` if it was started by a window and ends when it is idle, and `serve` if a person has started it.
    """

    path: Path
    store: Path
    mode: Mode
    folders: Folders
    windows: Windows = field(default_factory=Windows)
    presence: Presence = field(default_factory=Presence)
    started_at: int = field(default_factory=lambda: time.time_ns() // 1_000_000)
    stop: Callable[[], None] = _stop_nothing
    servers: WindowServers = field(init=False)

    def __post_init__(self) -> None:
        self.servers = WindowServers(self.windows)
        self.folders.servers = self.servers


def open_local_socket(path: Path) -> socket.socket:
    """Return a listening socket under a name, in place of one that a former server has left.

    Raise `OSError` if it cannot be opened. Only the process that owns the store may call this.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()
        listener.bind(str(temporary))
        temporary.chmod(0o600)  # before it listens, nobody can connect
        listener.listen(BACKLOG)
        temporary.rename(path)
    except OSError:
        listener.close()
        raise
    return listener


def remove_socket(path: Path) -> None:
    """Remove the name of a socket; the caller still owns the store, so no other server has taken the name."""
    with suppress(OSError):
        if stat.S_ISSOCK(path.lstat().st_mode):
            path.unlink()


def peer_uid(connection: socket.socket) -> int | None:
    """Return the user of the process at the other end of a Unix socket, or None where the system does not say."""
    if sys.platform == "linux":
        size = struct.calcsize("3i")
        _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(uid)
    if sys.platform == "darwin":
        credentials = connection.getsockopt(SOL_LOCAL, LOCAL_PEERCRED, struct.calcsize("2IH16I"))
        return int(struct.unpack("2I", credentials[:8])[1])
    return None


def is_own_peer(uid: int | None) -> bool:
    """Return whether a connection is of the user of this process; where that is not known, it is not."""
    return uid == os.geteuid()


class LocalDoor:
    """The way into an application for requests over the socket: marks them, with their window."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a marked request on."""
        headers = dict(scope.get("headers", ()))
        IS_LOCAL.set(True)
        WINDOW.set(headers.get(b"antiphon-window", b"").decode("latin-1")[:200] or None)
        await self._app({**scope, LOCAL: True}, receive, send)


def is_local(scope: Scope) -> bool:
    """Return whether a request came over the socket."""
    return bool(scope.get(LOCAL, False))


def check_local_headers(headers: Headers) -> None:
    """Raise `ProblemError` for a request over the socket that is addressed elsewhere, or that a browser has made."""
    host = headers.get("host") or ""
    if host.lower() not in HOSTS:
        raise ProblemError("wrong_host", f"this is a socket, not {host[:100]!r}; send the header Host: local")
    if headers.get("origin") is not None or headers.get("sec-fetch-site") is not None:
        raise ProblemError("foreign_origin", "requests of browsers are not answered on this socket")
