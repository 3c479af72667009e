"""The list of mutants fits the code and the requirements; `make mutants` shows that each is killed."""

import ast

import pytest

from tests.mutants.mutants import MUTANTS
from tests.paths import PACKAGE
from tests.requirements import PAGE, find_tests, without_behaviour

TESTS = find_tests()


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_changes_one_place_and_can_be_parsed(mutant):
    source = (PACKAGE / mutant.module).read_text("utf-8")

    assert source.count(mutant.text) == 1
    assert ast.parse(source.replace(mutant.text, mutant.instead))


def test_every_mutant_has_a_row_that_a_test_names():
    rows = {mutant.row for mutant in MUTANTS}

    assert rows <= TESTS.keys()
    assert rows.isdisjoint(without_behaviour(PAGE.read_text("utf-8")))


@pytest.mark.parametrize(
    "row", ["S2-59", "S3-58", "S4-113", "S4-123", "S4-124", "S4-125", "S0-83", "S0-97", "X-2", "E-18"]
)
def test_the_rows_that_must_have_a_mutant_have_one(row):
    assert row in {mutant.row for mutant in MUTANTS}
