"""Every store keeps the contract of stores."""

from antiphon.stores.memory import MemoryStore
from antiphon.stores.sqlite import SqliteStore
from antiphon.testing.contracts.stores import StoreContract


class TestMemory(StoreContract):
    def make_store(self, folder):
        return MemoryStore()


class TestSqlite(StoreContract):
    def make_store(self, folder):
        return SqliteStore(folder / "store.db")
