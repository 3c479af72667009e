"""What every store promises, as tests: a subclass says how to make one."""

from pathlib import Path

from antiphon.testing.contracts.store_facts import InspectableStore
from antiphon.testing.contracts.store_letters import LetterFacts
from antiphon.testing.contracts.store_trees import TreeFacts
from antiphon.testing.contracts.store_values import ValueFacts


class StoreContract(TreeFacts, LetterFacts, ValueFacts):
    """All facts. A subclass whose name begins with `Test` is found by pytest, which gives each a folder."""

    def make_store(self, folder: Path) -> InspectableStore:
        """A new store, not open yet; if it needs files, in a folder that is its own."""
        raise NotImplementedError
