"""Deliveries of letters from outside: deduplicated by id, and finished even if the sender is cancelled."""

import asyncio
from collections.abc import Callable, Coroutine
from itertools import count
from typing import Any

from antiphon.chart.errors import EventError
from antiphon.chart.steps import STOP
from antiphon.runtime.admission import acceptable_events, check_external_event, find_problem
from antiphon.runtime.background import BackgroundCalls
from antiphon.runtime.commits import RETRY_MS
from antiphon.runtime.errors import NotOwner, StoreError, Superseded
from antiphon.runtime.inboxes import Delivery, Inboxes
from antiphon.runtime.paths import actor_at
from antiphon.runtime.records import Letter, Posting, Receipt
from antiphon.runtime.store import Store
from antiphon.runtime.tree_cache import TreeCache

ReceiptFuture = asyncio.Future[Receipt]


class Deliveries:
    """Letters in flight; of two with the same id, the second gets the receipt of the first."""

    def __init__(
        self,
        store: Store,
        trees: TreeCache,
        inboxes: Inboxes,
        now: Callable[[], int],
        new_id: Callable[[], str],
    ) -> None:
        self._now = now
        self._new_id = new_id
        self._arrivals = count()
        self._store = store
        self._trees = trees
        self._inboxes = inboxes
        self._in_flight: dict[tuple[str, str], ReceiptFuture] = {}
        self.calls = BackgroundCalls()

    def start(self, boot: int) -> None:
        """Begin to number the letters of a boot in the order of their arrival."""
        self._arrivals = count(boot << 32)

    def letter(self, root: str, event: Any, id: str | None, to: str) -> Letter:
        """Return an event from outside as a letter; raise `EventError` if it may not come in."""
        at = self._now()
        event = check_external_event(event)
        if id is not None and not (isinstance(id, str) and id):
            raise EventError(f"the id of a letter is a text that is not empty, not {id!r}")
        # By position: this runs for every letter.
        return Letter(id or self._new_id(), root, event, at, at, to, "", None, None, 0, next(self._arrivals))

    def stop_letter(self, root: str) -> Letter:
        """Return the letter that stops a root actor."""
        at = self._now()
        return Letter(self._new_id(), root, {"type": STOP}, at, at, arrival=next(self._arrivals))

    async def send(self, letter: Letter, *, is_named: bool) -> Receipt:
        """Put a letter into its inbox, and wait until the step that takes it is stored."""
        if not is_named and self._trees.get(letter.root) is not None:
            # A generated id cannot be a duplicate, and the tree is loaded: there is nothing to look up.
            receipt: ReceiptFuture = asyncio.get_running_loop().create_future()
            self._inboxes.put(Delivery(letter, receipt), bounded=True)
            return await receipt
        return await self._run(letter, lambda receipt: self._deliver(letter, receipt, is_named))

    async def post(self, letter: Letter) -> Receipt:
        """Store a letter; it is taken when it is due."""
        return await self._run(letter, lambda receipt: self._post(letter, receipt))

    async def _deliver(self, letter: Letter, receipt: ReceiptFuture, is_named: bool) -> None:
        tree = await self._trees.load(letter.root)
        outcome: Receipt | None = None
        if not tree.has_letter(letter.id) and is_named:
            outcome = await self._store.outcome(letter.root, letter.id)
        if outcome is not None and outcome.status == "failed":
            receipt.set_result(outcome._replace(history=tree.host.history))
        elif tree.has_letter(letter.id) or (outcome is not None and outcome.status in ("accepted", "waiting")):
            seq = 0 if outcome is None else outcome.seq
            receipt.set_result(Receipt("duplicate", letter.id, seq, history=tree.host.history))
        else:
            self._inboxes.put(Delivery(letter, receipt), bounded=True)

    async def _post(self, letter: Letter, receipt: ReceiptFuture) -> None:
        history = await self._trees.history_of(letter.root)
        refusal = await self._check(letter, history)
        if refusal is not None:
            receipt.set_result(refusal)
            return
        status = await self._store_letter(letter)
        if status == "accepted":
            self._trees.add_posted(letter)
            self._inboxes.set_alarm(letter.due, letter.root)
        error = None
        if status == "failed":
            outcome = await self._store.outcome(letter.root, letter.id)
            error = None if outcome is None else outcome.error
        receipt.set_result(Receipt(status, letter.id, error=error, history=history))

    async def _check(self, letter: Letter, history: str) -> Receipt | None:
        """Return the receipt of a letter whose event its recipient refuses, as far as the recipient is known now.

        The letter is checked again when it is taken.
        """
        tree = await self._trees.find_to_check(letter.root)
        actor = None if tree is None else actor_at(tree.actor, letter.to)
        problem = None if actor is None else find_problem(actor, letter.event)
        if tree is None or problem is None:
            return None
        can = acceptable_events(actor)
        return Receipt("rejected", letter.id, tree.seq, can, problem.text, history, problem)

    async def _store_letter(self, letter: Letter) -> Posting:
        """Store a letter; if the store raises although it stored it, find that out."""
        tenure = self._trees.commits.tenure_of(letter.root)
        try:
            (status,) = await self._store.post([letter], tenure)
        except Superseded as error:
            self._trees.commits.on_superseded(letter.root, tenure)
            raise NotOwner(str(error)) from error
        except StoreError as error:
            outcome = await self._ask(letter, error)
            if outcome is None or outcome.status != "waiting":
                raise
            return "accepted"
        return status

    async def _ask(self, letter: Letter, error: StoreError) -> Receipt | None:
        while True:
            try:
                return await self._store.outcome(letter.root, letter.id)
            except StoreError:
                if self._trees.commits.is_closing:
                    raise error from None
            await asyncio.sleep(RETRY_MS / 1000)

    async def _run(self, letter: Letter, deliver: Callable[[ReceiptFuture], Coroutine[Any, Any, None]]) -> Receipt:
        """Deliver a letter in a task of its own, so that cancelling the caller does not cancel the delivery."""
        if (earlier := await self._earlier_receipt(letter)) is not None:
            return earlier
        receipt = self._register(letter)
        self.calls.start(_deliver_or_fail(deliver(receipt), receipt))
        return await asyncio.shield(receipt)

    async def _earlier_receipt(self, letter: Letter) -> Receipt | None:
        """Wait for the receipt of the same letter if it is in flight; return it as a duplicate if it was accepted."""
        if (pending := self._in_flight.get((letter.root, letter.id))) is not None:
            receipt = await asyncio.shield(pending)
            return receipt if receipt.status in ("rejected", "failed") else receipt._replace(status="duplicate")
        return None

    def _register(self, letter: Letter) -> ReceiptFuture:
        key = (letter.root, letter.id)
        receipt: ReceiptFuture = asyncio.get_running_loop().create_future()
        self._in_flight[key] = receipt
        receipt.add_done_callback(lambda done: self._unregister(key, done))
        return receipt

    def _unregister(self, key: tuple[str, str], receipt: ReceiptFuture) -> None:
        self._in_flight.pop(key, None)
        if not receipt.cancelled():
            receipt.exception()  # mark as retrieved: a cancelled sender does not read it


async def _deliver_or_fail(delivery: Coroutine[Any, Any, None], receipt: ReceiptFuture) -> None:
    try:
        await delivery
    except Exception as error:
        if not receipt.done():
            receipt.set_exception(error)
