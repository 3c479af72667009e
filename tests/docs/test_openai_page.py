"""The page on clients of OpenAI has every parameter and every code of an error."""

import re

from antiphon.server.contracts import checks
from antiphon.server.facades.known_conversations import MOST_REMEMBERED
from antiphon.server.facades.openai import errors
from antiphon.server.facades.openai.bodies import ChatCompletionRequest, ResponseRequest
from antiphon.server.facades.openai.options import EFFORTS, MOST_STOPS, NEUTRAL, REFUSED
from tests.paths import DOCS

TEXT = (DOCS / "openai.md").read_text(encoding="utf-8")
ROWS = [(set(re.findall(r"`([^`]+)`", first)), rest) for first, rest in re.findall(r"^\| (.*?) \| (.*) \|", TEXT, re.M)]


def rows_with(words: str) -> set[str]:
    return {name for names, rest in ROWS for name in names if words in rest}


def test_every_parameter_has_its_line() -> None:
    parameters = {*checks.shape(ChatCompletionRequest).fields, *checks.shape(ResponseRequest).fields}

    assert parameters - {name for names, _ in ROWS for name in names} == set()


def test_parameters_that_are_refused_are_those_of_the_code() -> None:
    assert rows_with("are refused") == {*REFUSED}
    assert rows_with("only with the value that changes nothing") == {*NEUTRAL}


def test_every_code_of_an_error_has_its_line_with_its_status() -> None:
    codes = {code: status for status, code in errors.FAILURES.values()}
    codes["invalid_api_key"] = 401

    for code, status in codes.items():
        assert code in rows_with(f"{status} | ")


def test_numbers_are_those_of_the_code() -> None:
    assert f"last {MOST_REMEMBERED:,} conversations" in TEXT
    assert f"up to {MOST_STOPS} texts" in TEXT
    assert all(f"`{effort}`" in TEXT for effort in EFFORTS)
