"""The list of differences is exact, and every line of a document is read once."""

from collections import Counter
from importlib import import_module

import pytest

from tests.seeds.differences import DIFFERENCES
from tests.seeds.reading import readings_of


@pytest.mark.parametrize("document", DIFFERENCES)
def test_every_listed_difference_is_read_and_has_a_reason(document):
    lines = {reading.line for reading in readings_of(document)}

    assert set(DIFFERENCES[document]) <= lines
    assert all(difference.reason for difference in DIFFERENCES[document].values())


@pytest.mark.parametrize("document", DIFFERENCES)
def test_a_line_is_read_once(document):
    counts = Counter(reading.line for reading in readings_of(document))

    assert [line for line, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("document", DIFFERENCES)
def test_every_passage_of_a_document_is_tested(document):
    module = import_module(f"tests.seeds.test_seed_{document}")
    marks = [
        mark.args[1]
        for name, test in vars(module).items()
        if name.startswith("test_")
        for mark in test.pytestmark
        if mark.name == "parametrize"
    ]

    assert marks == [module.PASSAGES]
