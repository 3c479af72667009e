"""Canaries: no token, cookie or key is in a response, a log, an audit line, a metric, an error or a file."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.app import App
from antiphon.server.contracts import Contract
from antiphon.server.logs import JsonFormatter, TextFormatter
from antiphon.server.tokens import SCOPES, TokenFile, session_of
from tests.fixtures.providers import CANARY as KEY
from tests.fixtures.providers import stand
from tests.fixtures.server import CANARY, CONTRACTS, CheckedClient, LiveServer, live_server

STREAMS = ("/events", "/threads/{id}/events")


def visit(client: CheckedClient, contract: Contract, thread: str, body: Any) -> str:
    """The whole response of a route about a thread, by header, by cookie, and by neither."""
    path = contract.path.replace("/charts/{id}", "/charts/thread").replace("{id}", thread).replace("{root}", thread)
    headers = {"accept": "application/json"}
    responses = [client.http.request(contract.method, path, headers=headers, json=body)]
    responses.append(httpx2.request(contract.method, f"{client.server.address}{path}"))
    return "".join(response.text + str(response.headers) for response in responses if path != "/backup")


def session(server: LiveServer, tokens: dict[str, str], model: str) -> list[str]:
    """Visit every route as the operator and as users of all scopes, with good and bad bodies; return what came back."""
    texts = []
    with server.client() as operator:
        thread = operator.talked(model=model, settings={"maxAttempts": 1}, owner="ann")
    for token in tokens.values():
        with CheckedClient(server, {"authorization": f"Bearer {token}"}) as client:
            entry = client.http.get(f"/?token={token}")
            client.http.cookies.clear()
            texts.append(entry.text + entry.headers["location"])
            routes = [each for each in CONTRACTS if each.method != "DELETE" and each.path not in STREAMS]
            for contract in routes:
                for body in (None, {"token": "wrong"}) if contract.method != "GET" else (None,):
                    texts.append(visit(client, contract, thread, body))
            texts.append(client.http.get(f"/threads/{thread}/events", headers={"accept": "application/json"}).text)
            texts.append(client.http.get("/threads", headers={"authorization": f"Bearer {token}x"}).text)
            texts.append(client.http.get(f"/?token={token}x").text)
            texts.append(client.http.get("/metrics").text)
    return texts


@pytest.mark.parametrize("scene", ["text", "401"])
def test_no_secret_leaves_the_server(
    tmp_path: Path, scene: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    folder = tmp_path / "server"
    tokens = {"operator": CANARY}
    for scope in SCOPES:
        tokens[scope] = TokenFile(folder).add(scope, user="ann", scope=scope, expires=None, now=1)[1]
    texts: list[str] = []

    async def main() -> None:
        async with stand() as place:
            model = place.open("openai", scene).model.reference

            def run() -> None:
                with live_server(app=lambda: App(tmp_path / "store.db", models=place.models), folder=folder) as server:
                    texts.extend(session(server, tokens, model))

            await asyncio.to_thread(run)

    asyncio.run(main())
    # The client of this test logs its own requests.
    records = [record for record in caplog.records if not record.name.startswith("http")]
    logged = [form.format(record) for record in records for form in (JsonFormatter(), TextFormatter())]
    stored = [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    everything = "".join([*texts, *logged, *stored, *capfd.readouterr()])
    secrets = [KEY, *tokens.values(), *map(session_of, tokens.values())]
    assert len(texts) > 4 * len(CONTRACTS)
    assert any('"thread": "' in line and '"user": "ann"' in line for line in logged)
    assert '"route": "/threads/{id}/messages"' in "".join(stored)
    assert [secret for secret in secrets if secret in everything] == []
