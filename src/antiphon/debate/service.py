"""Service of debates: create, start, pause, judge, follow and read them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from antiphon.debate.machine.config import complete, reference
from antiphon.debate.record import DebateView, debate_view
from antiphon.runtime.records import Receipt
from antiphon.threads.errors import Refused
from antiphon.threads.kinds import Json, Record, ThreadView
from antiphon.threads.service import ThreadService

JUDGE = "judge"


class Debates(ThreadService):
    """The debates of a runtime."""

    kind = "debate"

    async def create(
        self, config: Mapping[str, Any] | None = None, *, title: str | None = None, owner: str = "", **settings: Any
    ) -> str:
        """Create a debate, and return its id: that of the configuration, if it has one.

        `InvalidConfig` names every field that is wrong; `Refused` is raised if the id is taken.

        The models are checked before anything is stored, without a request.
        """
        all_settings = {**(config or {}), **settings}
        full = complete(all_settings)
        judges = () if JUDGE in self.resources.functions else (full["judge"],)
        speakers = [speaker for speaker in (*full["participants"], *judges) if speaker is not None]
        await self.resources.check_models(reference(speaker["model"]) for speaker in speakers)

        def make_config(thread: str) -> Json:
            # Interjections are messages to a busy thread.
            return {**all_settings, "id": thread, "onBusy": "queue"}

        return await self._create("debate", make_config, title=title, owner=owner, id=all_settings.get("id"))

    async def start(
        self, thread: str, text: str | None = None, *, id: str | None = None, plan: Mapping[str, Any] | None = None
    ) -> Receipt:
        """Begin with the openings, on the topic of the settings."""
        if text is not None or plan is not None:
            await self._check(thread)
            raise Refused(f"debate {thread!r} starts with the topic of its settings; pass no text, and no plan")
        topic = (await self.config(thread))["topic"]
        now = self.runtime.now()
        return await self.send(thread, {"type": "START", "message": {"text": topic, "at": now}, "at": now}, id=id)

    async def say(
        self,
        thread: str,
        text: str = "",
        *,
        parts: Sequence[Mapping[str, Any]] | None = None,
        options: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Receipt:
        """Interject: add a message that the debaters hear from now on; a paused debate stays paused."""
        if parts is not None or options:
            await self._check(thread)
            raise Refused("an interjection is a text, without parts and options")
        return await self._perform(thread, "INTERJECT", id, text=text)

    async def begin(self, thread: str, *, id: str | None = None, **payload: Any) -> Receipt:
        """Answer, retry or restart the debate; a message is refused, because it would wake a paused debate."""
        if "message" in payload:
            await self._check(thread)
            raise Refused(f"debate {thread!r} takes no message; start it, resume it, or use interject")
        return await super().begin(thread, id=id, **payload)

    async def retry(self, id: str, *, key: str | None = None) -> Receipt:
        """Continue a debate that failed."""
        await self._refuse_in(id, ("pending", "completed", "stopped"), "nothing to repeat")
        return await super().retry(id, key=key)

    async def pause(self, id: str, *, key: str | None = None) -> Receipt:
        """Pause the debate until it is resumed."""
        return await self._perform(id, "PAUSE", key)

    async def judge_now(self, id: str) -> Receipt:
        """Skip the remaining rounds."""
        return await self._perform(id, "JUDGE_NOW")

    async def raise_limit(self, id: str, cost_limit: float) -> Receipt:
        """Raise the cost limit; a debate that stopped at its limit continues."""
        return await self._perform(id, "RAISE_LIMIT", costLimit=cost_limit)

    async def acknowledge(self, id: str) -> Receipt:
        """Mark the latest warning about costs as seen."""
        return await self._perform(id, "ACKNOWLEDGE_WARNING")

    async def interject(self, id: str, text: str) -> Receipt:
        """Add a message that the debaters hear from now on."""
        return await self.say(id, text)

    async def stop(self, id: str, *, key: str | None = None) -> Receipt:
        """Stop the debate; between openings and verdict the judge still decides."""
        return await self._perform(id, "STOP", key)

    async def read(self, id: str) -> Json:
        """Read everything that is known of a debate."""
        return (await self.library.read(id, self.kind)).content


class DebateList(Protocol):
    """Source of debates: a library, or that of a client."""

    async def latest(self, limit: int = 20, *, kind: str | None = None, after: str | None = None) -> list[ThreadView]:
        """Return the latest threads of a kind, or those after a cursor."""
        ...

    async def read(self, id: str, kind: str | None = None) -> Record:
        """Read the record of one thread."""
        ...


async def latest_debates(library: DebateList, limit: int = 20, *, after: str | None = None) -> list[DebateView]:
    """Return the latest debates of a library, or those after a cursor."""
    views = await library.latest(limit, kind="debate", after=after)
    return [replace(debate_view(await library.read(view.id)), updated=view.updated) for view in views]
