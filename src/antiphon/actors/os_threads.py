"""The thread of the operating system that actors belong to."""

from _thread import RLock, get_ident
from typing import Any

# One lock per thread. A thread may get the ident of one that has ended, and with it the lock, which it then owns.
_locks: dict[int, Any] = {}
# A lock that no thread owns.
UNOWNED: Any = RLock()


def thread_lock() -> Any:
    """Return the lock that this thread owns and never releases: `_is_owned()` is true in no other thread.

    `Actor.send` asks this lock for every event, because that takes a quarter of the time of comparing idents.
    """
    ident = get_ident()
    lock = _locks.get(ident)
    if lock is None:
        lock = _locks[ident] = RLock()
        lock.acquire()
    return lock
