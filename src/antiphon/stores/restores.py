"""Restored backups: a copy of a store says so, and when it is used the trees in it begin new histories."""

import sqlite3

from antiphon.runtime.histories import new_suffix
from antiphon.stores.queries import load_queries


def note_copy(connection: sqlite3.Connection) -> None:
    """Note in a copy of a store that it is one."""
    connection.execute(load_queries("sqlite", "maintenance")["note_copy"])


def begin_histories(connection: sqlite3.Connection) -> None:
    """In a copy that is used for the first time, begin new histories, in the transaction of its boot."""
    sql = load_queries("sqlite", "maintenance")
    if connection.execute(sql["take_note"]).fetchone() is not None:
        connection.execute(sql["change_histories"], (new_suffix(),))
