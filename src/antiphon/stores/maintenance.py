"""What an operator does with a store's file: look at its size, bring it up to date, shrink it, copy it."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from antiphon.runtime.errors import StoreCorrupt, StoreError
from antiphon.runtime.records import Letter
from antiphon.stores import files, rows
from antiphon.stores.access import owning, reading, whole
from antiphon.stores.ownership import owner_of
from antiphon.stores.queries import queries

Progress = Callable[[int, int], None]  # how much is done, and of how much
BACKUP_PAGES = 1024
# What a tree consists of; the actor goes last, since the rest refers to it.
REMOVE = (
    "remove_dead_letters", "remove_tasks", "remove_letters", "remove_entries", "remove_snapshot", "remove_actor",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stats:
    """What is in a store, and how large it is."""

    path: str
    schema: int
    sqlite: str
    boots: int
    owner: int | None  # the process that has it open for writing
    file_bytes: int
    log_bytes: int  # written, and not copied into the file yet
    free_bytes: int  # in the file, and not in use
    trees: int
    statuses: dict[str, int]
    machines: dict[str, int]
    steps: int
    letters: int
    first_due: int | None
    tasks: int  # that are running
    dead_letters: int
    oldest: int | None
    latest: int | None
    longest: dict[str, int]  # journals


def stats(path: str | Path) -> Stats:
    """Count what is in a store, also while it is in use."""
    path = Path(path)
    sql = queries("sqlite", "maintenance")
    with reading(path) as connection:

        def all_of(name: str) -> list[tuple[str, int]]:
            return connection.execute(sql[name]).fetchall()

        statuses = dict(all_of("statuses"))
        steps, oldest, latest = connection.execute(sql["ages"]).fetchone()
        letters, first_due = connection.execute(sql["letters_waiting"]).fetchone()
        boots = connection.execute(queries("sqlite")["current_boot"]).fetchone()
        return Stats(
            path=str(path),
            schema=files.schema_of(connection, path),
            sqlite=sqlite3.sqlite_version,
            boots=0 if boots is None else boots[0],
            owner=owner_of(path),
            file_bytes=path.stat().st_size,
            log_bytes=_size(path.with_name(path.name + "-wal")),
            free_bytes=_pragma(connection, "freelist_count") * _pragma(connection, "page_size"),
            trees=sum(statuses.values()),
            statuses=statuses,
            machines=dict(all_of("machines")),
            steps=steps,
            letters=letters,
            first_due=first_due,
            tasks=connection.execute(sql["task_count"]).fetchone()[0],
            dead_letters=connection.execute(sql["dead_count"]).fetchone()[0],
            oldest=oldest,
            latest=latest,
            longest=dict(all_of("longest")),
        )


def dead_letters(path: str | Path) -> list[tuple[int, Letter, str]]:
    """All letters that no step could take: when they were set aside, and why."""
    path = Path(path)
    sql = queries("sqlite", "maintenance")
    with reading(path) as connection:
        found = connection.execute(sql["dead_letters"]).fetchall()
    return [(row[1], *rows.dead_from(root, tuple(row))) for root, *row in found]


def migrate(path: str | Path) -> tuple[int, int]:
    """Bring a file up to date; gives its schema before and after."""
    path = Path(path)
    _require(path)
    with owning(path, any_schema=True) as connection:
        return files.migrate(connection, path)


def vacuum(path: str | Path) -> tuple[int, int]:
    """Give unused space back; gives the size before and after, logs included."""
    path = Path(path)
    _require(path)
    log = path.with_name(path.name + "-wal")
    with owning(path) as connection:
        before = path.stat().st_size + _size(log)
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        connection.execute("pragma optimize")
        return before, path.stat().st_size + _size(log)


def remove(path: str | Path, root: str) -> bool:
    """Delete a tree with everything of it, at once or not at all; gives whether there was one."""
    path = Path(path)
    _require(path)
    sql = queries("sqlite", "maintenance")
    with owning(path) as connection:
        connection.execute("begin immediate")
        found = connection.execute(queries("sqlite")["find_actor"], (root,)).fetchone()
        if found is not None:
            for name in REMOVE:
                connection.execute(sql[name], found)
        connection.execute("commit")
        return found is not None


def backup(path: str | Path, target: str | Path, progress: Progress) -> int:
    """Copy a store into a new file as it is at one moment, also while it is in use; gives the size of the copy."""
    path = Path(path)
    target = Path(target)
    with (
        reading(path, any_schema=True) as source,
        files.explained(f"copying {path} to {target}"),
        whole(target) as part,
        closing(sqlite3.connect(part)) as copy,
    ):
        source.backup(copy, pages=BACKUP_PAGES, progress=lambda status, left, total: progress(total - left, total))
        found = copy.execute("pragma quick_check(1)").fetchone()[0]
        if found != "ok":
            raise StoreCorrupt(f"{path}: {found}; see what else `antiphon db check` finds")
    return target.stat().st_size


def _require(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"pragma {name}").fetchone()[0])
