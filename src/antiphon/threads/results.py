"""What a run or a debate said last: once it is over, the journal alone knows it."""

from collections.abc import Mapping
from typing import Any, Protocol

from antiphon.runtime.store import Store

# Which of its events has everything that remains, by the kind of thread.
LAST_WORDS: Mapping[str, str] = {"run": "run_ended", "debate": "result"}
PAGE = 100


class Snapshots(Protocol):
    """Where trees are read: a runtime, or a reader beside one."""

    store: Store

    async def snapshot(self, root: str) -> Any:
        """A tree's snapshot as JSON."""
        ...


async def last_words(store: Store, id: str, kind: str) -> dict[str, Any] | None:
    """The last words of what is in a thread, searched from the end of its journal; nothing before there are any."""
    saved = await store.load(id)
    before = saved.seq if saved is not None else 0
    while before > 0:
        after = max(0, before - PAGE)
        for entry in reversed(await store.entries(id, after, before - after)):
            told = [one["event"] for one in entry.emitted if one["from"] == kind]
            found = next((one for one in reversed(told) if one["type"] == LAST_WORDS[kind]), None)
            if found is not None:
                return dict(found)
        before = after
    return None
