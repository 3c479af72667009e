"""Dead letters and quarantined trees: set aside with the reason, and released, retried or discarded later."""

import traceback
from collections.abc import Callable

from antiphon.runtime.clock import SteadyClock
from antiphon.runtime.commits import Commits
from antiphon.runtime.errors import Quarantined, UnknownLetter, UnknownRoot
from antiphon.runtime.index.rows import IndexChange
from antiphon.runtime.ownership import Whole
from antiphon.runtime.records import Commit, Letter, Saved, TreeFailure
from antiphon.runtime.store import Store

QUARANTINED = "quarantined"


class Quarantine:
    """Stores letters that cannot be taken and trees that cannot continue; each call is one commit."""

    def __init__(self, store: Store, commits: Commits, now: Callable[[], int]) -> None:
        self._store = store
        self._commits = commits
        self._now = now
        self.on_quarantined: Callable[[str], None] = lambda root: None

    async def set_aside(self, letter: Letter, reason: str) -> None:
        """Make a letter from outside a dead letter; its tree takes the next one."""
        saved = await self._load(letter.root)
        dead = ((letter, reason),)
        await self._commits.make(
            Commit(letter.root, saved.seq, self._now(), saved.status, taken=(letter.id,), dead=dead)
        )

    async def quarantine(self, root: str, reason: str, letter: Letter | None = None) -> None:
        """Let a tree take no more letters; a letter that caused this becomes a dead letter."""
        saved = await self._load(root)
        taken = () if letter is None else (letter.id,)
        dead = () if letter is None else ((letter, reason),)
        attempts = 1 + (0 if saved.failure is None else saved.failure.attempts)
        failure = TreeFailure(attempts, reason)
        now = self._now()
        change = IndexChange(now)  # of its place in lists
        commit = Commit(root, saved.seq, now, QUARANTINED, taken=taken, dead=dead, failure=failure, index_change=change)
        await self._commits.make(commit)
        self.on_quarantined(root)

    async def release(self, root: str) -> list[Letter] | None:
        """Let a quarantined tree continue, with the inside letters that it could not take; return these.

        Return None if the tree is not quarantined.
        """
        saved = await self._load(root)
        if saved.status != QUARANTINED:
            return None
        dead = await self._store.dead_letters(root)
        now = self._now()
        letters = tuple(_move_back(letter, now) for letter, _ in dead if not is_from_outside(letter))
        revived = tuple(letter.id for letter in letters)
        change = IndexChange(now)
        commit = Commit(root, saved.seq, now, "active", letters=letters, revived=revived, index_change=change)
        await self._commits.make(commit)
        return list(letters)

    async def retry(self, root: str, letter: str) -> Letter:
        """Put a dead letter back into the inbox, to be taken now."""
        saved = await self._load(root)
        now = self._now()
        revived = _move_back(await self._dead_letter(root, letter), now)._replace(due=now, starts=0)
        commit = Commit(root, saved.seq, now, saved.status, letters=(revived,), revived=(letter,))
        await self._commits.make(commit)
        return revived

    async def discard(self, root: str, letter: str) -> None:
        """Delete a dead letter."""
        saved = await self._load(root)
        await self._dead_letter(root, letter)
        await self._commits.make(Commit(root, saved.seq, self._now(), saved.status, revived=(letter,)))

    async def _dead_letter(self, root: str, id: str) -> Letter:
        for letter, _ in await self._store.dead_letters(root):
            if letter.id == id:
                return letter
        raise UnknownLetter(f"{root!r} has no dead letter {id!r}; `antiphon db dead` lists them")

    async def _load(self, root: str) -> Saved:
        saved = await self._store.load(root)
        if saved is None:
            raise UnknownRoot(f"there is no root actor {root!r}")
        return saved


def quarantine_error(saved: Saved) -> Quarantined:
    """Return the error for callers of a quarantined tree, with the last line of the reason."""
    reason = "see its dead letters" if saved.failure is None else saved.failure.reason.rpartition("\n")[2]
    return Quarantined(f"{saved.root!r} is quarantined; release it when the cause is mended: {reason}")


def _move_back(letter: Letter, now: int) -> Letter:
    """Return a dead letter as it is now; the clock may have been ahead when it was set aside."""
    lead = max(0, letter.at - now)
    return letter._replace(at=letter.at - lead, due=letter.due - lead)


def offline_quarantine(store: Store, boot: int) -> Quarantine:
    """Return the quarantine of a store that was opened without a runtime."""
    commits = Commits(store, Whole())
    commits.start(boot)
    return Quarantine(store, commits, SteadyClock().now)


def is_from_outside(letter: Letter) -> bool:
    """Return whether a letter was sent or posted, not made by a timer or a task."""
    return letter.task is None and letter.timer is None and not letter.sender


def format_error(error: BaseException) -> str:
    """Return an error with its traceback."""
    return "".join(traceback.format_exception(error)).rstrip()
