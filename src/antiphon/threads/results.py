"""Final results of runs and debates, which only the journal holds once they are over."""

from typing import Any

from antiphon.runtime.store import Store

PAGE = 100


async def final_result(store: Store, id: str, content: str, event_type: str) -> dict[str, Any] | None:
    """Return the last event of a type that a thread's content emitted; search from the end of the journal."""
    saved = await store.load(id)
    if saved is None:
        return None
    before = saved.seq
    start = saved.first - 1
    while before > start:
        after = max(start, before - PAGE)
        for entry in reversed(await store.entries(id, after, before - after)):
            events = [emitted["event"] for emitted in reversed(entry.emitted) if emitted["from"] == content]
            result = next((event for event in events if event["type"] == event_type), None)
            if result is not None:
                return {key: value for key, value in result.items() if key != "type"}
        before = after
    return None
