"""Providers on servers: the wire format and the address of each."""

import os
from collections.abc import Mapping

from antiphon.errors import Code
from antiphon.providers.errors import ProviderError
from antiphon.providers.formats.anthropic import AnthropicWire
from antiphon.providers.formats.compatible import COMPATIBLE
from antiphon.providers.formats.google import GoogleWire
from antiphon.providers.formats.mistral import MISTRAL
from antiphon.providers.formats.openai import OPENAI
from antiphon.providers.references import Reference
from antiphon.providers.wire import Carrier, Wire

WIRES: Mapping[str, Wire] = {
    "anthropic": AnthropicWire(),
    "openai": OPENAI,
    "google": GoogleWire(),
    "mistral": MISTRAL,
    "ollama": COMPATIBLE,
}
BASE_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "mistral": "https://api.mistral.ai/v1",
}


NOT_INSTALLED = "models on servers are not installed: pip install 'antiphon[models]'"


def open_carrier() -> Carrier:
    """Open an HTTP client; the library is an extra, and only a model on a server needs it."""
    try:
        # It takes longer to load than all else.
        from antiphon.providers.http.client import HttpCarrier
    except ModuleNotFoundError as error:
        raise ProviderError(Code.UNSUPPORTED, NOT_INSTALLED) from error
    return HttpCarrier()


def wire_for(reference: Reference) -> Wire:
    """The wire format that the server behind a reference speaks."""
    # Whoever speaks like OpenAI is not OpenAI: it is read leniently.
    is_lookalike = reference.base_url is not None and reference.provider == "openai"
    return COMPATIBLE if is_lookalike else WIRES[reference.provider]


def needs_key(wire: Wire) -> bool:
    """Whether servers that speak a format refuse requests without a key."""
    return wire is not COMPATIBLE


def ollama_url(environment: Mapping[str, str] = os.environ) -> str:
    """Where Ollama listens."""
    host = environment.get("OLLAMA_HOST") or "127.0.0.1:11434"
    address = host if "://" in host else f"http://{host}"
    return f"{address.rstrip('/').replace('://0.0.0.0', '://127.0.0.1')}/v1"
