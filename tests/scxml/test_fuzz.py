"""Random documents run as the algorithm of the recommendation runs them."""

import pytest

from antiphon.chart import decisions, domains, entry
from tests.scxml.fuzz import differences


def test_random_documents_have_the_configurations_and_actions_of_the_recommendation():
    assert list(differences(500, 1)) == []


def test_documents_continue_from_persisted_snapshots_in_new_machines():
    assert list(differences(60, 500_000, restart=True)) == []


@pytest.mark.parametrize(
    ("module", "function", "broken"),
    [
        (domains, "_compound_domain", lambda transition, targets: transition.source.parent),
        (entry.EntrySet, "_add_initials", lambda self, node: self.add_descendants(node.children[0])),
        (decisions, "document_order", lambda node: -node.order),
    ],
)
def test_the_comparison_notices_a_broken_rule(monkeypatch, module, function, broken):
    monkeypatch.setattr(module, function, broken)

    assert next(differences(150, 1), None) is not None
