"""Trees of a store, also of machines of one's own, listed and deleted in the terminal."""

import asyncio
import json
from pathlib import Path

import pytest

from antiphon import Runtime, SqliteStore, create_machine
from tests.fixtures.command import antiphon

lamp = create_machine({"id": "lamp", "initial": "off", "states": {"off": {}}})


@pytest.fixture
def store(tmp_path: Path) -> Path:
    async def main() -> None:
        async with Runtime(SqliteStore(tmp_path / "store.db"), [lamp]) as runtime:
            for root in ("a", "b\x1b[2J", "c"):
                await runtime.create("lamp", root=root)

    asyncio.run(main())
    return tmp_path / "store.db"


def roots(store: Path) -> list[str]:
    listed = antiphon("db", "roots", "--json", "--store", store)
    return [tree["root"] for tree in json.loads(listed.stdout)]


def test_trees_are_listed_with_machine_status_and_steps(store: Path) -> None:
    listed = antiphon("db", "roots", "--store", store)
    page = antiphon("db", "roots", "--after", "a", "--limit", 1, "--json", "--store", store)

    assert [line.split("  ")[2] for line in listed.stdout.splitlines()] == ["lamp, active, 1 step"] * 3
    assert "\x1b" not in listed.stdout
    assert [tree["root"] for tree in json.loads(page.stdout)] == ["b\x1b[2J"]


def test_a_tree_is_deleted_after_asking(store: Path) -> None:
    kept = antiphon("db", "delete", "a", "--store", store, typed="n\n")
    assert (kept.returncode, kept.stdout, len(roots(store))) == (0, "nothing deleted\n", 3)

    deleted = antiphon("db", "delete", "a", "--store", store, typed="y\n")
    assert (deleted.returncode, deleted.stdout) == (0, "deleted a\n")
    assert antiphon("db", "delete", "c", "--yes", "--store", store).returncode == 0
    assert roots(store) == ["b\x1b[2J"]


def test_a_tree_that_there_is_not_is_unknown(store: Path) -> None:
    refused = antiphon("db", "delete", "nobody", "--yes", "--store", store)

    assert refused.returncode == 1
    assert "there is no tree 'nobody'; list all with: antiphon db roots" in refused.stderr
