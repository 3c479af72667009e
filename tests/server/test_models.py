"""Models that clients of a server may name."""

from pathlib import Path

import pytest

from antiphon.app import App
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys
from antiphon.server.models import ServedModels
from antiphon.server.windows.keys import ServedKeys
from tests.fixtures.server import live_server

REFERENCES = ("scripted:/etc/agents.toml", "local:/srv/model.gguf", "openai+http://127.0.0.1:9/v1:model")


@pytest.mark.parametrize("reference", REFERENCES)
def test_a_file_or_an_address_is_opened_neither_for_a_thread_nor_for_a_session(reference: str) -> None:
    models = ServedModels()

    for open_model in (models.open, models.open_unshared):
        with pytest.raises(ProviderError, match="antiphon serve --any-model"):
            open_model(reference)


def test_a_model_is_opened_by_its_name() -> None:
    assert ServedModels().open_unshared("scripted:chat").model.name == "chat"


def test_clients_over_tcp_do_not_learn_where_the_key_file_is(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = short_folder / "private-keys.toml"
    monkeypatch.setenv("ANTIPHON_KEYS", str(path))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    body = {"kind": "chat", "model": "anthropic:claude-sonnet-5-5"}
    keys = ServedKeys(Keys({}, path))

    def app() -> App:
        return App(":memory:", models=ServedModels(keys=keys))

    texts = []
    for content in ("", "not TOML", "anthropic = 3"):
        path.write_text(content, "utf-8")
        path.chmod(0o600)
        with live_server(app=app) as server, server.client() as client:
            texts += [client.http.get("/models").text, client.http.post("/threads", json=body).text]

    assert str(path) not in "".join(texts)
    assert "the key file of the server" in texts[0]


def test_windows_learn_where_the_key_file_is(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTIPHON_KEYS", str(short_folder / "private-keys.toml"))
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with (
        live_server(short_folder / "s.db", socket=short_folder / "s.sock") as server,
        server.window() as window,
        server.client() as client,
    ):
        shown = window.http.get("/models").text
        hidden = client.http.get("/models").text

    assert "private-keys.toml" in shown
    assert "private-keys.toml" not in hidden
