"""The relay of Anthropic's SDK, in its leanest form: the raw events of `messages.create`."""

from __future__ import annotations

import sys

from anthropic import AsyncAnthropic

from relays.turns import take_turns


def main(url: str) -> None:
    """Relay streams, joining the text."""
    client = AsyncAnthropic(api_key="k", base_url=url, max_retries=0)

    async def relay() -> int:
        pieces = []
        messages = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        stream = await client.messages.create(model="m-burst", max_tokens=100, messages=messages, stream=True)
        async for event in stream:
            if event.type == "content_block_delta" and event.delta.type == "text_delta":
                pieces.append(event.delta.text)
        assert "".join(pieces)
        return len(pieces)

    take_turns(relay)


if __name__ == "__main__":
    main(*sys.argv[1:])
