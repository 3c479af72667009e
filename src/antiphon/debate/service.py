"""Service of debates: create, start, pause, judge, follow and read them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from antiphon.debate.machine.config import complete
from antiphon.debate.record import DebateView, debate_view
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json
from antiphon.threads.library import Library
from antiphon.threads.service import ThreadService


class Debates(ThreadService):
    """The debates of a runtime."""

    kind = "debate"

    async def create(self, config: Mapping[str, Any]) -> str:
        """Create a debate, and return its id; `InvalidConfig` names every field that is wrong."""
        complete(config)
        # Interjections are messages to a busy thread.
        return await self._create("debate", lambda thread: {"id": thread, **config, "onBusy": "queue"})

    async def start(self, id: str) -> Receipt:
        """Begin with the openings."""
        topic = (await self.config(id))["topic"]
        now = self.runtime.now()
        return await self.send(id, {"type": "START", "message": {"text": topic, "at": now}, "at": now})

    async def pause(self, id: str) -> Receipt:
        """Pause the debate until it is resumed."""
        return await self._steer(id, {"type": "PAUSE"})

    async def judge_now(self, id: str) -> Receipt:
        """Skip the remaining rounds."""
        return await self._steer(id, {"type": "JUDGE_NOW"})

    async def raise_limit(self, id: str, cost_limit: float) -> Receipt:
        """Raise the cost limit; a debate that stopped at its limit continues."""
        return await self._steer(id, {"type": "RAISE_LIMIT", "costLimit": cost_limit})

    async def acknowledge(self, id: str) -> Receipt:
        """Mark the latest warning about costs as seen."""
        return await self._steer(id, {"type": "ACKNOWLEDGE_WARNING"})

    async def interject(self, id: str, text: str) -> Receipt:
        """Add a message that the debaters hear from now on."""
        return await self._steer(id, {"type": "INTERJECT", "text": text})

    async def stop(self, id: str) -> Receipt:
        """Stop the debate; between openings and verdict the judge still decides."""
        return await self._steer(id, {"type": "STOP"})

    async def read(self, id: str) -> Json:
        """Read everything that is known of a debate."""
        return (await self.library.read(id, self.kind)).content

    async def _steer(self, id: str, event: dict[str, Any]) -> Receipt:
        if not await self.has_content(id):
            raise Refused(f"debate {id!r} is not in progress; it does not accept {event['type']} now")
        return await self.send(id, {**event, "at": self.runtime.now()}, to="debate")


async def latest_debates(library: Library, limit: int = 20, *, after: str | None = None) -> list[DebateView]:
    """Return the latest debates of a library, or those after a cursor."""
    views = await library.latest(limit, kind="debate", after=after)
    return [replace(debate_view(await library.read(view.id)), updated=view.updated) for view in views]
