"""Programs beside the package import names that exist."""

import ast
from importlib import import_module

import pytest

from tests.paths import ROOT

PROGRAMS = sorted(path for folder in ("bench", "campaigns", "conformance") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_program_imports_of_the_package_is_there(program):
    for statement in ast.walk(ast.parse(program.read_text("utf-8"))):
        if isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] == "antiphon":
            module = import_module(statement.module)
            assert [alias.name for alias in statement.names if not hasattr(module, alias.name)] == []
