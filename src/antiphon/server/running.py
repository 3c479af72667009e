"""Running a server: the socket, uvicorn with its limits, and an end that open streams are told of."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import uvicorn

from antiphon.app import App
from antiphon.server.asgi import build_asgi
from antiphon.server.context import ServerContext
from antiphon.server.protocol import limited_protocol
from antiphon.server.settings import ServerSettings

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
        self.on_start: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        self.on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the connections."""
        self._context.closing.set()
        await super().shutdown(sockets)
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


def build_server(app: App, settings: ServerSettings, binding: Binding) -> HttpServer:
    """Return the server of an app."""
    asgi, context = build_asgi(app, settings)
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
    app: App, settings: ServerSettings, binding: Binding, announce: Callable[[str, HttpServer], None]
) -> None:
    """Serve an app until the process is told to stop; `announce` gets the address, and the server, once it listens."""
    listener = open_socket(binding)
    try:
        host, port = listener.getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        server = build_server(app, settings, binding)
        server.on_start = lambda: announce(f"{settings.scheme}://{name}:{port}/", server)
        await server.serve(sockets=[listener])
    finally:
        listener.close()
