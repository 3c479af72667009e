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

import argparse
import asyncio
import fcntl
import hashlib
import json
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from antiphon.paths import user_path
from antiphon.version import VERSION

SWITCH = "ANTIPHON_SERVER"
OFF = ("off", "no", "false", "0")
PACKAGES = ("fastapi", "uvicorn", "msgspec", "yaml")
NOT_INSTALLED = "several windows on one store need FastAPI and uvicorn; run: pip install 'antiphon[server]'"
LONGEST_SOCKET = 103  # bytes of a path that every system takes for a socket
HASH_DIGITS = 24
HOST = "local"
ANSWER_S = 5.0
START_S = 30.0
POLL_S = 0.02
READY = "ready\n"  # what a server prints when it listens
MOST_REPLY = 1_000_000
MOST_LOG = 1_000_000
MOST_TAIL = 4_000
SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
NO_SECRETS = ("ANTIPHON_KEYS",)  # the path of a file


class LocalServerError(Exception):
    """The server of a store cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A server that answers, as it describes itself."""

    version: str
    pid: int
    store: str
    started_at: int
    mode: str
    """`local`, which ends by itself, or `serve`."""


def is_enabled(environ: Mapping[str, str], options: argparse.Namespace | None = None) -> bool:
    """Return whether commands use a server; not by `--no-server` or ANTIPHON_SERVER=off, nor without its packages."""
    if getattr(options, "no_server", False) or environ.get(SWITCH, "").strip().lower() in OFF:
        return False
    return hasattr(socket, "AF_UNIX") and not missing_packages()


def missing_packages() -> list[str]:
    """Return the packages of the extra `server` that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


def socket_path(store: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the socket of a store's server, in a folder that is made private.

    Raise `LocalServerError` if the folder belongs to another user, or if the path is too long for a socket.
    """
    name = f"{store_hash(store)}.sock"
    places = [folder / name for folder in _folders(environ)]
    path = next((place for place in places if len(os.fsencode(place)) <= LONGEST_SOCKET), None)
    if path is None:
        raise LocalServerError(
            f"{places[-1]} is too long for a socket; set XDG_RUNTIME_DIR to a shorter path, or use --no-server"
        )
    _make_private(path.parent)
    return path


def store_hash(store: Path) -> str:
    """Return the digits that name a store, the same for every path that leads to it."""
    return hashlib.sha256(os.fsencode(Path(store).resolve())).hexdigest()[:HASH_DIGITS]


def log_path(store: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the log of a store's server."""
    return user_path("state", f"servers/{store_hash(store)}.log", environment=environ)


def _folders(environ: Mapping[str, str]) -> list[Path]:
    """Return the folders of sockets, the preferred one first."""
    runtime = environ.get("XDG_RUNTIME_DIR")
    shared = Path(environ.get("TMPDIR") or tempfile.gettempdir()) / f"antiphon-{os.getuid()}"
    return [Path(runtime) / "antiphon", shared] if runtime and os.path.isabs(runtime) else [shared]


def _make_private(folder: Path) -> None:
    """Create a folder for this user alone; raise `LocalServerError` if it is not."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = folder.lstat()
        if stat.S_ISDIR(state.st_mode) and state.st_uid == os.getuid() and stat.S_IMODE(state.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise LocalServerError(
            f"cannot create {folder}: {error.strerror}; set XDG_RUNTIME_DIR to a folder of yours, or use --no-server"
        ) from error
    if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.getuid():
        raise LocalServerError(
            f"{folder} belongs to another user; set XDG_RUNTIME_DIR to a folder of yours, or use --no-server"
        )


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


@dataclass(frozen=True, slots=True)
class StartingServer:
    """Server that was started and does not listen yet: its process, its standard output, and the place in its log."""

    process: "subprocess.Popen[bytes]"
    output: int
    log_offset: int


class EarlyStart:
    """Start of a server before the modules that use it are loaded; other windows wait for it."""

    def __init__(self, turn: ExitStack, server: StartingServer) -> None:
        self._turn = turn
        self._server = server

    async def wait(self, store: Path) -> None:
        """Wait until the server listens, and let other windows go on; raise `LocalServerError` if it fails to start."""
        with self._turn:
            await _until_ready(store, self._server)


def start_early(store: Path) -> EarlyStart | None:
    """Start the server of a store if none listens, without waiting for it; None if there is nothing to do.

    Raise `LocalServerError` if it cannot be started.
    """
    path = socket_path(store)
    with ExitStack() as stack:
        if _listens(path) or not stack.enter_context(_turn(path)) or _listens(path):
            return None
        server = _spawn(store, ())
        return EarlyStart(stack.pop_all(), server)


def _listens(path: Path) -> bool:
    """Return whether a process listens on a socket."""
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        connection.connect(str(path))
        return True
    return False


async def ensure_server(store: Path, *, extra_options: Sequence[str] = (), started: EarlyStart | None = None) -> Path:
    """Return the socket of the server of a store; start one if there is none.

    A server of another version is replaced if it is idle. Raise `LocalServerError` if there is no server to use.
    """
    path = socket_path(store)
    try:
        async with asyncio.timeout(START_S):
            if started is not None:
                await started.wait(store)
            while True:
                server = await read_server(path)
                if server is not None and server.version == VERSION:
                    return path
                with _turn(path) as is_first:
                    if is_first and server is not None:
                        await _replace(path, server)
                    elif is_first and await read_server(path) is None:
                        await _until_ready(store, _spawn(store, extra_options))
                    else:
                        await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise LocalServerError(
            f"the server of {store} did not answer within {START_S:g} seconds; see {log_path(store)}, "
            "or use --no-server"
        ) from None


@contextmanager
def _turn(path: Path) -> Iterator[bool]:
    """Yield whether this process may start or replace the server behind a socket; others wait for it."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


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


def _spawn(store: Path, extra_options: Sequence[str]) -> StartingServer:
    """Start the process of a server; raise `LocalServerError` if that is not possible."""
    if missing_packages():
        raise LocalServerError(NOT_INSTALLED)
    log, offset = _open_log(log_path(store))
    output, its_output = os.pipe()
    command = [sys.executable, "-P", "-m", "antiphon", "serve", "--local", "--store", str(Path(store).resolve())]
    try:
        process = subprocess.Popen(
            [*command, *extra_options],
            stdin=subprocess.DEVNULL,
            stdout=its_output,
            stderr=log,
            env=server_environment(os.environ),
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(log)
        os.close(its_output)
    # The process is waited for, so that it is no zombie if it ends before this one.
    threading.Thread(target=process.wait, name="antiphon-server", daemon=True).start()
    return StartingServer(process, output, offset)


async def _until_ready(store: Path, server: StartingServer) -> None:
    """Wait until a server says that it listens, or ends because another one does.

    Raise `LocalServerError` if it fails to start.
    """
    loop = asyncio.get_running_loop()
    is_readable = asyncio.Event()
    loop.add_reader(server.output, is_readable.set)
    try:
        await is_readable.wait()
        if os.read(server.output, len(READY)):
            return
    finally:
        loop.remove_reader(server.output)
        os.close(server.output)
    while server.process.returncode is None:
        await asyncio.sleep(POLL_S)
    if server.process.returncode:
        raise LocalServerError(f"{_tail(log_path(store), server.log_offset)}\nor use --no-server".strip())


def server_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a server: that of the window that starts it, without secrets."""
    kept = {name: value for name, value in environ.items() if name in NO_SECRETS or not SECRET_NAMES.search(name)}
    if "PYTHONPATH" in kept:  # the server has another working folder
        kept["PYTHONPATH"] = os.pathsep.join(os.path.abspath(part) for part in kept["PYTHONPATH"].split(os.pathsep))
    kept.pop(SWITCH, None)
    return kept


def _open_log(path: Path) -> tuple[int, int]:
    """Open the log of a server, for its user alone; return its descriptor and its size. A long one is begun anew."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise LocalServerError(
            f"cannot write {path}: {error.strerror}; set XDG_STATE_HOME to a folder of yours, or use --no-server"
        ) from error
    os.fchmod(descriptor, 0o600)
    if os.fstat(descriptor).st_size > MOST_LOG:
        os.ftruncate(descriptor, 0)
    return descriptor, os.fstat(descriptor).st_size


def _tail(path: Path, offset: int) -> str:
    """Return the end of what was logged after a place."""
    with path.open("rb") as file:
        file.seek(offset)
        text = file.read()[-MOST_TAIL:].decode("utf-8", "replace").strip()
    return text or f"the server did not start; see {path}"
