"""The five voices by the name of their format."""

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.testing.fake_llm.anthropic_voice import AnthropicVoice
from antiphon.testing.fake_llm.chat_voice import ChatVoice
from antiphon.testing.fake_llm.google_voice import GoogleVoice
from antiphon.testing.fake_llm.voice import Voice

VOICES: Mapping[str, Callable[[str, Mapping[str, Any]], Voice]] = {
    "anthropic": lambda model, body: AnthropicVoice(model),
    "openai": lambda model, body: ChatVoice(model, "openai", usage_asked=_usage_asked(body)),
    "google": lambda model, body: GoogleVoice(model),
    "mistral": lambda model, body: ChatVoice(model, "mistral", usage_asked=True),
    "compatible": lambda model, body: ChatVoice(model, "compatible", usage_asked=_usage_asked(body)),
}


def _usage_asked(body: Mapping[str, Any]) -> bool:
    return bool((body.get("stream_options") or {}).get("include_usage"))
