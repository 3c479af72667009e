"""A client of a server, with the names of an app."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from antiphon.client.connection import HttpConnection
from antiphon.client.errors import ServerUnreachable
from antiphon.client.library import ClientLibrary
from antiphon.client.threads import ClientThreads

TOKEN = "ANTIPHON_TOKEN"  # the variable of the environment
WINDOW = "antiphon-window"  # the header that tells the windows of a local server apart


class Client:
    """Threads of a server at an `http(s)://` address or a Unix socket; an asynchronous context manager.

    The token is that of the argument, or of the environment variable `ANTIPHON_TOKEN`; a socket needs none.
    The client opens only if the server answers; later, a server that is away is waited for, for `patience_s` seconds.
    """

    def __init__(self, address: str | Path, token: str | None = None, *, patience_s: float = 30.0) -> None:
        self.window = secrets.token_hex(8)
        is_local = not str(address).startswith(("http://", "https://"))
        self.connection = HttpConnection(
            address,
            None if is_local else token or os.environ.get(TOKEN) or None,
            patience_s=patience_s,
            headers={WINDOW: self.window} if is_local else {},
        )
        self.threads = ClientThreads(self.connection)
        self.library = ClientLibrary(self.connection)
        self.version = ""  # of the server, once the client is open

    def __repr__(self) -> str:
        return f"Client({self.connection.address!r})"

    async def give_keys(self, environ: Mapping[str, str]) -> None:
        """Give the server of this machine the keys of models in an environment, for the threads of this client."""
        names = (await self.connection.get("/local"))["keys"]
        keys = {name: environ[name] for name in names if environ.get(name)}
        if keys:
            await self.connection.request("PUT", "/local/keys", body={"keys": keys}, is_repeatable=True)

    async def __aenter__(self) -> Self:
        try:
            self.version = await self._read_version()
        except BaseException:
            await self.connection.close()
            raise
        return self

    async def _read_version(self) -> str:
        """Return the version of the server; raise `ServerUnreachable` if another program answers."""
        ready = await self.connection.request("GET", "/readyz", patience_s=0)
        try:
            return str(ready.json()["version"])
        except (ValueError, KeyError, TypeError) as error:
            raise ServerUnreachable(self.connection.address, "another program answers there") from error

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.connection.close()
