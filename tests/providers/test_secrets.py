"""A key is in the one header that needs it, and in nothing that anyone can see."""

import logging
import traceback

import pytest

from antiphon.providers.catalog import list_models
from antiphon.providers.errors import ProviderError
from antiphon.providers.http.client import HttpTransport
from antiphon.providers.keys import Keys
from antiphon.testing.recorder import Recorder
from tests.fixtures.providers import CANARY, ENVIRONMENT, FORMATS, HELLO, NOWHERE, no_ollama, run, stand

SCENARIOS = ("ok", "401", "429", "500", "drop", "eof", "garbage", "overload", "html", "302")


def everything_about(error):
    """All that a log or a tracker of errors could show, local variables of every frame included."""
    report = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(report.format()) + repr(error) + str(error.to_json()) + str(vars(error))


async def talk(here, format, scenario):
    provider = here.open(format, scenario)
    visible = repr(provider) + repr(provider.model) + repr(provider.stream)
    try:
        async for delta in provider.stream(HELLO):
            visible += repr(delta)
    except ProviderError as error:
        visible += everything_about(error)
    return visible + repr(here.fake.requests) + str([request.to_json() for request in here.fake.requests])


@pytest.mark.parametrize("format", FORMATS)
def test_a_key_is_in_no_output_of_any_kind(format, caplog, tmp_path):
    caplog.set_level(logging.DEBUG)

    async def work():
        visible = ""
        transport = Recorder(HttpTransport(), tmp_path / "recording.jsonl")
        async with stand(transport=transport) as here:
            for scenario in SCENARIOS:
                visible += await talk(here, format, scenario)
        return visible

    visible = run(work())
    assert len(visible) > 1_000
    assert CANARY not in visible
    assert CANARY not in caplog.text
    assert CANARY not in (tmp_path / "recording.jsonl").read_text()


def test_a_server_that_repeats_the_key_does_not_spread_it():
    class Parrot:
        status = 401

        def __init__(self):
            self.headers = {}

        async def chunks(self):
            yield f'{{"error": {{"message": "wrong key: {CANARY}"}}}}'.encode()

        async def close(self):
            pass

    class ToParrot:
        async def send(self, call):
            return Parrot()

        async def close(self):
            pass

    async def work():
        async with stand(transport=ToParrot()) as here:
            with pytest.raises(ProviderError) as caught:
                await anext(here.open("openai", "text").stream(HELLO))
            return caught.value

    error = run(work())
    assert "wrong key: [key]" in str(error)
    assert CANARY not in repr(error) + str(error.args) + str(error.to_json())


def test_the_catalog_shows_no_key():
    listing = repr(list_models(Keys(ENVIRONMENT, NOWHERE), local_models=no_ollama))

    assert "anthropic:" in listing
    assert CANARY not in listing
