"""Starting the server of a store on this machine, and the places of its socket and log.

A window that asks one question starts its server before anything else, so that both load their modules at the same
time; nothing that is slow to load is imported here.
"""

import argparse
import fcntl
import hashlib
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
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from antiphon.paths import user_path

SWITCH = "ANTIPHON_SERVER"
OFF = ("off", "no", "false", "0")
PACKAGES = ("fastapi", "uvicorn", "msgspec", "yaml")
NOT_INSTALLED = (
    "several terminals on one store need the extra server; run: pip install 'antiphon[server]', "
    "then leave the first terminal's command and start both again"
)
LONGEST_SOCKET = 103  # bytes of a path that every system takes for a socket
HASH_DIGITS = 24
READY = "ready\n"  # what a server prints when it listens
MOST_LOG = 1_000_000
SECRET_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL", re.IGNORECASE)
NO_SECRETS = ("ANTIPHON_KEYS",)  # the path of a file


class LocalServerError(Exception):
    """The server of a store cannot be used; the message says what to do."""


class ServerFailed(LocalServerError):
    """The server of a store has failed to start, or does not answer: nobody has called anything wrongly."""


@dataclass(frozen=True, slots=True)
class StartingServer:
    """Server that was started and does not listen yet: its process, its standard output, and the place in its log.

    Other windows wait until the `turn` of the window that has started it is over.
    """

    process: "subprocess.Popen[bytes]"
    output: int
    log_offset: int
    turn: ExitStack = field(default_factory=ExitStack)


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


def start_early(store: Path) -> StartingServer | None:
    """Start the server of a store if none listens, without waiting for it; None if there is nothing to do.

    Raise `LocalServerError` if it cannot be started.
    """
    path = socket_path(store)
    with ExitStack() as stack:
        if _listens(path) or not stack.enter_context(take_turn(path)) or _listens(path):
            return None
        server = spawn_server(store)
        return replace(server, turn=stack.pop_all())


def _listens(path: Path) -> bool:
    """Return whether a process listens on a socket."""
    with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
        connection.connect(str(path))
        return True
    return False


@contextmanager
def take_turn(path: Path) -> Iterator[bool]:
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


def spawn_server(store: Path, extra_options: Sequence[str] = ()) -> StartingServer:
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
