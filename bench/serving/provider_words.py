"""The words of one stream of the provider, read without a client library; imports nothing of Antiphon."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import orjson

MODEL = "m-paced"


async def read_words(url: str) -> AsyncIterator[str]:
    """The words of one stream of the provider."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    body = orjson.dumps({"model": MODEL, "stream": True, "messages": [{"role": "user", "content": "Hello"}]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: provider\r\ncontent-length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    try:
        while line := await reader.readline():
            if line.startswith(b"data: [DONE]"):
                return
            if line.startswith(b"data: "):
                choices = orjson.loads(line[6:])["choices"]
                if choices and (text := choices[0]["delta"].get("content")):
                    yield text
    finally:
        writer.close()
