"""The app: where it keeps its threads, and machines of one's own beside its own."""

import asyncio
from pathlib import Path

import pytest

from antiphon import App, MachineTaken, MemoryStore, SqliteStore, StoreError, create_machine
from antiphon.app import own_machines

lamp = create_machine({"id": "lamp", "initial": "off", "states": {"off": {"on": {"GO": "on"}}, "on": {}}})


def test_own_machines_are_hosted_beside_threads(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(tmp_path / "store.db", machines=[lamp]) as app:
            thread = await app.threads.create("chat", model="scripted:demo")
            await app.runtime.create("lamp", root="lamp-1")
            await app.runtime.send("lamp-1", {"type": "GO"})
        async with App(tmp_path / "store.db", machines=[lamp]) as app:
            assert (await app.runtime.snapshot("lamp-1"))["value"] == "on"
            assert [tree.root for tree in await app.runtime.roots()] == sorted([thread, "lamp-1"])
            assert [view.id for view in await app.library.latest()] == [thread]

    asyncio.run(main())


@pytest.mark.parametrize("id", sorted({machine.id for machine in own_machines()}))
def test_a_machine_with_the_id_of_one_of_antiphon_is_refused(id: str) -> None:
    with pytest.raises(MachineTaken, match=f"Antiphon has a machine '{id}' itself; give yours another id"):
        App(MemoryStore(), machines=[create_machine({"id": id})])


@pytest.mark.parametrize("make", [str, Path])
def test_memory_is_a_store_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: type) -> None:
    async def main() -> str:
        async with App(make(":memory:")) as app:
            id = await app.threads.create("chat", model="scripted:demo")
            return await app.threads.status(id)

    monkeypatch.chdir(tmp_path)
    assert asyncio.run(main()) == "pending"
    assert list(tmp_path.iterdir()) == []


def test_memory_is_not_a_file() -> None:
    with pytest.raises(StoreError, match=r"':memory:' is not a file; use MemoryStore\(\)"):
        SqliteStore(":memory:")


def test_a_path_in_place_of_an_undo_folder_is_a_type_error():
    with pytest.raises(TypeError, match="must be an UndoFolder"):
        App(":memory:", undo="copies")
