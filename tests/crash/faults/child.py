"""The process that runs under the shim: the traffic of the crash tests, with messages and refusals in a file."""

import asyncio
import json
import os
import sys
from typing import Any

from antiphon.runtime.errors import StoreError
from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from tests.crash.child import ROOTS, Child, Plan
from tests.crash.faults.bugs import BUGS
from tests.crash.process_chain import UNCERTAIN

PROBES = 100
RETRY_MS = 5  # a tree whose commit failed waits only for this long, so that many letters meet the fault


class MessageFile:
    """File that takes messages in the place of a pipe."""

    def __init__(self, path: str) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_APPEND)

    def send(self, message: Any) -> None:
        """Append a message, in one call."""
        os.write(self._fd, json.dumps(message).encode() + b"\n")


class FaultyChild(Child):
    """Process whose store may fail: a letter that is refused is reported, and sending continues."""

    def __init__(self, path: str, plan: Plan, is_lasting: bool) -> None:
        super().__init__(path, plan, MessageFile(path + ".messages"))
        self.is_hopeless = is_lasting  # the fault is not lifted, or the store has stopped

    async def send(self, runtime: Runtime, root: str, id: str, to: str, type: str) -> None:
        """Send a letter and report its receipt or its refusal."""
        try:
            await super().send(runtime, root, id, to, type)
        except StoreError as error:
            self.report(error, "refused", root, id)

    async def traffic(self, runtime: Runtime) -> None:
        """Create trees until that succeeds, and send letters to all of them."""
        for _ in range(PROBES):
            try:
                await super().traffic(runtime)
                return
            except StoreError as error:
                self.report(error, "failed")
                if self.is_hopeless:
                    return

    async def rest(self, runtime: Runtime, store: SqliteStore) -> None:
        """Once the fault is lifted, check that every tree takes letters, wait until idle and check the laws."""
        for root in ROOTS:
            await self.probe(runtime, root)
        if not self.is_hopeless:
            await super().rest(runtime, store)

    async def probe(self, runtime: Runtime, root: str) -> None:
        """Send notes to a tree until one is accepted."""
        for number in range(PROBES):
            if self.is_hopeless or await self.is_accepted(runtime, root, f"NOTE-{self.plan.life}-{root}-probe{number}"):
                return
        self.pipe.send(("laws", [f"{root}: takes no letters after the fault was lifted"]))
        self.is_hopeless = True

    async def is_accepted(self, runtime: Runtime, root: str, id: str) -> bool:
        """Send a note, and return whether it was accepted."""
        self.pipe.send(("sending", root, id, "", "NOTE", False))
        try:
            receipt = await runtime.send(root, {"type": "NOTE", "n": id}, id=id)
        except StoreError as error:
            self.report(error, "refused", root, id)
            return False
        self.pipe.send(("receipt", root, id, receipt.status, receipt.seq, False))
        return True

    def report(self, error: StoreError, *words: str) -> None:
        """Report an error of the store to the parent."""
        kinds = [kind.__name__ for kind in type(error).__mro__]
        self.pipe.send((*words, kinds, str(error)))
        self.is_hopeless = self.is_hopeless or not UNCERTAIN.isdisjoint(kinds)


def shorten_retries() -> None:
    """Let all modules of the runtime wait only briefly before they try again."""
    for name, module in list(sys.modules.items()):
        if name.startswith("antiphon.runtime.") and hasattr(module, "RETRY_MS"):
            vars(module)["RETRY_MS"] = RETRY_MS


def main() -> None:
    """Run the process that the command line describes."""
    path, plan, bug, is_lasting = sys.argv[1:]
    values = json.loads(plan)
    values["again"] = tuple(tuple(letter) for letter in values["again"])
    shorten_retries()
    child = FaultyChild(path, Plan(**values), bool(is_lasting))
    if bug:
        BUGS[bug].inject(child)
    asyncio.run(child.live())


if __name__ == "__main__":
    main()
