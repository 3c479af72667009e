"""`antiphon doctor` shows what protects this machine, and fails if something does not hold."""

import json
import os

import pytest

from antiphon.cli import doctor
from antiphon.cli.main import main
from antiphon.tools.access import Access
from antiphon.tools.sandbox import Sandbox
from antiphon.tools.sandbox.probes import ATTEMPTS, Probe, run_probes
from tests.attacks.sandbox_world import require_layers


def test_every_attempt_is_held_here(capsys):
    require_layers(True, False)
    code = main(["doctor", "--json"])

    record = json.loads(capsys.readouterr().out)
    assert code == 0
    assert record["sound"] is True
    assert {probe["name"]: probe["held"] for probe in record["probes"]} == dict.fromkeys(ATTEMPTS, True)


def test_every_attempt_is_held_by_landlock_and_seccomp_alone():
    require_layers(False, False)

    assert [probe.name for probe in run_probes(os.environ, bubblewrap=False) if not probe.held] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can do all of it")
def test_every_attempt_works_without_the_sandbox():
    assert [probe.name for probe in run_probes(os.environ, Access(outside=True)) if probe.held] == []


def test_an_attempt_that_works_is_named_and_fails(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "find_sandbox", lambda: Sandbox(True, ("landlock 7",)))
    monkeypatch.setattr(doctor, "run_probes", lambda environment: [Probe("mount", "mount a file system", False)])
    code = main(["doctor"])

    printed = capsys.readouterr().out
    assert code == 1
    assert "BROKEN     mount a file system" in printed
    assert "1 of 1 attempts worked" in printed


def test_a_machine_without_a_sandbox_fails_and_says_what_to_do(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "find_sandbox", lambda: Sandbox(False, (), ("bubblewrap is missing; install it",)))
    code = main(["doctor"])

    printed = capsys.readouterr().out
    assert code == 1
    assert "commands   are asked about, every one" in printed
    assert "problem    bubblewrap is missing; install it" in printed
