"""The second peer: a chat of Chainlit: `python -m serving.chainlit_peer FOLDER PROVIDER`.

Its words go over socket.io, as its own page reads them, on the event loop that its command uses. It has no data layer,
which is how it is installed: nothing is stored. The model reads the provider in the leanest way.
"""

from __future__ import annotations

import asyncio
import os
import sys

from serving.provider_words import read_words


async def main(folder: str, provider: str) -> None:
    """Serve until killed."""
    os.environ["CHAINLIT_APP_ROOT"] = folder
    import chainlit
    import uvicorn
    from chainlit.server import app

    @chainlit.on_message
    async def reply(question: chainlit.Message) -> None:
        message = chainlit.Message(content="")
        async for word in read_words(provider):
            await message.stream_token(word)
        await message.send()

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}", flush=True)
    await serving


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
