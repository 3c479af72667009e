"""The wire format of Mistral's chat completions."""

from antiphon.providers.formats.chat_completions import ChatWire, Dialect

MISTRAL = ChatWire(
    Dialect(
        "mistral",
        max_tokens="max_tokens",
        # Mistral rejects ids of any other form.
        id_pattern=r"[a-zA-Z0-9]{9}",
        id_length=9,
        any_tool="any",
        # Usage is always sent.
        asks_for_usage=False,
        replays_thoughts=True,
        takes_documents=False,
    )
)
