"""The proxies of the examples for deployment, really run: TLS, the host, streams, and the size of bodies."""

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.fixtures.server import CANARY, PATIENCE_S, LiveServer, live_server
from tests.paths import ROOT

EXAMPLES = ROOT / "examples" / "deploy"
NAME = "chat.example.org"
CADDY = "{{\n\tadmin off\n\tauto_https off\n\tstorage file_system {folder}/storage\n}}\n"
NGINX = (
    "daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
    "http {{\naccess_log off;\nclient_body_temp_path {folder}/body;\nproxy_temp_path {folder}/proxy;\n"
    "fastcgi_temp_path {folder}/f;\nuwsgi_temp_path {folder}/u;\nscgi_temp_path {folder}/s;\n{server}\n}}\n"
)


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def make_certificate(folder: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "1"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)


def caddy(folder: Path, port: int, server: int) -> list[str]:
    """Caddy with the example, on a port of its own and with a certificate of the test."""
    text = (EXAMPLES / "Caddyfile").read_text("utf-8").replace("127.0.0.1:8787", f"127.0.0.1:{server}")
    site = f"https://{NAME}:{port} {{\n\tbind 127.0.0.1\n\ttls {folder}/cert.pem {folder}/key.pem"
    assert f"\n{NAME} {{" in text
    config = CADDY.format(folder=folder) + text.replace(f"\n{NAME} {{", f"\n{site}")
    (folder / "Caddyfile").write_text(config, "utf-8")
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


def nginx(folder: Path, port: int, server: int) -> list[str]:
    """Nginx with the example, on a port of its own and with a certificate of the test."""
    text = (EXAMPLES / "nginx.conf").read_text("utf-8").replace("127.0.0.1:8787", f"127.0.0.1:{server}")
    for old, new in (("443", f"127.0.0.1:{port}"), (f"/etc/ssl/{NAME}.pem", f"{folder}/cert.pem"),
                     (f"/etc/ssl/{NAME}.key", f"{folder}/key.pem")):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, server=text), "utf-8")
    return ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[None]:
    """Run a proxy until the block ends."""
    environ = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
    try:
        due = time.monotonic() + PATIENCE_S
        while not listens(port):
            assert process.poll() is None, (folder / "log").read_text("utf-8")
            assert time.monotonic() < due
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def listens(port: int) -> bool:
    with socket.socket() as connection:
        connection.settimeout(0.05)
        return connection.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=[caddy, nginx], ids=["caddy", "nginx"])
def proxied(request: pytest.FixtureRequest, short_folder: Path) -> Iterator[tuple[LiveServer, httpx2.Client]]:
    """A server behind a proxy, and a client of the proxy that knows its certificate."""
    make_command: Callable[[Path, int, int], list[str]] = request.param
    if shutil.which(make_command.__name__) is None:
        pytest.skip(f"{make_command.__name__} is not installed")
    make_certificate(short_folder)
    port = free_port()
    trust = ssl.create_default_context(cafile=str(short_folder / "cert.pem"))
    with live_server(hosts=(NAME,), is_secure=True) as server:
        command = make_command(short_folder, port, server.port)
        # The name has no address: the proxy is reached by its own, and both TLS and Host have the name.
        headers = {"host": NAME, "authorization": f"Bearer {CANARY}"}
        with (
            running(command, port, short_folder),
            httpx2.Client(
                base_url=f"https://127.0.0.1:{port}", verify=trust, headers=headers, timeout=PATIENCE_S
            ) as client,
        ):
            yield server, client


def test_the_proxy_ends_tls_and_passes_requests_streams_and_the_host(
    proxied: tuple[LiveServer, httpx2.Client],
) -> None:
    server, client = proxied
    more = {"sni_hostname": NAME}
    assert client.get("/readyz", extensions=more).status_code == 200
    foreign = client.get("/readyz", headers={"host": "evil.example"}, extensions=more)
    assert foreign.status_code == 421 or foreign.content == b""  # Caddy has no site of that name
    chat = {"kind": "chat", "model": "scripted:demo"}
    thread = client.post("/threads", json=chat, extensions=more).json()["id"]
    stream = {"accept": "text/event-stream"}

    with client.stream("GET", f"/threads/{thread}/events", headers=stream, extensions=more) as response:
        lines = response.iter_lines()
        first = next(lines)  # while nothing has happened: it was not held back
        client.post(f"/threads/{thread}/messages", json={"text": "Hello"}, extensions=more)
        activity = next(line for line in lines if line.startswith("data:"))

    assert first.startswith("retry:")
    assert '"kind"' in activity
    assert server.wait_until_idle(thread) == "completed"
    assert client.get("/threads", extensions=more).headers["strict-transport-security"]


def test_the_proxy_refuses_bodies_that_the_server_refuses(proxied: tuple[LiveServer, httpx2.Client]) -> None:
    _, client = proxied

    response = client.post("/threads", content=b"x" * (9 * 1024 * 1024), extensions={"sni_hostname": NAME})

    assert response.status_code == 413
