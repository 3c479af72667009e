"""Everything that reaches a terminal passes the gate: nothing writes to standard output or error by itself."""

import ast

import pytest

from tests.architecture import rules
from tests.architecture.test_rules import PACKAGE

STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}
# Programs of their own, whose output is a pipe of the process that started them.
WORKERS = {
    "tools/regex_worker.py",
    "tools/html_text.py",
    "tools/sandbox/supervisor.py",
    "tools/sandbox/probe_program.py",
    "agents/file_worker.py",
}
# Modules that write to files of their own by descriptors.
OWN_FILES = {"tools/undo/copies.py", "tools/undo/records.py"}
# A program for tests, which shows only its own texts.
OWN_TEXTS = {"testing/fake_llm/__main__.py"}
GATE = "cli/render/gate.py"


def raw_writes(source):
    """Return the lines that write past the gate."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="print" | "breakpoint")):
                yield node.lineno
            case ast.Call(func=ast.Name(id="Console")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Name(id="os"), attr="write" | "writev" | "sendfile")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr=stream), attr="write" | "writelines")):
                if stream in STREAMS:
                    yield node.lineno
            case ast.Attribute(attr="__stdout__" | "__stderr__" | "buffer", value=ast.Name(id="sys")):
                yield node.lineno
            case ast.Attribute(attr="buffer", value=ast.Attribute(attr="stdout" | "stderr")):
                yield node.lineno


def test_nothing_writes_past_the_gate():
    excepted = WORKERS | OWN_FILES | OWN_TEXTS | {GATE}
    paths = {path.relative_to(PACKAGE).as_posix(): path for path in rules.modules(PACKAGE).values()}

    assert [
        f"{name}:{line}"
        for name, path in paths.items()
        if name not in excepted
        for line in raw_writes(path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "sys.stdout.write('x')",
        "sys.stderr.writelines(lines)",
        "sys.stdout.buffer.write(b'x')",
        "os.write(1, b'x')",
        "sys.__stdout__.write('x')",
        "Console().print('x')",
    ],
)
def test_the_rule_notices_a_raw_write(source):
    assert list(raw_writes(source))
