"""The library that runs embedded models is said to be missing or broken in one line, before anything is fetched."""

import os
import tomllib

import pytest
from packaging.requirements import Requirement

from antiphon.providers.local.exits import describe_exit
from antiphon.providers.local.library import MACHINES, XLLAMACPP, installation_problem, library_problem
from tests.paths import ROOT


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Writes a library of a name, for us and for child processes."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))

    def write(name, code):
        (tmp_path / f"{name}.py").write_text(code)
        return name

    return write


def cpuinfo(folder, text):
    path = folder / "cpuinfo"
    path.write_text(f"processor\t: 0\n{text}\n")
    return path


def test_a_library_that_loads_is_no_problem(library, tmp_path):
    fine = library(XLLAMACPP, "")

    assert library_problem(fine, cpuinfo(tmp_path, "flags\t\t: fpu avx avx2")) is None


@pytest.mark.parametrize("text", ["Features\t: fp asimd", "model name\t: unknown"], ids=["ARM", "no flags"])
def test_only_processors_of_x86_need_avx2(library, tmp_path, text):
    assert library_problem(library(XLLAMACPP, ""), cpuinfo(tmp_path, text)) is None


def test_what_cannot_be_read_about_the_processor_is_no_problem(library, tmp_path):
    assert library_problem(library(XLLAMACPP, ""), tmp_path / "nothing") is None


def test_a_processor_without_avx2_is_the_reason(library, tmp_path):
    problem = library_problem(library(XLLAMACPP, ""), cpuinfo(tmp_path, "flags\t\t: fpu sse4_2 avx"))

    assert problem == (
        "it needs xllamacpp, which needs a processor with AVX2, and this one has no AVX2; use another model"
    )


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        (
            "library_without_libgomp",
            "raise ImportError('libgomp.so.1: cannot open shared object file')",
            "exit code 1, ImportError: libgomp.so.1: cannot open shared object file",
        ),
        (
            "library_with_new_instructions",
            "import os, signal\nos.kill(os.getpid(), signal.SIGILL)",
            "SIGILL: this processor lacks a required instruction",
        ),
    ],
    ids=["a library of the system is missing", "an illegal instruction"],
)
def test_a_library_that_does_not_load_says_why_and_ends_nobody_else(library, tmp_path, name, code, reason):
    problem = library_problem(library(name, code), tmp_path / "nothing")

    assert problem == f"it needs {name}, which does not load here ({reason}); fix that, or use another model"


def test_a_library_that_is_not_installed_says_what_to_install():
    problem = installation_problem("no_such_library", "linux", "x86_64")

    assert problem == "it needs no_such_library, which is not installed: pip install 'antiphon[local]'"


@pytest.mark.parametrize(("system", "machine"), [("linux", "riscv64"), ("win32", "ARM64"), ("freebsd14", "amd64")])
def test_where_there_is_no_wheel_nobody_is_told_to_install_it(system, machine):
    problem = installation_problem("no_such_library", system, machine)

    assert problem == (f"it needs no_such_library, which has no package for {system} on {machine}; use another model")


def test_the_machines_are_those_for_which_the_extra_brings_the_library():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (marker,) = [Requirement(line).marker for line in extras["local"] if line.startswith("xllamacpp")]

    def is_brought(system, machine):
        return marker.evaluate({"sys_platform": system, "platform_machine": machine})

    assert all(is_brought(system, machine) for system, machines in MACHINES.items() for machine in machines)
    assert not any(is_brought(*place) for place in [("linux", "riscv64"), ("win32", "ARM64"), ("freebsd14", "amd64")])


@pytest.mark.parametrize(
    ("code", "errors", "expected_text"),
    [
        (0, b"", "exit code 0"),
        (1, b"first\nlast\n", "exit code 1, last"),
        (-9, b"", "SIGKILL"),
        (-99, b"", "signal 99"),
        (3, b"x" * 1000, f"exit code 3, {'x' * 300}"),
    ],
)
def test_an_exit_is_described_with_the_last_line_of_its_errors(code, errors, expected_text):
    assert describe_exit(code, errors) == expected_text
