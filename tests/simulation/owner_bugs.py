"""Bugs to inject into owners of one store: the simulation of several owners must find each of them."""

from antiphon.runtime.commits import Commits
from antiphon.runtime.loop import TurnLoop
from antiphon.runtime.pipeline import Pipeline
from antiphon.runtime.recovery import Recovery
from antiphon.runtime.tasks import TaskRunner
from antiphon.stores.memory import MemoryStore
from antiphon.testing.simulation.owner_faults import OwnerFaults


class IgnoresTenures(MemoryStore):
    """Store that compares steps only, not tenures."""

    async def commit(self, commits, written=None):
        await super().commit([commit._replace(tenure=0) for commit in commits])


class AcceptsEveryPost(MemoryStore):
    """Store that puts letters of any owner into inboxes."""

    async def post(self, letters, tenure=0):
        return await super().post(letters)


def tenures_are_not_compared(patch):
    """The store does not compare tenures."""
    return IgnoresTenures


def posts_are_not_fenced(patch):
    """A replaced owner can post letters, of which the present one does not know."""
    return AcceptsEveryPost


def lost_trees_are_kept(patch):
    """An owner that has lost a tree keeps it."""
    patch.setattr(TurnLoop, "lose", lambda loop, root: None)
    return MemoryStore


def tasks_of_lost_trees_are_kept(patch):
    """An owner that has lost a tree continues its tasks."""
    patch.setattr(TaskRunner, "cancel_all", lambda runner, root: None)
    return MemoryStore


def a_tree_is_run_without_ownership(patch):
    """A process takes letters for trees that it does not own."""
    patch.setattr(Commits, "tenure_of", lambda commits, root: commits._ownership.tenure(root) or 0)
    return MemoryStore


def adoptions_are_not_announced(patch):
    """An owner loads the tree that it adopts before the store refuses what the owner before still writes."""

    async def announce(recovery, root):
        await recovery._trees.load_saved(root)

    patch.setattr(Recovery, "_announce", announce)
    return MemoryStore


def adoptions_recover_nothing(patch):
    """An owner that adopts a tree does not look for its letters and tasks."""

    async def recover(recovery, root):
        return None

    patch.setattr(Recovery, "recover_tree", recover)
    return MemoryStore


def lost_answers_are_failures(patch):
    """A commit whose answer is lost is taken for one that was not made."""

    async def are_stored(commits, made, error):
        return False

    patch.setattr(Commits, "_are_stored", are_stored)
    return MemoryStore


def rejections_are_not_checked(patch):
    """A replaced owner rejects letters by the state that it knows."""
    real = Pipeline.commit

    async def commit(pipeline, commits):
        stored = [commit for commit in commits if not commit.is_empty]
        if stored:
            await real(pipeline, stored)

    patch.setattr(Pipeline, "commit", commit)
    return MemoryStore


# Each bug, and the law that it breaks.
BUGS = {
    tenures_are_not_compared: "stored step .* after tenure",
    posts_are_not_fenced: "has been due for",
    lost_trees_are_kept: "keeps its tree",
    tasks_of_lost_trees_are_kept: "runs its tasks|ended as done and said",
    a_tree_is_run_without_ownership: "tenure 0 stored step|keeps its tree",
    adoptions_are_not_announced: "stored step .* after tenure",
    adoptions_recover_nothing: "has been due for|but is not run",
    lost_answers_are_failures: "the feed gave|the feed ended at|but is not run|stored at",
    rejections_are_not_checked: "was rejected at .*, and was sent after",
}
# The faults under which a bug is found; others are found under those that the seed draws.
FAULTS = {rejections_are_not_checked: OwnerFaults(moved=0.2, untold=1.0, work_hangs=0.5)}
