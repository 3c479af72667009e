"""Access to a server: the token, the cookie, the Host, the Origin, and what is never in a response."""

import asyncio
import logging
import socket
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx2
import pytest

from antiphon.app import App
from tests.fixtures.providers import CANARY as KEY
from tests.fixtures.providers import stand
from tests.fixtures.server import CANARY, CONTRACTS, PATIENCE_S, LiveServer, live_server

PUBLIC = ("/healthz", "/readyz")
CHAT = {"kind": "chat", "model": "scripted:demo"}


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server() as server:
        yield server


def status(server: LiveServer, method: str, path: str, **headers: str) -> tuple[int, str]:
    with httpx2.Client(base_url=server.address, timeout=PATIENCE_S) as client:
        response = client.request(method, path, headers=headers, json=CHAT if method == "POST" else None)
    is_problem = response.headers["content-type"] == "application/problem+json" if response.content else False
    if path.startswith("/v1/"):
        return response.status_code, response.json()["error"]["code"]
    return response.status_code, response.json()["code"] if is_problem else ""


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: f"{contract.method} {contract.path}")
def test_every_route_but_two_needs_the_token(server: LiveServer, contract: object) -> None:
    method, path, *_ = contract  # type: ignore[misc]
    code = "invalid_api_key" if path.startswith("/v1/") else "unauthenticated"
    expected = (200, "") if path in PUBLIC else (401, code)

    assert status(server, method, path.replace("{id}", "x").replace("{root}", "x")) == expected


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", f"Basic {CANARY}", "Bearer x", CANARY, f"Bearer {CANARY}x", f"Bearer {CANARY[:-1]}", "Bearer é"],
)
def test_another_token_is_refused(server: LiveServer, authorization: str) -> None:
    raw = authorization.encode("latin-1").decode("latin-1")
    with httpx2.Client(base_url=server.address) as client:
        response = client.get("/threads", headers=[(b"authorization", raw.encode("latin-1"))])

    assert response.status_code == 401
    assert response.headers["www-authenticate"] == 'Bearer realm="antiphon"'


def test_the_printed_address_leaves_a_cookie_that_scripts_cannot_read(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address) as client:
        response = client.get(f"/?token={CANARY}")
        cookie = response.headers["set-cookie"]
        page = client.get("/")

    assert (response.status_code, response.headers["location"]) == (303, "/")
    assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
    assert CANARY not in cookie
    assert page.status_code == 200
    assert status(server, "GET", "/?token=wrong") == (401, "unauthenticated")
    assert status(server, "GET", f"/?token={CANARY}&token={CANARY}") == (401, "unauthenticated")


@pytest.mark.parametrize(
    ("to", "location"),
    [
        ("/inspector/a?of=shop.charts:order", "/inspector/a?of=shop.charts:order"),
        ("/chats/a%2Fb", "/chats/a%2Fb"),
        ("//elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("/inspector/../threads", "/"),
        ("/inspector/a\r\nset-cookie: x=1", "/"),
        ("/threads", "/"),
    ],
)
def test_the_printed_address_leads_to_addresses_of_the_app_alone(server: LiveServer, to: str, location: str) -> None:
    query = {"token": server.settings.token, "to": to}
    response = httpx2.get(f"{server.address}/", params=query)

    assert (response.status_code, response.headers["location"]) == (303, location)


@pytest.mark.parametrize(
    ("address", "location"),
    [
        ("/chats/a-b?branch=a+b&token=", "/chats/a-b?branch=a+b"),
        ("/inspector/a?actor=chat&step=3&token=", "/inspector/a?actor=chat&step=3"),
        ("/runs/a?token=", "/runs/a"),
    ],
)
def test_an_address_of_the_app_with_the_token_leads_to_the_same_without_it(
    server: LiveServer, address: str, location: str
) -> None:
    response = httpx2.get(f"{server.address}{address}{server.settings.token}")

    assert (response.status_code, response.headers["location"]) == (303, location)
    assert "set-cookie" in response.headers
    assert httpx2.get(f"{server.address}{address}wrong").status_code == 401
    assert httpx2.get(f"{server.address}/threads?token={server.settings.token}").status_code == 401


def test_a_wrong_bearer_is_refused_though_the_cookie_is_right(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address) as client:
        client.get(f"/?token={CANARY}")

        assert client.get("/threads").status_code == 200
        assert client.get("/threads", headers={"authorization": "Bearer wrong"}).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "localhost.", "", "0.0.0.0", "[::2]", "a b"]
)
def test_another_host_is_refused(server: LiveServer, host: str) -> None:
    expected = (421, "wrong_host")

    assert status(server, "GET", "/threads", host=host, authorization=f"Bearer {CANARY}") == expected
    assert status(server, "GET", "/healthz", host=host) == expected
    assert status(server, "GET", f"/?token={CANARY}", host=host) == expected


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:80", "[::1]:99"])
def test_names_of_the_loopback_are_the_servers(server: LiveServer, host: str) -> None:
    assert status(server, "GET", "/threads", host=host, authorization=f"Bearer {CANARY}") == (200, "")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://127.0.0.1:1"),
        ("origin", "https://127.0.0.1"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/threads"), ("GET", "/events"), ("GET", "/threads/x/events")])
def test_pages_of_other_sites_neither_change_nor_follow(
    server: LiveServer, name: str, value: str, method: str, path: str
) -> None:
    before = server.call(lambda app: app.runtime.roots())
    refused = status(server, method, path, authorization=f"Bearer {CANARY}", **{name: value})

    assert refused == (403, "foreign_origin")
    assert server.call(lambda app: app.runtime.roots()) == before


def test_pages_of_the_server_itself_may(server: LiveServer) -> None:
    own = {"origin": server.address, "sec-fetch-site": "same-origin", "authorization": f"Bearer {CANARY}"}

    assert status(server, "POST", "/threads", **own) == (201, "")


def test_a_person_may_follow_a_link_to_the_first_page_only(server: LiveServer) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "authorization": f"Bearer {CANARY}"}

    assert status(server, "GET", "/", **link) == (200, "")
    with httpx2.Client(base_url=server.address, headers=link) as client:
        response = client.get("/threads")
    assert (response.status_code, "<code>foreign_origin</code>" in response.text) == (403, True)


NAVIGATION = {"sec-fetch-site": "none", "sec-fetch-mode": "navigate", "accept": "text/html,*/*"}


def test_a_browser_that_is_not_signed_in_gets_a_page_that_says_how(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address, headers=NAVIGATION) as client:
        response = client.get("/chats/x")

    assert (response.status_code, response.headers["content-type"]) == (401, "text/html; charset=utf-8")
    assert "<h1>This browser is not signed in</h1>" in response.text
    assert "antiphon serve" in response.text
    assert response.headers["www-authenticate"] == 'Bearer realm="antiphon"'


def test_an_unknown_address_in_a_browser_is_a_page_without_markup_of_the_address(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address, headers={**NAVIGATION, "authorization": f"Bearer {CANARY}"}) as client:
        response = client.get("/assets/<script>alert(1)<")

    assert (response.status_code, response.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>There is nothing at this address</h1>" in response.text
    assert "<script" not in response.text
    assert "style-src 'sha256-" in response.headers["content-security-policy"]


def test_no_response_allows_other_origins(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address, headers={"authorization": f"Bearer {CANARY}"}) as client:
        for response in (client.get("/threads"), client.options("/threads"), client.get("/nothing")):
            assert not [name for name in response.headers if name.startswith("access-control")]
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["content-security-policy"].startswith("default-src 'none'")
            assert response.headers["cache-control"] == "no-store"


def test_a_proxy_or_tls_makes_cookies_secure() -> None:
    with live_server(is_secure=True) as server, httpx2.Client(base_url=f"http://127.0.0.1:{server.port}") as client:
        cookie = client.get(f"/?token={CANARY}").headers["set-cookie"]

    assert cookie.startswith("__Host-antiphon-")
    assert cookie.endswith("; Secure")


def test_tools_of_the_host_are_off(server: LiveServer) -> None:
    with server.client() as client:
        body = {**CHAT, "tools": ["shell"]}

        assert client.get("/tools")["items"] == []
        assert client.problem("POST", "/threads", body) == (403, "not_allowed")
        forged = {**CHAT, "settings": {"options": {"tools": [{"name": "shell", "risk": "read"}]}}}
        assert client.problem("POST", "/threads", forged) == (422, "bad_settings")
        for setting in ({"workspace": "/"}, {"mode": "auto"}, {"mcp": "/etc/passwd"}):
            assert client.problem("POST", "/threads", {"kind": "run", **setting}) == (403, "not_allowed")
        assert client.problem("POST", "/threads", {**CHAT, "mcp": "/etc/passwd"}) == (422, "bad_body")


@pytest.mark.parametrize(
    "model", ["scripted:/etc/passwd", "scripted:../x.toml", "local:/tmp/x.gguf", "openai+http://169.254.1.1/v1:x"]
)
def test_models_of_files_and_addresses_are_refused_also_later(server: LiveServer, model: str) -> None:
    with server.client() as client:
        assert client.problem("POST", "/threads", {"kind": "chat", "model": model}) == (422, "unusable_model")
        thread = client.talked()
        change = {"action": "use_model", "payload": {"model": model}}
        assert client.problem("POST", f"/threads/{thread}/perform", change) == (422, "unusable_model")
        client.post(f"/actors/{thread}/events", {"event": {"type": "use_model", "model": model}, "to": "chat"})
        client.post(f"/threads/{thread}/messages", {"text": "Hello"})
        assert server.wait_until_idle(thread) == "failed"
        assert "--any-model" in client.get(f"/threads/{thread}")["error"]


def test_a_connection_without_headers_is_closed() -> None:
    with live_server(header_s=0.3) as server:
        for start in (b"", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
            with closing(socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)) as connection:
                connection.sendall(start)
                with suppress(ConnectionResetError):
                    assert connection.recv(1000) == b""


def test_a_body_that_does_not_arrive_is_not_waited_for() -> None:
    head = f"POST /threads HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {CANARY}\r\nContent-Length: 9\r\n\r\n"
    with live_server(body_s=0.3) as server:
        connection = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
        connection.sendall(head.encode() + b"{")
        answer = connection.makefile("rb").read()
        connection.close()

    assert answer.startswith(b"HTTP/1.1 408")
    assert b"slow_body" in answer


def test_neither_token_nor_key_is_in_a_response_a_log_or_a_metric(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    texts: list[str] = []

    def exchange(server: LiveServer, reference: str) -> None:
        with server.client() as client:
            client.http.get(f"/?token={CANARY}")
            thread = client.talked(model=reference, settings={"maxAttempts": 1})
            paths = [
                f"/threads/{thread}",
                f"/threads/{thread}/events",
                f"/actors/{thread}/snapshot",
                "/metrics",
                "/docs",
            ]
            paths += ["/openapi.json", "/models", f"/threads/{thread}/export", f"/threads/{thread}/nothing", "/threads"]
            for path in paths:
                response = client.http.get(path)
                texts.append(response.text + str(response.headers))

    async def main() -> None:
        async with stand() as place:
            for scene in ("text", "401"):
                reference = place.open("openai", scene).model.reference

                def make() -> App:
                    return App(tmp_path / "store.db", models=place.models)

                def run() -> None:
                    with live_server(app=make) as server:
                        exchange(server, reference)

                await asyncio.to_thread(run)

    asyncio.run(main())
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    # The client of this test logs its own requests.
    logged = [record.getMessage() for record in caplog.records if not record.name.startswith("http")]
    everything = "".join([*texts, *logged, *capfd.readouterr()])
    assert any("/threads/{id}/events" in line for line in logged)
    assert len(texts) == 20
    assert CANARY not in everything
    assert KEY not in everything
    assert CANARY.encode() not in files


def exchange(server: LiveServer, sent: bytes) -> bytes:
    """All that a server answers on one connection, until it closes it."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as connection:
        connection.sendall(sent)
        return connection.makefile("rb").read()


@pytest.mark.parametrize("socket_of", ["tcp", "unix"])
def test_a_body_with_two_lengths_is_refused_and_the_connection_closed(short_folder: Path, socket_of: str) -> None:
    head = f"Host: localhost\r\nAuthorization: Bearer {CANARY}\r\nContent-Type: application/json\r\n"
    twice = f"POST /threads HTTP/1.1\r\n{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    smuggled = f"GET /threads HTTP/1.1\r\n{head}\r\n"
    with live_server(short_folder / "s.db", socket=short_folder / "s.sock") as server:
        if socket_of == "tcp":
            answer = exchange(server, (twice + smuggled).encode())
        else:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(PATIENCE_S)
                connection.connect(str(short_folder / "s.sock"))
                connection.sendall((twice + smuggled).replace("Host: localhost", "Host: local").encode())
                answer = connection.makefile("rb").read()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in answer.lower()
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "LOCALHOST"])
def test_a_whole_address_as_the_target_is_answered_by_its_host(server: LiveServer, host: str) -> None:
    """RFC 9112, 3.2.2: the host of the target counts, and not the header."""
    target = f"http://{host}:{server.port}/threads?limit=1"
    head = f"Host: evil.example\r\nAuthorization: Bearer {CANARY}\r\nConnection: close\r\n"

    answer = exchange(server, f"GET {target} HTTP/1.1\r\n{head}\r\n".encode())
    root = exchange(server, f"GET http://{host}/healthz HTTP/1.1\r\n{head}\r\n".encode())

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"items"' in answer
    assert root.startswith(b"HTTP/1.1 200 ")


def test_a_wrong_token_is_told_apart_from_none(server: LiveServer) -> None:
    with httpx2.Client(base_url=server.address) as client:
        missing = client.get("/threads").json()["detail"]
        wrong = client.get("/threads", headers={"authorization": "Bearer x"}).json()["detail"]

    assert "open the address" in missing
    assert "open the address" not in wrong
    assert "wrong, was revoked or has expired" in wrong
