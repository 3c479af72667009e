"""What protects a machine is found by trying, and what is missing is said in plain words."""

import pytest

from antiphon.tools.sandbox import detection
from antiphon.tools.sandbox.detection import Sandbox, find_sandbox, without_bubblewrap


def find(monkeypatch, *, version, program=None, filters=True):
    """Return the sandbox of a machine with these layers."""
    monkeypatch.setattr(detection, "landlock_version", lambda: version)
    monkeypatch.setattr(detection, "bubblewrap_program", lambda: program)
    monkeypatch.setattr(detection, "can_filter", lambda: filters)
    monkeypatch.setattr(detection.sys, "platform", "linux")
    return find_sandbox.__wrapped__()


def test_landlock_with_signals_and_abstract_sockets_confines_alone(monkeypatch):
    sandbox = find(monkeypatch, version=6)

    assert sandbox.confines
    assert sandbox.layers == ("landlock 6", "seccomp")
    assert "bubblewrap is missing" in sandbox.problems[0]


@pytest.mark.parametrize("version", [0, 1, 5])
def test_an_older_landlock_does_not_confine_alone(monkeypatch, version):
    sandbox = find(monkeypatch, version=version)

    assert not sandbox.confines
    assert any("confines too little alone" in problem for problem in sandbox.problems)


def test_without_a_filter_nothing_confines(monkeypatch):
    assert not find(monkeypatch, version=7, filters=False).confines


def test_a_bubblewrap_that_does_not_work_is_not_used(monkeypatch):
    sandbox = find(monkeypatch, version=7, program="/bin/false")

    assert sandbox.program is None
    assert any("bubblewrap does not work here" in problem for problem in sandbox.problems)


@pytest.mark.parametrize(("platform", "words"), [("darwin", "sandbox-exec"), ("win32", "WSL 2")])
def test_other_systems_do_not_confine(monkeypatch, platform, words):
    monkeypatch.setattr(detection.sys, "platform", platform)
    sandbox = find_sandbox.__wrapped__()

    assert not sandbox.confines
    assert words in sandbox.problems[0]


def test_without_bubblewrap_the_other_layers_are_left():
    sandbox = Sandbox(True, ("landlock 5", "seccomp", "bubblewrap 0.8.0"), (), 5, True, "/usr/bin/bwrap")

    assert without_bubblewrap(sandbox) == Sandbox(False, ("landlock 5", "seccomp"), (), 5, True, None)
