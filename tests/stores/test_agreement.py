"""The memory store and the SQLite store agree on any sequence of operations."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from antiphon.chart.checks.problems import EventProblem
from antiphon.runtime.errors import RuntimeFault
from antiphon.runtime.index.rows import IndexChange, IndexRow, IndexText
from antiphon.runtime.records import Commit, Entry, Letter, Origin, Rejection, Task, TreeFailure
from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.store_facts import read_contents, read_index
from antiphon.testing.contracts.store_samples import first_commit, letter, task

ROOTS = ["a", "a", "a", "b", "b", "ç"]
IDS = ["", "1", "2", "x/3"]
NAMES = [str(n) for n in range(12)]
SEARCHES = ("a", "ab", "é", "天", "今天", "ss")
TIMES = [0, 1, 2, 2**40]
MEMORY = Path("/dev/shm")  # this is about what is stored, not about disks

roots, ids, names, times = (st.sampled_from(pool) for pool in (ROOTS, IDS, NAMES, TIMES))
characters = st.characters()  # lone surrogates too, but no pairs in two halves: they come back as one
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(characters, max_size=1),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(characters, max_size=1), inner, max_size=2),
    max_leaves=4,
)
events = st.fixed_dictionaries({"type": ids}, optional={"data": json})
letters = st.builds(
    Letter,
    names,
    roots,
    events,
    times,
    times,
    ids,
    ids,
    st.none() | ids,
    st.none() | ids,
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(0, 2),
)
entries = st.builds(
    Entry,
    st.just(""),
    st.just(0),
    times,
    ids,
    events,
    st.none() | names,
    json,
    st.none() | ids,
    st.lists(events, max_size=2).map(tuple),
    st.none() | ids,
)
tasks = st.builds(
    Task,
    names,
    st.just(""),
    ids,
    ids,
    json,
    st.sampled_from(["repeat", "report", "once"]),
    st.integers(0, 3),
    st.integers(0, 3),
)
problems = st.builds(EventProblem, ids, ids, st.none() | st.text(characters, max_size=2), ids, ids)
origins = st.builds(Origin, ids, ids, json, ids, json, st.none() | ids, st.none() | st.integers(0, 9))


words = st.text(st.sampled_from("ab Éé ß今天\ud800\0_-\n"), max_size=6)
rows = st.builds(IndexRow, ids, ids, ids, st.booleans(), json, st.none() | json)
texts = st.builds(IndexText, ids, times, words)


def some(strategy, most=2):
    return st.lists(strategy, max_size=most).map(tuple)


changes = st.builds(IndexChange, times, st.none() | rows, some(texts))
commits = st.fixed_dictionaries(
    {"root": roots, "at": times, "status": ids},
    optional={
        "origin": origins,
        "migrated": origins,
        "entries": some(entries, 3),
        "taken": some(names),
        "letters": some(letters),
        "tasks": some(tasks),
        "ended": some(names),
        "snapshot": json,
        "dead": some(st.tuples(letters, ids), 1),
        "mark": st.integers(0, 9),
        "rejected": some(st.builds(Rejection, names, st.integers(0, 9), some(ids), st.none() | problems)),
        "revived": some(names),
        "tenure": st.integers(0, 3),
        "failure": st.builds(TreeFailure, st.integers(0, 3), ids),
        "index_change": changes,
        "projection": st.none() | st.integers(0, 2),
    },
)
slips = st.sampled_from([0] * 15 + [-1, 1])  # most commits expect what is there
commit_calls = st.tuples(st.just("commit"), st.lists(st.tuples(commits, slips), min_size=1, max_size=3))
other_calls = st.one_of(
    st.tuples(st.just("post"), st.lists(letters, max_size=3)),
    st.tuples(st.just("entries"), st.tuples(roots, st.integers(-1, 5), st.integers(0, 5))),
    st.tuples(st.just("outcome"), st.tuples(roots, names)),
    st.tuples(st.just("delete"), st.tuples(roots, st.integers(0, 3))),
    st.tuples(st.just("roots"), st.tuples(roots, st.integers(0, 3))),
    st.tuples(st.just("search"), st.tuples(words, st.none() | st.integers(0, 2**61), st.integers(0, 3))),
    st.tuples(
        st.just("replace"), st.tuples(roots, st.builds(IndexChange, times, st.none() | rows, some(texts)), times)
    ),
    st.tuples(st.just("reopen"), st.just(())),
)


def commit_of(drawn, slip, seqs):
    """Return a commit that continues what is stored and the commits before it in the same call, but for the slip."""
    root = drawn["root"]
    arguments = dict(drawn)
    if root not in seqs and slip == 0:
        arguments.setdefault("origin", Origin("i", "m", 1, "h"))
    if root in seqs and slip == 0:
        arguments.pop("origin", None)
    expected = seqs.get(root, 0) + slip
    entries = enumerate(drawn.get("entries", ()), expected + 1)
    arguments["entries"] = tuple(entry._replace(root=root, seq=seq) for seq, entry in entries)
    arguments["tasks"] = tuple(task._replace(root=root) for task in drawn.get("tasks", ()))
    commit = Commit(expected=expected, **arguments)
    seqs[root] = commit.seq
    return commit


async def outcome(store, name, arguments):
    try:
        if name == "reopen":
            await store.close()
            return await store.open()
        return await getattr(store if hasattr(store, name) else store.index, name)(*arguments)
    except RuntimeFault as error:
        return type(error)


async def play(script, memory, sqlite):
    await memory.open()
    await sqlite.open()
    try:
        for store in (memory, sqlite):
            await store.commit(
                [first_commit("a"), first_commit("b", letters=(letter("b", "1"),), tasks=(task("b", "1"),))]
            )
        for name, drawn in script:
            arguments = (drawn,) if name == "post" else drawn
            if name == "commit":
                seqs = {tree.root: tree.seq for tree in await memory.roots()}
                arguments = ([commit_of(*pair, seqs) for pair in drawn],)
            assert await outcome(memory, name, arguments) == await outcome(sqlite, name, arguments)
            assert await read_contents(memory) == await read_contents(sqlite)
            assert await read_index(memory, *SEARCHES) == await read_index(sqlite, *SEARCHES)
    finally:
        await sqlite.close()


@settings(max_examples=70, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(commit_calls, other_calls), min_size=1, max_size=4))
def test_memory_and_sqlite_agree_on_any_sequence_of_operations(rounds):
    script = [call for calls in rounds for call in calls]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        asyncio.run(play(script, MemoryStore(), SqliteStore(Path(folder) / "store.db", durability="normal")))
