"""Bugs to inject into a process that runs under the shim: power cuts or injected errors must find each of them."""

import errno
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pytest

from antiphon.runtime.inboxes import Delivery
from antiphon.stores import files
from tests.crash.child import Child, PointedStore
from tests.crash.faults.recording import LASTING, STORE, Fault
from tests.simulation import bugs as simulated

UNTIL_THE_END = LASTING - 1


class Unflushed(PointedStore):
    """Store that never flushes."""

    def _open(self) -> int:
        boot = super()._open()
        self._db().execute("pragma synchronous = off")
        return boot


class Deaf(PointedStore):
    """Store that ignores errors of its commits."""

    def _transaction(self, work: Any) -> Any:
        results: list[Any] = []
        try:
            super()._transaction(lambda: results.append(work()))
        except sqlite3.OperationalError:
            return results[0] if results else []
        return results[0]


def normal_durability(child: Child) -> None:
    """Commits are not flushed before they are acknowledged (durability="normal")."""
    _use(child, PointedStore, durability="normal")


def no_flush(child: Child) -> None:
    """Neither the log nor the file is ever flushed."""
    _use(child, Unflushed)


def folder_not_flushed(child: Child) -> None:
    """The folder is not flushed after the log was created."""


def file_not_flushed(child: Child) -> None:
    """The file is not flushed before the log is used again from its beginning."""


def posts_acknowledged_first(child: Child) -> None:
    """A post is acknowledged before it is stored."""
    child.plan = replace(child.plan, boasts=True)


def steps_acknowledged_first(child: Child) -> None:
    """A letter is acknowledged before its step is stored."""
    simulated.acknowledged_too_early(pytest.MonkeyPatch())


def tasks_started_first(child: Child) -> None:
    """Tasks start before the step that requested them is stored."""
    simulated.performed_too_early(pytest.MonkeyPatch())


def errors_ignored(child: Child) -> None:
    """A commit that failed is acknowledged."""
    _use(child, Deaf)


def failed_flush_forgotten(child: Child) -> None:
    """After a failed flush the store continues, and says that the commit was not stored."""
    pytest.MonkeyPatch().setattr(files, "is_undecided", lambda error: False, raising=False)


def refusals_not_reported(child: Child) -> None:
    """A letter whose commit failed gets no answer."""
    pytest.MonkeyPatch().setattr(Delivery, "fail", lambda delivery, error: None)


def other_error(child: Child) -> None:
    """An error of SQLite reaches the caller as it is."""
    pytest.MonkeyPatch().setattr(files, "to_store_error", lambda path, error: error)


def stays_refusing(child: Child) -> None:
    """A store whose disk was full once refuses everything until it is opened again."""
    real = PointedStore._transaction
    errors: list[sqlite3.Error] = []

    def transaction(store: PointedStore, work: Callable[[], Any]) -> Any:
        try:
            return real(store, work if not errors else lambda: _raise(errors[0]))
        except sqlite3.OperationalError as error:
            errors.append(error)
            raise

    pytest.MonkeyPatch().setattr(PointedStore, "_transaction", transaction)


def _use(child: Child, store: type[PointedStore], **options: str) -> None:
    make = partial(store, child.path, child.point, child.plan.checkpoint_pages, **options)
    pytest.MonkeyPatch().setattr(child, "new_store", make)


def _raise(error: Exception) -> None:
    raise error


@dataclass(frozen=True)
class Bug:
    """Bug, the fault that it needs, and the law that it breaks."""

    inject: Callable[[Child], None]
    law: str
    fault: Fault | None = None  # calls that fail, or flushes that report success and flush nothing

    @property
    def is_about_errors(self) -> bool:
        """True if injected errors find it, False if power cuts do."""
        return self.fault is not None and self.fault.error > 0

    @property
    def description(self) -> str:
        """The bug in one sentence."""
        return (self.inject.__doc__ or "").strip()


ALL = (
    Bug(normal_durability, "lost"),
    Bug(no_flush, "lost"),
    Bug(folder_not_flushed, "lost", Fault("flush", "/store", 1, UNTIL_THE_END, -1)),
    Bug(file_not_flushed, "lost|damaged|cannot be read|entries", Fault("flush", STORE, 1, UNTIL_THE_END, -1)),
    Bug(posts_acknowledged_first, "lost"),
    Bug(steps_acknowledged_first, "lost"),
    Bug(tasks_started_first, "tasks doubled"),
    Bug(errors_ignored, "lost", Fault("write", "-wal", 150, 40, errno.ENOSPC)),
    Bug(failed_flush_forgotten, "refused as if nothing was stored", Fault("flush", "-wal", 32, LASTING, errno.EIO)),
    Bug(refusals_not_reported, "neither answered nor ended", Fault("write", "-wal", 160, 40, errno.ENOSPC)),
    Bug(other_error, "neither answered nor ended|ended with 1", Fault("write", "-wal", 160, 40, errno.ENOSPC)),
    Bug(stays_refusing, "takes no letters", Fault("write", "-wal", 160, 1, errno.ENOSPC)),
)
BUGS = {bug.inject.__name__: bug for bug in ALL}
