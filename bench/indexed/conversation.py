"""Whole turns of chats on a file: a message in, a reply out, until the thread is idle."""

from __future__ import annotations

from pathlib import Path
from time import process_time

from antiphon.app import KINDS, PROJECTION, compose
from antiphon.chat.service import Chats
from antiphon.providers.scripted import ScriptedModel
from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from antiphon.threads.library import Library

REPLY = "The reply has a dozen words or so, and then it is over."
WINDOW = 600  # tokens that the model gets, so that a longer conversation does not make longer requests


def open_model(reference: str) -> ScriptedModel:
    """Open a model that always gives the same reply, word by word, without pauses."""
    return ScriptedModel({"replies": [{"steps": [{"text": REPLY}]}]}, name="bench")


def make_runtime(path: Path, *, is_indexed: bool = True) -> Runtime:
    """Return a runtime of threads, with or without an index."""
    return Runtime(SqliteStore(path), [compose(open_model)], projection=PROJECTION if is_indexed else None)


class Conversation:
    """A chat that grows."""

    def __init__(self, runtime: Runtime) -> None:
        self._chats = Chats(runtime, Library(runtime, KINDS))
        self._id = ""
        self.turns = 0

    async def turn(self) -> float:
        """Take a whole turn; return its CPU milliseconds, of all threads of the process."""
        started = process_time()
        if not self._id:
            self._id = await self._chats.create(model="scripted:bench", contextLimit=WINDOW)
        receipt = await self._chats.say(self._id, f"Message number {self.turns}, about this and that.")
        status = await self._chats.until_idle(self._id, receipt.cursor)
        assert status == "completed", status
        self.turns += 1
        return (process_time() - started) * 1000

    async def grow(self, turns: int) -> None:
        """Take turns up to a number."""
        while self.turns < turns:
            await self.turn()
