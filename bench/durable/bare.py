"""The rows that the runtime writes, by plain `sqlite3` in one thread, and nothing else: nobody waits for them."""

from __future__ import annotations

import asyncio
import sys
from itertools import count, islice
from pathlib import Path
from sqlite3 import Connection

from antiphon.runtime.runtime import Runtime
from antiphon.stores import files
from antiphon.stores.queries import load_queries
from antiphon.stores.sqlite import SqliteStore
from durable.charts import two_steps
from durable.turns import each, serve

AT = 1_800_000_000_000
# The least that an actor and its journal need, whatever else the runtime stores today.
SQL = {
    "move_actor": "update actor set seq = ?1, status = ?2, updated = ?3 where n = ?4 and seq = ?5",
    "add_entry": load_queries("sqlite")["add_entry"],
}
BODY = '{"event":{"type":"GO"},"value":"pong"}'


def group_commit(connection: Connection, batch: list[tuple[int, int, str]]) -> None:
    """One transaction: a step for each of some actors."""
    connection.execute("begin immediate")
    moves = [(seq, "active", AT, actor, seq - 1) for actor, seq, _ in batch]
    connection.executemany(SQL["move_actor"], moves)
    connection.executemany(SQL["add_entry"], [(actor, seq, AT, "", letter, BODY) for actor, seq, letter in batch])
    connection.execute("commit")


async def make_file(path: Path, actors: int) -> None:
    """The file that the runtime makes for so many actors."""
    async with Runtime(SqliteStore(path), [two_steps()]) as runtime:
        for _ in range(actors):
            await runtime.create("loop")


async def main(folder: Path, actors: int, size: int) -> None:
    """Make the same file as the runtime does, then write to it in batches of that size."""
    path = folder / f"bare-{actors}.db"
    await make_file(path, actors)
    connection = files.connect(path, files.DURABILITY["full"])
    rows = ((actor, seq, f"{AT:032x}{seq:x}") for seq in count(2) for actor in range(1, actors + 1))

    batches = max(1, round(each(actors) * actors / size))

    async def burst() -> int:
        for _ in range(batches):
            group_commit(connection, list(islice(rows, size)))
        return batches * size

    await burst()
    (changed,) = connection.execute("select count(*) from entry").fetchone()
    assert changed == actors + batches * size
    await serve(burst)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
