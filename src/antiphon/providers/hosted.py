"""Hosted providers: the wire format and the base URL of each."""

from collections.abc import Mapping

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.anthropic import AnthropicWire
from antiphon.providers.formats.compatible import COMPATIBLE, OLLAMA
from antiphon.providers.formats.google import GoogleWire
from antiphon.providers.formats.mistral import MISTRAL
from antiphon.providers.formats.openai import OPENAI
from antiphon.providers.ollama import ollama_url
from antiphon.providers.references import Reference
from antiphon.providers.wire import Transport, Wire

WIRES: Mapping[str, Wire] = {
    "anthropic": AnthropicWire(),
    "openai": OPENAI,
    "google": GoogleWire(),
    "mistral": MISTRAL,
    "ollama": OLLAMA,
}
BASE_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai/v1",
}
NOT_INSTALLED = "models on servers need the extra `models`, which is not installed: pip install 'antiphon[models]'"


def default_url(provider: str) -> str:
    """Return the base URL of a provider; Ollama alone has an address in the environment."""
    return BASE_URLS.get(provider) or ollama_url()


def open_transport() -> Transport:
    """Open an HTTP transport; raise `ProviderError` if its library is not installed."""
    try:
        # Imported here because it is slow to import and only models on servers need it.
        from antiphon.providers.http.client import HttpTransport
    except ModuleNotFoundError as error:
        raise ProviderError(Code.UNSUPPORTED, NOT_INSTALLED) from error
    return HttpTransport()


def wire_for(reference: Reference) -> Wire:
    """Return the wire format of the server that a reference names."""
    # A server compatible with OpenAI may deviate from it, so its replies are decoded leniently.
    is_compatible = reference.base_url is not None and reference.provider == "openai"
    return COMPATIBLE if is_compatible else WIRES[reference.provider]


def needs_key(wire: Wire) -> bool:
    """Return whether servers of a format require a key."""
    return wire not in (COMPATIBLE, OLLAMA)
