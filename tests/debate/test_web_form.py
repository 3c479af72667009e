"""The form of the web app has the rules of the server: both are tested with the same settings."""

from tests.debate.web_form import CASES, make_cases


def test_the_form_is_tested_with_the_problems_that_the_server_finds() -> None:
    """If it fails: `python -m tests.debate.web_form`, then change `web/src/debates/validation.ts`."""
    assert CASES.read_text("utf-8") == make_cases()
