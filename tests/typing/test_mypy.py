"""mypy --strict finds the mistakes that are marked in the cases, and nothing else."""

import json

import pytest

from tests.typing.marks import CASES, ROOT, case_of, files, marked_lines


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    from mypy import api

    given = map(str, files(tmp_path_factory.mktemp("mypy")))
    options = ["--strict", "--output=json", f"--config-file={ROOT / 'pyproject.toml'}"]
    printed, problems, _ = api.run([*options, f"--cache-dir={ROOT / '.mypy_cache'}", *given])
    assert problems == ""
    errors = [each for each in map(json.loads, printed.splitlines()) if each["severity"] == "error"]
    return {(case_of(each["file"]), each["line"]) for each in errors}


@pytest.mark.requirement("S0-84")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_mypy_finds_what_is_marked_and_nothing_else(case, found):
    lines = {line for path, line in found if path == case}

    assert lines == marked_lines(case, "mypy")
