"""The page of events has the events of every machine as they are declared."""

from tests.docs.events_page import PAGE, rewrite


def test_the_tables_are_those_of_the_declarations():
    page = PAGE.read_text(encoding="utf-8")

    assert page == rewrite(page), "run: python -m tests.docs.events_page"
