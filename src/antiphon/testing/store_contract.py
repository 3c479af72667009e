"""What every store promises, as tests: a subclass says how to make one."""

from pathlib import Path

from antiphon.testing.stores.facts import InspectableStore
from antiphon.testing.stores.letters import LetterFacts
from antiphon.testing.stores.trees import TreeFacts
from antiphon.testing.stores.values import ValueFacts


class StoreContract(TreeFacts, LetterFacts, ValueFacts):
    """All facts. A subclass whose name begins with `Test` is found by pytest, which gives each a folder."""

    def make_store(self, folder: Path) -> InspectableStore:
        """A new store, not open yet; if it needs files, in a folder that is its own."""
        raise NotImplementedError
