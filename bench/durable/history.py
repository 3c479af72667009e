"""A conversation whose history grows in the context: what the file weighs at its end."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from antiphon.runtime.runtime import Runtime
from antiphon.stores.sqlite import SqliteStore
from durable.charts import conversation
from durable.turns import answer, message, timed


async def main(folder: Path, turns: int) -> None:
    """One conversation; gives the file's size once it is closed."""
    path = folder / "history.db"
    async with Runtime(SqliteStore(path), [conversation()]) as runtime:
        root = await runtime.create("talk")

        async def talk() -> int:
            for number in range(turns):
                await runtime.send(root, {"type": "SAY", "text": message(number)})
            snapshot = await runtime.snapshot(root)
            return len(snapshot["context"]["messages"])

        took = await timed(talk)
    assert took["events"] == turns
    answer({**took, "bytes": sum(file.stat().st_size for file in folder.glob("history.db*"))})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
