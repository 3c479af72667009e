"""The programs that checkers should be pleased with also run."""

import runpy

import pytest

from tests.typing.marks import PROGRAMS

GOOD = [case for case in PROGRAMS if not case.stem.startswith("bad_")]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.stem)
def test_a_program_without_mistakes_runs(case, capsys):
    runpy.run_path(str(case))
