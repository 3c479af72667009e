"""Ollama is found by every form of its address, with and without a key."""

import asyncio
import json

import pytest

from antiphon.providers.catalog import list_models
from antiphon.providers.errors import ProviderError
from antiphon.providers.keys import Keys, Secret
from antiphon.providers.ollama import ollama_address, ollama_models, ollama_url
from antiphon.providers.registry import Models
from tests.fixtures.providers import CANARY, NOWHERE, read, run
from tests.providers.http.raw_server import BODY, END, HEAD

ADDRESSES = {
    "": "http://127.0.0.1:11434",
    "  ": "http://127.0.0.1:11434",
    '"127.0.0.1"': "http://127.0.0.1:11434",
    "'host'": "http://host:11434",
    "0.0.0.0": "http://127.0.0.1:11434",
    "0.0.0.0:80": "http://127.0.0.1:80",
    ":8080": "http://127.0.0.1:8080",
    "host": "http://host:11434",
    "host:1234": "http://host:1234",
    "host:": "http://host:11434",
    "host:port": "http://host:11434",
    "host:99999": "http://host:11434",
    "host/": "http://host:11434",
    "host:1234/path/": "http://host:1234/path",
    "host:1234/v1": "http://host:1234",
    "::1": "http://[::1]:11434",
    "[::1]": "http://[::1]:11434",
    "[::1]:1234": "http://[::1]:1234",
    "::": "http://[::1]:11434",
    "[::]:1234": "http://[::1]:1234",
    "http://host": "http://host:80",
    "HTTP://host:1234": "http://host:1234",
    "https://host": "https://host:443",
    "https://host:1234": "https://host:1234",
    "ollama.com": "https://ollama.com:443",
    "https://host/ollama/": "https://host:443/ollama",
    "https://host/ollama/v1/": "https://host:443/ollama",
    "http://[::1]": "http://[::1]:80",
    "http://0.0.0.0:11434": "http://127.0.0.1:11434",
    "http://:11434": "http://127.0.0.1:11434",
}


@pytest.mark.parametrize(("host", "address"), ADDRESSES.items())
def test_every_form_of_the_address_is_understood(host, address):
    assert ollama_address({"OLLAMA_HOST": host}) == address
    assert ollama_url({"OLLAMA_HOST": host}) == f"{address}/v1"


def test_without_an_address_it_is_this_machine():
    assert ollama_address({}) == "http://127.0.0.1:11434"


@pytest.mark.parametrize(
    "host", ["user:secret@host", "http://user:secret@host:80", "ftp://host", "a b", "host?x", "host#x"]
)
def test_another_text_is_refused_without_being_quoted(host):
    with pytest.raises(ProviderError) as caught:
        ollama_address({"OLLAMA_HOST": host})

    assert caught.value.code == "9001"
    assert "secret" not in str(caught.value)


def test_a_wrong_address_concerns_ollama_alone(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "ftp://host")
    models = Models()

    assert models.open("openai:gpt").model.name == "gpt"
    with pytest.raises(ProviderError):
        models.open("ollama:llama")


def served(tags, path="/api/tags", key=None):
    """Run `use` against an Ollama behind a key."""

    async def answer(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if key is not None and f"authorization: bearer {key}" not in head.lower():
            writer.write(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n")
        elif head.startswith(f"GET {path} "):
            body = tags if isinstance(tags, bytes) else json.dumps(tags).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
        else:
            writer.write(HEAD + BODY + END)
        writer.close()

    return asyncio.start_server(answer, "127.0.0.1", 0)


def asked(server, use, path=""):
    async def work():
        async with await server as running:
            return await use(f"http://127.0.0.1:{running.sockets[0].getsockname()[1]}{path}")

    return run(work())


TAGS = {"models": [{"name": "llama3.2:3b"}]}


def names_of(server, key=None, path=""):
    return asked(server, lambda address: asyncio.to_thread(ollama_models, address, key), path)


def test_ollama_is_asked_what_it_has():
    assert names_of(served(TAGS)) == ["llama3.2:3b"]
    assert names_of(served(TAGS, "/behind/a/path/api/tags"), path="/behind/a/path") == ["llama3.2:3b"]


@pytest.mark.parametrize(
    "tags", [b"", b"{", b"[]", b"null", {"models": 1}, {"models": [{"name": 1}]}, b'{"models": ' + b"[" * 100_000]
)
def test_what_is_no_ollama_does_not_answer(tags):
    with pytest.raises(ProviderError, match="Ollama does not answer at http://127"):
        names_of(served(tags))


def test_no_server_does_not_answer():
    with pytest.raises(ProviderError, match="1001 Ollama does not answer at http://127"):
        ollama_models("http://127.0.0.1:9", None)


def test_an_ollama_behind_a_key_is_listed_and_used(monkeypatch):
    async def use(address):
        monkeypatch.setenv("OLLAMA_HOST", address)
        keys = Keys({"OLLAMA_API_KEY": CANARY}, NOWHERE)
        rows = await asyncio.to_thread(list_models, keys, environment={"OLLAMA_HOST": address})
        async with Models(keys=keys) as models:
            return [row for row in rows if row.reference.startswith("ollama")], await read(models.open("ollama:llama"))

    [row], outcome = asked(served(TAGS, key=CANARY), use)
    assert (row.reference, row.usable) == ("ollama:llama3.2:3b", True)
    assert outcome.text == "Hello"


def test_an_ollama_behind_a_key_says_that_it_is_missing():
    for key in (None, Secret("another-key")):
        with pytest.raises(ProviderError, match="wants a key, or another one: set OLLAMA_API_KEY"):
            names_of(served(TAGS, key=CANARY), key)


def test_a_name_that_repeats_the_key_is_redacted():
    assert names_of(served({"models": [{"name": f"m-{CANARY}"}]}), Secret(CANARY)) == ["m-[key]"]
