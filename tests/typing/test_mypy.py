"""mypy --strict finds the mistakes that are marked in the cases, and nothing else."""

import json
from pathlib import Path

import pytest

from tests.typing.marks import CASES, ROOT, marked_lines


@pytest.fixture(scope="module")
def found():
    from mypy import api

    options = ["--strict", "--output=json", f"--config-file={ROOT / 'pyproject.toml'}"]
    printed, problems, _ = api.run([*options, f"--cache-dir={ROOT / '.mypy_cache'}", *map(str, CASES)])
    assert problems == ""
    reports = [json.loads(line) for line in printed.splitlines()]
    return {(Path(each["file"]).name, each["line"]) for each in reports if each["severity"] == "error"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_mypy_finds_what_is_marked_and_nothing_else(case, found):
    lines = {line for name, line in found if name == case.name}

    assert lines == marked_lines(case, "mypy")
