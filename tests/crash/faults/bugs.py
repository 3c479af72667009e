"""Bugs to inject into a process: power cuts or injected errors must find each of them."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from antiphon.stores.sqlite import SqliteStore
from tests.crash.child import Child, PointedStore
from tests.simulation import bugs as simulated

Inject = Callable[[Child], None]


class Unsynced(PointedStore):
    """Store that never flushes."""

    def _open(self) -> int:
        boot = super()._open()
        self._db().execute("pragma synchronous = off")
        return boot


class Deaf(PointedStore):
    """Store that takes a commit for done although SQLite has reported an error."""

    def _transaction(self, work: Any) -> Any:
        results: list[Any] = []
        try:
            return super()._transaction(lambda: results.append(work()))
        except sqlite3.OperationalError:
            pass
        return results[0] if results else []


def normal_durability(child: Child) -> None:
    """Commits are not flushed before they are acknowledged (durability="normal")."""
    child.new_store = lambda: PointedStore(child.path, child.point, child.plan.checkpoint_pages, durability="normal")


def no_flush(child: Child) -> None:
    """Nothing is flushed, neither the log nor the file."""
    child.new_store = lambda: Unsynced(child.path, child.point, child.plan.checkpoint_pages)


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
    child.new_store = lambda: Deaf(child.path, child.point, child.plan.checkpoint_pages)


BUGS = {inject.__name__: inject for inject in (normal_durability,no_flush,posts_acknowledged_first,steps_acknowledged_first,tasks_started_first,errors_ignored)}
