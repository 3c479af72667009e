"""The peer: a FastAPI application with a graph of LangGraph: `python -m serving.langgraph_peer FOLDER PROVIDER`.

One node calls a chat model, whose tokens are streamed by `stream_mode="messages"`; the checkpointer is that of SQLite.
The model reads the provider in the leanest way, without a client library. Tokens are not stored: a checkpoint is
written before and after the node.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import uvicorn
import uvloop
from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from serving.provider_words import read_words


class Speaker(BaseChatModel):
    """A model that relays the words of the provider."""

    provider: str

    @property
    def _llm_type(self) -> str:
        return "paced"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        async for text in read_words(self.provider):
            yield ChatGenerationChunk(message=AIMessageChunk(text))


def build(provider: str, saver: Any) -> FastAPI:
    """The application."""
    model = Speaker(provider=provider)

    async def reply(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder = StateGraph(MessagesState)
    builder.add_node("reply", reply)
    builder.add_edge(START, "reply")
    builder.add_edge("reply", END)
    graph = builder.compile(checkpointer=saver)
    app = FastAPI()

    async def frames(thread: str) -> AsyncIterator[bytes]:
        start = {"messages": [{"role": "user", "content": "Hello"}]}
        config = {"configurable": {"thread_id": thread}}
        async for token, _ in graph.astream(start, config, stream_mode="messages", durability="sync"):
            if token.content:
                yield b"data: %b\n\n" % orjson.dumps({"kind": "text", "text": token.content})

    @app.post("/stream/{thread}")
    async def stream(thread: str) -> StreamingResponse:
        return StreamingResponse(frames(thread), media_type="text/event-stream")

    return app


async def main(folder: Path, provider: str) -> None:
    """Serve until killed."""
    async with AsyncSqliteSaver.from_conn_string(str(folder / "peer.db")) as saver:
        config = uvicorn.Config(
            build(provider, saver), port=0, http="h11", ws="none", lifespan="off", log_config=None, access_log=False
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}", flush=True)
        await serving


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(Path(sys.argv[1]), sys.argv[2]))
