"""pyright finds the mistakes that are marked in the cases, and nothing else.

It needs Node, so it runs only when asked for: `ANTIPHON_PYRIGHT=/path/to/pyright pytest -m node`.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.typing.marks import CASES, ROOT, case_of, files, marked_lines

pytestmark = pytest.mark.node


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pyright = os.environ.get("ANTIPHON_PYRIGHT")
    if not pyright:
        pytest.fail("set ANTIPHON_PYRIGHT to the path of pyright; `npm install pyright` puts one in node_modules/.bin")
    given = map(str, files(tmp_path_factory.mktemp("pyright")))
    command = [pyright, "--outputjson", "--pythonpath", sys.executable, *given]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode in (0, 1), ran.stderr or ran.stdout
    errors = [each for each in json.loads(ran.stdout)["generalDiagnostics"] if each["severity"] == "error"]
    return {(case_of(each["file"]), each["range"]["start"]["line"] + 1) for each in errors}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_pyright_finds_what_is_marked_and_nothing_else(case, found):
    lines = {line for path, line in found if path == case}

    assert lines == marked_lines(case, "pyright")
