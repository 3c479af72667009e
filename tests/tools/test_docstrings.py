"""Docstrings in the style of Google are split into a description and the texts of the parameters."""

from antiphon.tools.docstrings import parse_docstring

DOCSTRING = """Find a book.

    It looks in every shelf.

    Args:
        title: the title, or
            a part of it
        limit (int): how many
            books: at most
        exact:

    Returns:
        title: this is no parameter

    Raises:
        OSError: never
    """


def test_the_description_ends_at_the_first_section() -> None:
    assert parse_docstring(DOCSTRING).description == "Find a book.\n\nIt looks in every shelf."


def test_each_parameter_has_its_text_in_one_line() -> None:
    assert parse_docstring(DOCSTRING).parameters == {
        "title": "the title, or a part of it",
        "limit": "how many books: at most",
        "exact": "",
    }


def test_a_docstring_without_sections_is_the_description() -> None:
    assert parse_docstring("Find a book: any book.") == ("Find a book: any book.", {})


def test_an_empty_docstring_says_nothing() -> None:
    assert parse_docstring("") == ("", {})
