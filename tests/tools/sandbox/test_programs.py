"""Ordinary programs work in the sandbox, with and without bubblewrap."""

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.tools.access import READ_ONLY, WRITABLE
from antiphon.tools.sandbox.runner import ShellSettings, run_command
from tests.attacks.sandbox_world import require_layers

PYTEST = shutil.which("pytest", path=str(Path(sys.executable).parent))
# Program that must be installed, access, command, and a part of its output.
PROGRAMS = [
    ("git", READ_ONLY, "git status --short && git log --oneline && git diff", "first commit"),
    ("ls", READ_ONLY, "ls -l ~ && ls -la . && echo done", "done"),
    ("grep", READ_ONLY, "grep -rn hello lib", "hello"),
    ("python3", READ_ONLY, "python3 -c 'import ssl, sqlite3, tempfile; print(tempfile.TemporaryFile(), 6 * 7)'", "42"),
    ("python3", WRITABLE, "cd lib && python3 -m venv made --without-pip && made/bin/python -c 'print(42)'", "42"),
    ("python3", READ_ONLY, 'python3 -c \'import subprocess as s; print(s.run(["echo", "42"]))\'', "42"),
    ("node", READ_ONLY, 'node -e \'require("child_process").exec("echo 42", (e, out) => console.log(out))\'', "42"),
    ("npm", READ_ONLY, "npm run --silent hello", "hello from npm"),
    ("cargo", READ_ONLY, "cargo --version", "cargo 1"),
    ("make", WRITABLE, "make -C src && cat lib/made.txt", "made"),
    ("gcc", WRITABLE, "cd lib && gcc hello.c -o hello && ./hello", "hello from C"),
    (
        "sqlite3",
        WRITABLE,
        "sqlite3 lib/test.db 'drop table if exists t; create table t (x); insert into t values (42); select x from t'",
        "42",
    ),
    ("tar", WRITABLE, "cd lib && tar cf all.tar hello.c && tar tf all.tar", "hello.c"),
    ("sort", READ_ONLY, "diff <(printf 'b\\na\\n' | sort) <(printf 'a\\nb\\n') && echo same", "same"),
    ("awk", READ_ONLY, "cat <<< 'one two' | awk '{ print $2 }' | tee $TMPDIR/x", "two"),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Give a small project with a repository."""
    folder = tmp_path_factory.mktemp("project")
    texts = {
        "lib/hello.c": '#include <stdio.h>\nint main(void) { puts("hello from C"); return 0; }\n',
        "src/Makefile": "all:\n\techo made > ../lib/made.txt\n",
        "package.json": '{"scripts": {"hello": "echo hello from npm"}}',
        "test_small.py": "def test_small(tmp_path):\n    (tmp_path / 'x').write_text('x')\n",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "first commit"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


def run(project, command, access, bubblewrap):
    require_layers(bubblewrap, False)
    settings = ShellSettings(bubblewrap=bubblewrap)
    return asyncio.run(run_command(project, command, 60_000, settings, dict(os.environ), access))


@pytest.mark.parametrize("bubblewrap", [False, True], ids=["landlock", "bubblewrap"])
@pytest.mark.parametrize(("program", "access", "command", "sign"), PROGRAMS, ids=lambda value: str(value)[:30])
def test_a_program_works(project, program, access, command, sign, bubblewrap):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    if program == "cargo" and subprocess.run(["cargo", "--version"], capture_output=True).returncode:
        pytest.skip("rustup has no tool chain for cargo")
    outcome = run(project, command, access, bubblewrap)

    assert (outcome.reason, outcome.status) == ("ended", 0), outcome
    assert sign in outcome.output


@pytest.mark.parametrize("bubblewrap", [False, True], ids=["landlock", "bubblewrap"])
def test_pytest_runs_the_tests_of_a_project(project, bubblewrap):
    outcome = run(project, f"{PYTEST} -q -p no:cacheprovider test_small.py", READ_ONLY, bubblewrap)

    assert "1 passed" in outcome.output


def test_with_bubblewrap_a_virtual_environment_fits_into_the_temporary_folder(project):
    command = "python3 -m venv $TMPDIR/venv --without-pip && $TMPDIR/venv/bin/python -c 'print(42)'"

    assert "42" in run(project, command, READ_ONLY, True).output


def test_with_bubblewrap_a_command_has_a_loopback_of_its_own(project):
    script = "import socket as s; a = s.create_server((str(), 0)); s.create_connection(a.getsockname()); print(42)"

    assert "42" in run(project, f'python3 -c "{script}"', READ_ONLY, True).output
