"""llama.cpp's own server keeps the contract, and answers back to back, at once, and after streams that were cut off."""

from contextlib import asynccontextmanager

import pytest

from antiphon.providers import Models
from antiphon.testing.contracts.providers import ProviderContract
from tests.servers.behaviour import ServerBehaviour
from tests.servers.processes import llama
from tests.servers.scenes import Asked


def reference(server):
    return f"openai+{server.address}/v1:smollm2"


class OnLlama:
    @pytest.fixture(autouse=True)
    def _server(self, llama_server):
        self.server = llama_server


@pytest.mark.servers
class TestContract(OnLlama, ProviderContract):
    @asynccontextmanager
    async def open(self, scene):
        async with Models() as models:
            if scene != "overload":
                yield Asked(models.open(reference(self.server)), scene, lambda: None)
                return
            with llama() as own:
                yield Asked(models.open(reference(own)), scene, own.kill)


@pytest.mark.local
class TestBehaviour(OnLlama, ServerBehaviour):
    @asynccontextmanager
    async def model(self):
        async with Models() as models:
            yield models.open(reference(self.server))
