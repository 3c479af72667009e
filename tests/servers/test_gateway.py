"""A gateway in front of llama.cpp keeps the contract in the formats of OpenAI, Anthropic and Gemini."""

from contextlib import asynccontextmanager

import pytest

from antiphon.providers import Keys, Models
from antiphon.providers.errors import ProviderError
from antiphon.testing.contracts.providers import ProviderContract
from tests.fixtures.providers import NOWHERE
from tests.servers.behaviour import ServerBehaviour
from tests.servers.processes import MASTER_KEY, llama
from tests.servers.scenes import Asked

pytestmark = pytest.mark.servers
PATHS = {"openai": "/v1", "anthropic": "", "google": ""}
# Our format of OpenAI knows its models by name, and what they accept.
MODELS = {"openai": "gpt-4.1", "anthropic": "smollm2", "google": "smollm2"}
KEYS = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), MASTER_KEY)


def key_file(folder, address):
    """A file with the key of a server by its address, as a user would write it."""
    path = folder / "keys.toml"
    path.write_text(f'"{address}" = "{MASTER_KEY}"\n')
    path.chmod(0o600)
    return path


class Formatted(ProviderContract, ServerBehaviour):
    """The gateway in one format; subclasses name it."""

    format = ""

    @pytest.fixture(autouse=True)
    def _servers(self, gateway_server, doomed_port, tmp_path):
        self.folder = tmp_path
        self.gateway = gateway_server
        self.doomed_port = doomed_port

    def reference(self):
        return f"{self.format}:{MODELS[self.format]}"

    def models(self):
        urls = {name: f"{self.gateway.address}{path}" for name, path in PATHS.items()}
        return Models(keys=Keys(KEYS, NOWHERE), base_urls=urls)

    @asynccontextmanager
    async def model(self):
        async with self.models() as models:
            yield models.open(self.reference())

    @asynccontextmanager
    async def open(self, scene):
        async with self.models() as models:
            if scene != "overload":
                yield Asked(models.open(self.reference()), scene, lambda: None)
                return
            with llama(self.doomed_port) as doomed:
                yield Asked(models.open(self.reference().replace(MODELS[self.format], "doomed")), scene, doomed.kill)


class TestOpenAI(Formatted):
    format = "openai"


class TestCompatible(Formatted):
    format = "openai"

    def reference(self):
        return f"openai+{self.gateway.address}/v1:gpt-4.1"

    def models(self):
        return Models(keys=Keys({}, key_file(self.folder, f"{self.gateway.address}/v1")))


class TestAnthropic(Formatted):
    format = "anthropic"

    def test_structured_output_fits_its_schema(self):
        """The gateway drops the schema of this format, so the model answers in words: an error, not a value."""
        with pytest.raises(ProviderError, match="there is no JSON in the reply") as caught:
            super().test_structured_output_fits_its_schema()

        assert caught.value.code == "9006"


class TestGoogle(Formatted):
    format = "google"
