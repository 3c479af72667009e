"""Running a server: the socket, uvicorn with its limits, and an end that open streams are told of."""

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from antiphon.app import App
from antiphon.server.application.asgi import build_asgi
from antiphon.server.context import ServerContext
from antiphon.server.protocol import limited_protocol, local_protocol
from antiphon.server.settings import ServerSettings
from antiphon.server.windows.idle import end_when_idle
from antiphon.server.windows.local import LocalServer, open_local_socket, remove_socket

BACKLOG = 2048
SPARE_CONNECTIONS = 256


@dataclass(frozen=True, slots=True)
class Binding:
    """Address of a server, and the files of its certificate if it speaks TLS; port 0 is any free one."""

    host: str = "127.0.0.1"
    port: int = 0
    certificate: Path | None = None
    key: Path | None = None


class HttpServer(uvicorn.Server):
    """Server that tells open streams when it stops."""

    def __init__(self, config: uvicorn.Config, context: ServerContext) -> None:
        super().__init__(config)
        self._context = context
        self._idle: asyncio.Task[None] | None = None
        self.on_start: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self._context.local is not None:
            await self._open_local(self._context.local)
        self.on_start()

    async def _open_local(self, local: LocalServer) -> None:
        """Listen on the socket for windows of this machine, and end when they have left, if they have started this."""
        settings = self._context.settings
        kind = local_protocol(settings)

        def connect() -> asyncio.Protocol:
            return kind(config=self.config, server_state=self.server_state, app_state={})

        listener = open_local_socket(local.path)
        self.servers.append(await asyncio.get_running_loop().create_unix_server(connect, sock=listener))
        local.stop = self._stop
        if local.mode == "local":
            self._idle = asyncio.create_task(end_when_idle(self._context, self._stop))

    def _stop(self) -> None:
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the connections."""
        self._context.closing.set()
        if self._idle is not None:
            self._idle.cancel()
        await super().shutdown(sockets)
        if self._context.local is not None:
            remove_socket(self._context.local.path)
        self._context.audit.close()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at a signal, which is the ordinary end of a server and not raised again."""
        super().handle_exit(sig, frame)
        self._captured_signals.clear()


def open_socket(binding: Binding) -> socket.socket:
    """Return a socket that is bound to an address; raise `OSError` if it cannot be."""
    family = socket.AF_INET6 if ":" in binding.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((binding.host, binding.port))
    except OSError:
        listener.close()
        raise
    return listener


def build_server(app: App, settings: ServerSettings, binding: Binding, local: LocalServer | None = None) -> HttpServer:
    """Return the server of an app."""
    asgi, context = build_asgi(app, settings, local)
    config = uvicorn.Config(
        asgi,
        http=limited_protocol(settings),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        limit_concurrency=settings.most_requests + settings.most_streams + SPARE_CONNECTIONS,
        h11_max_incomplete_event_size=settings.most_header_bytes,
        timeout_keep_alive=settings.keep_alive_s,
        timeout_graceful_shutdown=settings.shutdown_s,
        ssl_certfile=binding.certificate,
        ssl_keyfile=binding.key,
    )
    return HttpServer(config, context)


async def run_server(
    app: App,
    settings: ServerSettings,
    binding: Binding,
    announce: Callable[[str, HttpServer], None],
    local: LocalServer | None = None,
) -> None:
    """Serve an app until the process is told to stop; `announce` gets the address, and the server, once it listens."""
    listener = open_socket(binding)
    try:
        host, port = listener.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        server = build_server(app, settings, binding, local)
        server.on_start = lambda: announce(f"{settings.scheme}://{name}:{port}/", server)
        await server.serve(sockets=[listener])
    finally:
        listener.close()


async def run_local_server(
    app: App, settings: ServerSettings, local: LocalServer, announce: Callable[[HttpServer], None]
) -> None:
    """Serve an app for windows of this machine alone, until they have left or the process is told to stop."""
    server = build_server(app, settings, Binding(), local)
    server.on_start = lambda: announce(server)
    await server.serve(sockets=[])
