"""A store with 100,000 threads and 1,000,000 messages: one thread of a runtime, copied by SQL."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

from antiphon.app import App
from antiphon.stores.queries import load_migrations

THREADS = 100_000
MESSAGES = 10  # of each thread
FIRST_MS = 1_700_000_000_000
STEP_MS = 60_000
OWNERS = 500
RARE = 250_000  # one message of so many has the rare word
# Words as the index has them; each Chinese character is one. The number of a message picks its words.
WORDS = """
'message ' || case when i % 10 = 3 then 'tenth ' else '' end || case when i % {rare} = 7 then 'zebra ' else '' end
|| 'word' || (abs(i * 2654435761) % 5000) || ' and topic' || (abs(i * 40503) % 20000) || ' by user' || (i % 997)
|| case when i % 3 = 0 then ' 今 天 天 气 很 好' else ' 我 们 去 看 看' end
|| case when i % 40 = 0 then ' 北 京 大 学' else '' end
"""
ACTORS = """
insert into actor (id, history, machine, version, hash, input, status, seq, created, updated, mark, projection)
with recursive counted (i) as (select 1 union all select i + 1 from counted where i < {threads})
select printf('%08x', i), printf('h%d', i), machine, version, hash, input, status, seq,
  {first} + i * {step}, {first} + i * {step}, 0, projection
from counted, actor
where actor.n = 1
"""
ROWS = """
insert into index_row (actor, id, updated, kind, status, owner, archived, facts, summary)
select n, actor.id, actor.updated,
  case when n % 20 = 0 then 'debate' when n % 10 = 0 then 'run' else 'chat' end,
  case when n % 1000 = 0 then 'failed' when n % 50 = 0 then 'waiting' else 'completed' end,
  'owner' || (n % {owners}), n % 25 = 3, facts, summary
from actor, index_row
where actor.n > 1 and index_row.actor = 1
"""
TEXTS = """
insert into index_text (n, actor, key, body)
with recursive counted (i) as (select 0 union all select i + 1 from counted where i + 1 < {messages})
select (({first} + i * {text_step}) << 20) + (i * 7919) % 1048576, 2 + (i * 7907) % {threads}, printf('%d', i), {words}
from counted
"""
INDEX = "insert into index_word (rowid, words) select n, body from index_text where actor > 1 order by n"


def library_file(folder: Path) -> Path:
    """Return the file, which is written once."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"threads-{load_migrations('sqlite')[-1][0]}.db"
    if not path.exists():
        part = path.with_suffix(".part")
        for leftover in folder.glob(f"{part.name}*"):
            leftover.unlink()
        asyncio.run(_create_thread(part))
        _copy_thread(part)
        part.rename(path)
    return path


async def _create_thread(path: Path) -> None:
    async with App(path) as app:
        await app.chats.create(model="scripted:chat", title="One of many")


def _copy_thread(path: Path) -> None:
    values = {
        "threads": THREADS,
        "messages": THREADS * MESSAGES,
        "first": FIRST_MS,
        "step": STEP_MS,
        "text_step": STEP_MS // MESSAGES,
        "owners": OWNERS,
        "words": WORDS.format(rare=RARE),
    }
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("synchronous = off", "cache_size = -200000", "foreign_keys = off"):
        connection.execute(f"pragma {pragma}")
    connection.execute("begin")
    for statement in (ACTORS, ROWS, TEXTS, INDEX):
        connection.execute(statement.format(**values))
    connection.execute("commit")
    connection.execute("pragma wal_checkpoint(truncate)")
    connection.close()
