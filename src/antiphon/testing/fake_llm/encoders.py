"""The encoders by the name of their format."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.testing.fake_llm.anthropic_encoder import AnthropicEncoder
from antiphon.testing.fake_llm.chat_encoder import ChatEncoder
from antiphon.testing.fake_llm.encoder import Encoder
from antiphon.testing.fake_llm.google_encoder import GoogleEncoder

ENCODERS: Mapping[str, Callable[[str, Mapping[str, Any]], Encoder]] = {
    "anthropic": lambda model, body: AnthropicEncoder(model),
    "openai": lambda model, body: ChatEncoder(model, "openai", usage_requested=_usage_requested(body)),
    "google": lambda model, body: GoogleEncoder(model),
    "mistral": lambda model, body: ChatEncoder(model, "mistral", usage_requested=True),
    "compatible": lambda model, body: ChatEncoder(model, "compatible", usage_requested=_usage_requested(body)),
}


def _usage_requested(body: Mapping[str, Any]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))
