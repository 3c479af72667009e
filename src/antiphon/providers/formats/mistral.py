"""The wire format of Mistral's chat completions."""

from antiphon.providers.formats.chat_completions import ChatWire, Dialect

MISTRAL = ChatWire(
    Dialect(
        "mistral",
        max_tokens="max_tokens",
        # Mistral takes ids of exactly this form and refuses those of others.
        id_pattern=r"[a-zA-Z0-9]{9}",
        id_length=9,
        any_tool="any",
        # Usage comes unasked.
        asks_for_usage=False,
        replays_thoughts=True,
    )
)
