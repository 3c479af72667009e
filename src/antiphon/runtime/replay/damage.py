"""Journals of trees that cannot be loaded, read as far as they are intact."""

from contextlib import suppress
from typing import Any

from antiphon.runtime.errors import JournalCompacted, StoreCorrupt
from antiphon.runtime.records import Entry
from antiphon.runtime.store import Store

PAGE = 1000


async def read_damaged(store: Store, root: str) -> tuple[Any, list[Entry]]:
    """Return the input of a tree, and its journal up to the first step that is damaged."""
    entries = await readable_entries(store, root)
    with suppress(StoreCorrupt):
        saved = await store.load(root)
        if saved is not None:
            return saved.origin.input, entries
    return entries[0].event.get("input") if entries else None, entries


async def readable_entries(store: Store, root: str) -> list[Entry]:
    """Return the journal of a tree, up to the first step that is damaged."""
    entries: list[Entry] = []
    after = 0
    limit = PAGE
    while limit:
        try:
            page = await store.entries(root, after, limit)
        except JournalCompacted as error:
            after = error.first - 1
            continue
        except StoreCorrupt:
            limit //= 2  # a page is read as a whole or not at all
            continue
        if not page:
            break
        entries += page
        after = page[-1].seq
    return entries
