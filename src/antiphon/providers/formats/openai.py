"""The wire format of OpenAI's chat completions."""

from antiphon.providers.formats.chat_completions import ChatWire, Dialect
from antiphon.providers.formats.families import gpt_settings

OPENAI = ChatWire(
    Dialect(
        "openai",
        max_tokens="max_completion_tokens",
        id_pattern=r"\S{1,40}",
        id_length=40,
        settings=gpt_settings,
    )
)
