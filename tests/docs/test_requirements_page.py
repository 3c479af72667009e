"""The page of requirements is what its generator writes, has a sentence for every row, and names every marked row."""

from collections import Counter

import pytest

from tests.requirements import (
    PAGE,
    ROW,
    MarkedTest,
    expand,
    find_tests,
    marked_tests,
    rewrite,
    sentences,
    without_behaviour,
)

TEXT = PAGE.read_text(encoding="utf-8")
TESTS = find_tests()
MODULE = """
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.requirement("X-5")]

@pytest.mark.requirement("S4-54", "S0-10..S0-12")
@pytest.mark.parametrize("n", [1])
async def test_first(n): ...

def test_second(): ...

class TestContract:
    @pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("E-17"))])
    def test_third(self, n): ...
"""
SMALL = """# Rows

## Streaming

| row | what must hold | tests |
|---|---|---|
| S0-10 | It `holds`. | |
| S0-11 | It holds too. | stale |

## Rows without a test

stale
"""


def test_the_page_is_what_the_generator_writes():
    assert rewrite(TEXT, TESTS) == TEXT, "run: python -m tests.requirements"


def test_every_row_named_by_a_test_is_on_the_page():
    assert sorted(TESTS.keys() - sentences(TEXT).keys()) == []


def test_rows_without_behaviour_are_marked_and_named_by_no_test():
    rows = [*expand("S1-100..S1-103"), "S0-70", "S0-92", "S0-96", "S2-51", "S3-47"]

    assert sorted(without_behaviour(TEXT)) == sorted(rows)
    assert sorted(TESTS.keys() & set(rows)) == []


def test_a_row_without_behaviour_stays_so_and_is_no_gap():
    page = SMALL.replace("stale |", "no behaviour |")

    assert "| S0-11 | It holds too. | no behaviour |" in rewrite(page, {})
    assert "| Streaming | 2 | 1 | S0-10 |" in rewrite(page, {})


def test_every_row_stands_once_and_has_a_sentence():
    rows = Counter(match["id"] for match in map(ROW.match, TEXT.splitlines()) if match)

    assert len(rows) > 600
    assert [row for row, count in rows.items() if count > 1] == []
    assert [row for row, sentence in sentences(TEXT).items() if not sentence.endswith(".")] == []


def test_no_number_of_a_series_is_left_out():
    series = {}
    for row in sentences(TEXT):
        prefix = row.rstrip("0123456789")
        series.setdefault(prefix, []).append(int(row.removeprefix(prefix)))

    assert {prefix: sorted(numbers) for prefix, numbers in series.items()} == {
        prefix: list(range(1, len(numbers) + 1)) for prefix, numbers in series.items()
    }


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("S0-33", ["S0-33"]),
        ("S0-09..S0-11", ["S0-09", "S0-10", "S0-11"]),
        ("S4-B1..S4-B3", ["S4-B1", "S4-B2", "S4-B3"]),
        ("S3.4-7..S3.4-9", ["S3.4-7", "S3.4-8", "S3.4-9"]),
    ],
)
def test_ranges_are_expanded(name, rows):
    assert expand(name) == rows


@pytest.mark.parametrize("name", ["S0-10..12", "S0-10..S4-12", "S0-T01..S0-12"])
def test_a_range_with_different_ends_is_refused(name):
    with pytest.raises(ValueError, match="not a range"):
        expand(name)


def test_markers_of_modules_functions_and_parameters_are_found():
    assert list(marked_tests(MODULE, "tests/test_m.py")) == [
        MarkedTest("tests/test_m.py", ("X-5",)),
        MarkedTest("tests/test_m.py::test_first", ("S4-54", "S0-10", "S0-11", "S0-12")),
        MarkedTest("tests/test_m.py::TestContract::test_third", ("E-17",)),
    ]


def test_a_row_shows_three_tests_and_counts_the_others():
    names = [f"tests/test_m.py::test_{number}" for number in range(5)]
    page = rewrite(SMALL, {"S0-10": names})

    assert "test_2`](../tests/test_m.py)<br>+ 2 more |" in page
    assert "test_3" not in page
    assert "| S0-11 | It holds too. | |" in page
    assert "| Streaming | 2 | 1 | S0-11 |" in page
    assert "stale" not in page
    assert rewrite(page, {"S0-10": names}) == page
