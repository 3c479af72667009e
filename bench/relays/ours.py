"""Antiphon's relay: `python -m relays.ours FORMAT URL`."""

from __future__ import annotations

import sys
from pathlib import Path

from antiphon.messages import user
from antiphon.providers.base import Request, TextDelta
from antiphon.providers.keys import Keys
from antiphon.providers.registry import Models
from antiphon.providers.reply import Reply
from relays.turns import take_turns

REQUEST = Request((user("Hello"),))
# As long as a real one: it is searched for in everything that a server sends.
KEY = "bench-key-" + "0123456789" * 9


def main(format: str, url: str) -> None:
    """Relay streams of one format, joining the text as a caller would."""
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY")
    models = Models(keys=Keys(dict.fromkeys(names, KEY), Path("/nowhere")), base_urls={format: url})
    reference = f"openai+{url}:m-burst" if format == "compatible" else f"{format}:m-burst"
    provider = models.open(reference)

    async def relay() -> int:
        reply = Reply(provider.model, REQUEST)
        texts = 0
        async for delta in provider.stream(REQUEST):
            reply.add(delta)
            texts += type(delta) is TextDelta
        assert reply.done
        return texts

    take_turns(relay)


if __name__ == "__main__":
    main(*sys.argv[1:])
