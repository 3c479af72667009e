"""A full disk and places that cannot be written cost nothing that was acknowledged, and are named."""

import asyncio
import os
import tempfile
from pathlib import Path

import pytest

from antiphon.runtime.errors import StoreError, UnknownRoot
from antiphon.stores.ownership import COPY
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents
from antiphon.testing.contracts.store_samples import first_commit, letter, steps
from tests.stores.processes import run

# A process may write files up to a size only: what a full disk is like, and it can be given space again.
LIMITED = """
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

async def attempt(store, commit):
    try:
        await store.commit([commit])
    except RuntimeFault as error:
        return type(error).__name__ + ": " + str(error)
"""
FILLING = (
    LIMITED
    + """
async def main():
    store, twin = SqliteStore(path), MemoryStore()
    await store.open()
    await twin.open()
    limit(400_000)
    refused = []
    for n in range(90):
        if n == 60:
            limit(resource.RLIM_INFINITY)
        birth = first_commit(f"t{n:02}", letters=(letter(f"t{n:02}", "l", event={"type": "X", "text": "x" * 6000}),))
        problem = await attempt(store, birth)
        if problem is None:
            await twin.commit([birth])
        else:
            refused.append((n, problem))
    live = await read_contents(store) == await read_contents(twin)
    await store.close()
    await store.open()
    say(refused, live, await read_contents(store) == await read_contents(twin))
    await store.close()

asyncio.run(main())
"""
)


def test_a_full_disk_refuses_commits_keeps_what_was_acknowledged_and_goes_on_with_space(tmp_path):
    code, [[refused, live, reopened]] = run(FILLING, tmp_path / "store.db")

    assert code == 0
    assert 0 < refused[0][0] < 60
    assert [n for n, _ in refused] == list(range(refused[0][0], 60))
    assert all("nothing that was acknowledged is lost" in problem for _, problem in refused)
    assert live
    assert reopened


OPENING = (
    LIMITED
    + """
async def main():
    store = SqliteStore(path)
    limit(100)
    try:
        await store.open()
    except RuntimeFault as error:
        say(type(error).__name__)
    limit(resource.RLIM_INFINITY)
    say(await store.open())
    await store.close()

asyncio.run(main())
"""
)


def test_a_store_that_finds_the_disk_full_can_be_opened_later(tmp_path):
    assert run(OPENING, tmp_path / "store.db") == (0, [["StoreError"], [1]])


def test_a_tree_that_found_no_room_leaves_nothing_behind_for_the_next(tmp_path):
    async def main():
        store = SqliteStore(tmp_path / "store.db")
        await store.open()
        pages = store._db().execute("pragma page_count").fetchone()[0]
        store._db().execute(f"pragma max_page_count = {pages}")
        with pytest.raises(StoreError, match="free some space"):
            await store.commit([first_commit("ghost", snapshot="x" * 50_000)])
        store._db().execute("pragma max_page_count = 1000000")
        await store.commit([first_commit("heir")])
        with pytest.raises(UnknownRoot):
            await store.post([letter("ghost", "l")])
        assert await store.due_times() == []
        await store.close()

    asyncio.run(main())


def test_work_goes_on_after_a_commit_that_failed_half_way(tmp_path):
    async def main():
        store = SqliteStore(tmp_path / "store.db")
        await store.open()
        await store.commit([first_commit("a")])
        before = await read_contents(store)
        store._db().set_authorizer(lambda action, name, *rest: 1 if name == "task" else 0)
        with pytest.raises(StoreError):
            await store.commit([steps("a", 1), first_commit("b", ended=("t",))])
        store._db().set_authorizer(None)
        assert await read_contents(store) == before
        await store.commit([steps("a", 1), first_commit("b")])
        await store.close()

    asyncio.run(main())


# Root may write everywhere, so it becomes nobody, once it has read what it needs.
OPENED = """
from antiphon.stores.queries import load_migrations, load_queries

load_migrations("sqlite"), load_queries("sqlite")
if os.geteuid() == 0:
    os.seteuid(65534)

async def main():
    for options in ({}, {"read_only": True}):
        store = SqliteStore(path, **options)
        try:
            await store.open()
            say("opened", len(await store.roots()))
            await store.close()
        except RuntimeFault as error:
            say(type(error).__name__, str(error))

asyncio.run(main())
"""


@pytest.fixture
def public():
    """A folder that everybody may look into."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        path = Path(folder) / "store.db"

        async def fill():
            store = SqliteStore(path)
            await store.open()
            await store.commit([first_commit("a")])
            await store.close()

        asyncio.run(fill())
        path.with_name("store.db.lock").unlink()
        yield path
        os.chmod(folder, 0o700)


def test_a_file_that_may_only_be_read_is_named_and_can_be_read(public):
    public.chmod(0o444)

    _, [written, read] = run(OPENED, public)
    assert written == ["StoreError", f"{public}: cannot be written: Permission denied; {COPY}"]
    assert read == ["opened", 1]


def test_a_folder_that_may_only_be_read_is_named(public):
    public.chmod(0o444)
    public.parent.chmod(0o555)

    _, [written, read] = run(OPENED, public)
    assert written == ["StoreError", f"{public}.lock: cannot be written: Permission denied; {COPY}"]
    assert "its folder is not writable; copy it" in read[1]
