"""The relay of OpenAI's SDK: the chunks of `chat.completions.create`."""

from __future__ import annotations

import sys

from openai import AsyncOpenAI

from relays.turns import take_turns


def main(url: str) -> None:
    """Relay streams, joining the text."""
    client = AsyncOpenAI(api_key="k", base_url=url, max_retries=0)

    async def relay() -> int:
        pieces = []
        stream = await client.chat.completions.create(
            model="m-burst",
            messages=[{"role": "user", "content": "Hello"}],
            stream=True,
            stream_options={"include_usage": True},
        )
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                pieces.append(chunk.choices[0].delta.content)
        assert "".join(pieces)
        return len(pieces)

    take_turns(relay)


if __name__ == "__main__":
    main(*sys.argv[1:])
