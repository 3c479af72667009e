"""A gateway in front of llama.cpp keeps the contract in the formats of OpenAI, Anthropic and Gemini."""

from contextlib import asynccontextmanager

import pytest

from antiphon.providers import Keys, Models
from antiphon.testing.contracts.providers import ProviderContract
from tests.fixtures.providers import NOWHERE
from tests.servers.behaviour import ServerBehaviour
from tests.servers.processes import MASTER_KEY, llama
from tests.servers.requests import Asked

pytestmark = pytest.mark.servers
PATHS = {"openai": "/v1", "anthropic": "", "google": ""}
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), MASTER_KEY)


class Formatted(ProviderContract, ServerBehaviour):
    """The gateway in one format; subclasses name it."""

    format = ""

    @pytest.fixture(autouse=True)
    def _servers(self, gateway_server, doomed_port):
        self.gateway = gateway_server
        self.doomed_port = doomed_port

    def models(self):
        urls = {name: f"{self.gateway.address}{path}" for name, path in PATHS.items()}
        return Models(keys=Keys(KEYS, NOWHERE), base_urls=urls)

    @asynccontextmanager
    async def model(self):
        async with self.models() as models:
            yield models.open(f"{self.format}:smollm2")

    @asynccontextmanager
    async def open(self, scene):
        async with self.models() as models:
            if scene != "overload":
                yield Asked(models.open(f"{self.format}:smollm2"), scene, lambda: None)
                return
            with llama(self.doomed_port) as doomed:
                yield Asked(models.open(f"{self.format}:doomed"), scene, doomed.kill)


class TestOpenAI(Formatted):
    format = "openai"


class TestAnthropic(Formatted):
    format = "anthropic"


class TestGoogle(Formatted):
    format = "google"
