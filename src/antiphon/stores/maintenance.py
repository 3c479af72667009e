"""Maintenance of the file of a store: statistics, migration, vacuum, removal of trees, backup, restore, lost log."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from antiphon.runtime.errors import StoreCorrupt, StoreError
from antiphon.runtime.records import Letter
from antiphon.stores import files, rows
from antiphon.stores.access import atomic_file, open_owned, open_reader
from antiphon.stores.index import delete_rows
from antiphon.stores.ownership import FileLock, owner_of
from antiphon.stores.queries import load_queries
from antiphon.stores.restores import note_copy

Progress = Callable[[int, int], None]  # units done, and their total
BACKUP_PAGES = 1024
# The statements that delete a tree; the actor goes last, because the other rows refer to it.
REMOVE = (
    "remove_dead_letters", "remove_rejections", "remove_incidents", "remove_tasks", "remove_letters", "remove_entries",
    "remove_snapshot", "remove_actor",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stats:
    """Contents and size of a store."""

    path: str
    schema: int
    sqlite: str
    boots: int
    owner: int | None  # process that has it open for writing
    file_bytes: int
    log_bytes: int  # of the write-ahead log
    free_bytes: int  # unused, in the file
    trees: int
    statuses: dict[str, int]
    machines: dict[str, int]
    steps: int
    removed: int  # steps that were removed by compaction
    letters: int
    first_due: int | None
    tasks: int  # running
    dead_letters: int
    oldest: int | None
    latest: int | None
    longest: dict[str, int]  # the longest journals


def stats(path: str | Path) -> Stats:
    """Count what is in a store, also while it is in use."""
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    with open_reader(path) as connection:

        def all_of(name: str) -> list[tuple[str, int]]:
            return connection.execute(sql[name]).fetchall()

        statuses = dict(all_of("statuses"))
        steps, removed, oldest, latest = connection.execute(sql["ages"]).fetchone()
        letters, first_due = connection.execute(sql["letters_waiting"]).fetchone()
        boots = connection.execute(load_queries("sqlite")["current_boot"]).fetchone()
        return Stats(
            path=str(path),
            schema=files.schema_number(connection, path),
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
            removed=removed,
            letters=letters,
            first_due=first_due,
            tasks=connection.execute(sql["task_count"]).fetchone()[0],
            dead_letters=connection.execute(sql["dead_count"]).fetchone()[0],
            oldest=oldest,
            latest=latest,
            longest=dict(all_of("longest")),
        )


def dead_letters(path: str | Path) -> list[tuple[int, Letter, str]]:
    """Return the stored form of all dead letters, with the time of the last attempt and the error."""
    path = Path(path)
    sql = load_queries("sqlite", "maintenance")
    with open_reader(path) as connection:
        letters = connection.execute(sql["dead_letters"]).fetchall()
    return [(row[1], *rows.dead_from(root, tuple(row), rows.decode)) for root, *row in letters]


def migrate(path: str | Path) -> tuple[int, int]:
    """Migrate a file to the newest schema; return its schema number before and after."""
    path = Path(path)
    _require(path)
    with open_owned(path, any_schema=True) as connection:
        return files.migrate(connection, path)


def accept_loss(path: str | Path) -> bool:
    """Let a store be opened although its log is missing; return whether it was."""
    path = Path(path)
    _require(path)
    if path.stat().st_nlink > 1:
        raise StoreError(
            f"{path}: it has other names (hard links), and the log may be beside one of them; open it under that name, "
            "or copy it to a file of its own"
        )
    with open_reader(path, any_schema=True) as connection:
        is_missing = files.lacks_log(connection, path)
    if is_missing:
        with open_owned(path, any_schema=True, without_log=True):
            pass
    return is_missing


def vacuum(path: str | Path) -> tuple[int, int]:
    """Release unused space; return the size before and after, including the log."""
    path = Path(path)
    _require(path)
    log = path.with_name(path.name + "-wal")
    with open_owned(path) as connection:
        before = path.stat().st_size + _size(log)
        connection.execute("vacuum")
        connection.execute("pragma wal_checkpoint(truncate)").fetchall()
        connection.execute("pragma optimize")
        return before, path.stat().st_size + _size(log)


def remove(path: str | Path, root: str) -> bool:
    """Delete a tree with all its rows in one transaction; return whether it existed."""
    path = Path(path)
    _require(path)
    sql = load_queries("sqlite", "maintenance")
    with open_owned(path) as connection:
        connection.execute("begin immediate")
        key = connection.execute(load_queries("sqlite")["find_actor"], (root,)).fetchone()
        if key is not None:
            delete_rows(connection, key[0])
            for name in REMOVE:
                connection.execute(sql[name], key)
        connection.execute("commit")
        return key is not None


def backup(path: str | Path, target: str | Path, progress: Progress) -> int:
    """Copy a store to a new file as it is at one moment, also while it is in use; return the size of the copy."""
    path = Path(path)
    target = Path(target)
    with (
        open_reader(path, any_schema=True) as source,
        files.translate_errors(f"copying {path} to {target}"),
        atomic_file(target) as part,
        closing(sqlite3.connect(part)) as copy,
    ):
        source.backup(
            copy, pages=BACKUP_PAGES, progress=lambda status, remaining, total: progress(total - remaining, total)
        )
        result = copy.execute("pragma quick_check(1)").fetchone()[0]
        if result != "ok":
            raise StoreCorrupt(f"{path}: {result}; run `antiphon db check` for details")
        if files.schema_number(source, path) > 0:
            with copy:
                note_copy(copy)
                if not files.lacks_log(source, path):  # the copy is complete: it needs no log
                    copy.execute(load_queries("sqlite")["flag_closed"])
    return target.stat().st_size


def restore(path: str | Path, source: str | Path, progress: Progress, *, replace: bool) -> tuple[int, Path | None]:
    """Put a copy of a backup in the place of a store; return its size, and the new path of the store it replaces."""
    path = Path(path).resolve()
    source = Path(source)
    _require_backup(path, source)
    part = path.with_name(path.name + ".restoring")
    ownership = FileLock(path)
    ownership.take()
    try:
        if path.stat().st_size > 0 and not replace:
            raise StoreError(f"{path}: file exists; not overwritten; use --force to move it aside")
        part.unlink(missing_ok=True)
        size = backup(source, part, progress)
        replaced = _move_aside(path)
        part.rename(path)
        files.flush_folder(path)
        return size, replaced
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
        if _size(path) == 0:
            path.unlink(missing_ok=True)  # the lock has made it
        ownership.release()


def _require_backup(path: Path, source: Path) -> None:
    with open_reader(source, any_schema=True) as connection:
        if files.schema_number(connection, source) == 0:
            raise StoreError(f"{source}: the file is empty; name a backup")
    if path.exists() and path.samefile(source):
        raise StoreError(f"{source}: this is the store itself; name a backup of it")


def _move_aside(path: Path) -> Path | None:
    """Rename a store, if there is one, and its log first: a log must never lie beside the file of another store."""
    stems = (path.with_name(f"{path.name}.replaced-{number}") for number in count(1))
    target = next(stem for stem in stems if not (stem.exists() or stem.with_name(stem.name + "-wal").exists()))
    path.with_name(path.name + "-shm").unlink(missing_ok=True)
    log = path.with_name(path.name + "-wal")
    if log.exists():
        log.rename(target.with_name(target.name + "-wal"))
        files.flush_folder(path)
    if _size(path) == 0:
        return None
    path.rename(target)
    files.flush_folder(path)
    return target


def _require(path: Path) -> None:
    if not path.is_file():
        raise StoreError(f"{path}: there is no such file")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"pragma {name}").fetchone()[0])
