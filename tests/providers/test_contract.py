"""Every provider keeps the contract."""

from contextlib import asynccontextmanager

import pytest

from antiphon.providers.scripted import ScriptedModel
from antiphon.testing.contracts.providers import ProviderContract
from tests.fixtures.providers import stand

pytestmark = pytest.mark.requirement("X-1")

SCENES = {
    "ok": {
        "steps": [
            {"thinking": "A question.", "signature": "s"},
            {"text": "I look."},
            {"tool": "get_weather", "arguments": {"city": "Zürich"}},
            {"usage": {"input": 10, "output": 20}},
        ]
    },
    "text": {"steps": [{"text": "Only words."}]},
    "overload": {"steps": [{"text": "I was"}, {"error": "1002"}]},
    "slow": {"steps": [{"text": "word"}, {"delay_ms": 3_600_000}, {"text": "never"}]},
}


class OverHttp(ProviderContract):
    format = ""

    @asynccontextmanager
    async def open(self, scene):
        async with stand() as here:
            yield here.open(self.format, scene)


class TestAnthropic(OverHttp):
    format = "anthropic"


class TestOpenAI(OverHttp):
    format = "openai"


class TestGoogle(OverHttp):
    format = "google"


class TestMistral(OverHttp):
    format = "mistral"


class TestCompatible(OverHttp):
    format = "compatible"


class TestScripted(ProviderContract):
    @asynccontextmanager
    async def open(self, scene):
        yield ScriptedModel({"replies": [SCENES[scene]]})
