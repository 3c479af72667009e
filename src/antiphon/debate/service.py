"""Debates as they are run: created from a configuration, started, paused, judged, followed and read."""

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from antiphon.chart.machine import Machine
from antiphon.debate.activity import DebateHappening, debate_happenings
from antiphon.debate.judge import initialiser, judge
from antiphon.debate.library import CHILD, DebateShelf
from antiphon.debate.machine.config import complete
from antiphon.debate.machine.debate import debate_machine
from antiphon.providers.base import Provider
from antiphon.providers.prices import Prices
from antiphon.runtime.errors import RootExists, UnknownRoot
from antiphon.runtime.records import Receipt
from antiphon.runtime.runtime import Runtime
from antiphon.threads.errors import Refused, UnknownThread
from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.reply import stream_reply

ID_BYTES = 4
PAGE = 1000
REST = ("completed", "failed", "stopped", "interrupted", "waiting")


def compose_debate(open_model: Callable[[str], Provider], *, prices: Prices | None = None) -> Machine[Any, Any]:
    """The debate machine with everything inside it, to provide as the thread's actor `debate`."""
    known = prices or Prices()
    reply = streaming_machine.provide(actors={"streamReply": stream_reply(open_model, prices=known)})
    return debate_machine.provide(
        actors={"reply": reply, "judge": judge(open_model, known), "initialiser": initialiser(open_model, known)}
    )


class Debates:
    """Runs the debates of a runtime; each is a thread of the kind `debate`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.shelf = DebateShelf(runtime)

    async def create(self, config: Mapping[str, Any]) -> str:
        """A new debate; gives its id. `InvalidConfig` names every field that is wrong."""
        complete(config)
        while True:
            id = secrets.token_hex(ID_BYTES)
            # Interjections are messages to a busy thread.
            given = {"threadId": id, "kind": CHILD, "config": {"id": id, **config, "onBusy": "queue"}}
            try:
                return await self._runtime.create("thread", root=id, input=given)
            except RootExists:
                continue

    async def start(self, id: str) -> Receipt:
        """Begin with the openings."""
        snapshot = await self._snapshot(id)
        message = {"text": snapshot["context"]["config"]["topic"], "at": self._runtime.now()}
        return await self._to_thread(id, {"type": "START", "message": message})

    async def pause(self, id: str) -> Receipt:
        """Let nobody speak until it is resumed."""
        return await self._to_debate(id, {"type": "PAUSE"})

    async def resume(self, id: str) -> Receipt:
        """Go on where it was paused, interrupted or broken."""
        return await self._to_thread(id, {"type": "RESTART"})

    async def retry(self, id: str) -> Receipt:
        """Try again what went wrong."""
        return await self._to_thread(id, {"type": "RESTART", "retry": True})

    async def judge_now(self, id: str) -> Receipt:
        """Skip what is left of the rounds."""
        return await self._to_debate(id, {"type": "JUDGE_NOW"})

    async def raise_limit(self, id: str, cost_limit: float) -> Receipt:
        """Allow more to be spent; a debate that stands still for want of money goes on."""
        return await self._to_debate(id, {"type": "RAISE_LIMIT", "costLimit": cost_limit})

    async def acknowledge(self, id: str) -> Receipt:
        """Mark the latest warning about costs as seen."""
        return await self._to_debate(id, {"type": "ACKNOWLEDGE_WARNING"})

    async def interject(self, id: str, text: str) -> Receipt:
        """Say something that the debaters hear from now on."""
        return await self._to_debate(id, {"type": "INTERJECT", "text": text})

    async def stop(self, id: str) -> Receipt:
        """Stop: between openings and verdict the judge still decides, otherwise it is over."""
        return await self._to_debate(id, {"type": "STOP"})

    async def steps(self, id: str, after: int = 0) -> AsyncIterator[list[DebateHappening]]:
        """What each step after one has to tell, and then what each new step does."""
        async for entry in self._runtime.feed(id, after):
            if found := list(debate_happenings(entry)):
                yield found

    async def follow(self, id: str, after: int = 0) -> AsyncIterator[DebateHappening]:
        """Everything that happened after a step, and then everything that happens."""
        async for found in self.steps(id, after):
            for one in found:
                yield one

    async def until_rest(self, id: str, after: int = 0) -> AsyncIterator[DebateHappening]:
        """What happens after a step, until the debate is over, paused or broken."""
        async for found in self.steps(id, after):
            for one in found:
                yield one
            if any(one.kind == "status" and one.facts["status"] in REST for one in found):
                return

    async def past(self, id: str) -> tuple[list[DebateHappening], int]:
        """Everything that happened so far, and the step to follow from."""
        found, after = [], 0
        while page := await self._runtime.store.entries(id, after, PAGE):
            found += [one for entry in page for one in debate_happenings(entry)]
            after = page[-1].seq
        return found, after

    async def status(self, id: str) -> str:
        """The status of the debate's thread."""
        return str((await self._snapshot(id))["value"])

    async def read(self, id: str) -> dict[str, Any]:
        """All that is known of a debate."""
        return await self.shelf.read(id)

    async def _snapshot(self, id: str) -> Any:
        try:
            return await self._runtime.snapshot(id)
        except UnknownRoot:
            raise UnknownThread(f"there is no debate {id!r}") from None

    async def _to_thread(self, id: str, event: dict[str, Any]) -> Receipt:
        known = await self.status(id)
        receipt = await self._runtime.send(id, {**event, "at": self._runtime.now()})
        if receipt.status == "rejected":
            raise Refused(f"debate {id!r} is {known}: {event['type']} cannot be done now")
        return receipt

    async def _to_debate(self, id: str, event: dict[str, Any]) -> Receipt:
        if CHILD not in (await self._snapshot(id))["children"]:
            raise Refused(f"debate {id!r} is not under way: {event['type']} cannot be done now")
        receipt = await self._runtime.send(id, {**event, "at": self._runtime.now()}, to=CHILD)
        if receipt.status == "rejected":
            allowed = ", ".join(name for name in sorted(receipt.can) if name.isupper()) or "nothing"
            raise Refused(f"{event['type']} cannot be done now; what can: {allowed}")
        return receipt
