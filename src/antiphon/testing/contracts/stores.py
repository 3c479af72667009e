"""Contract tests that every store passes; a subclass creates the store."""

from pathlib import Path

from antiphon.runtime.store import Store
from antiphon.testing.contracts.store_deletions import DeletionFacts
from antiphon.testing.contracts.store_index import IndexFacts
from antiphon.testing.contracts.store_letters import LetterFacts
from antiphon.testing.contracts.store_steps import StepFacts
from antiphon.testing.contracts.store_trees import TreeFacts
from antiphon.testing.contracts.store_values import ValueFacts


class StoreContract(TreeFacts, StepFacts, LetterFacts, ValueFacts, DeletionFacts, IndexFacts):
    """All contract tests. Pytest collects a subclass whose name begins with `Test`."""

    def make_store(self, folder: Path) -> Store:
        """Return a new store that is not open yet; it may keep files in `folder`."""
        raise NotImplementedError
