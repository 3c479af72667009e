"""The 316 scripts of the SCION test framework, with the domains of the recommendation and with those of SCION."""

import tarfile

import pytest

from tests.scxml.suite import ARCHIVE, names, problem_of


def test_the_archive_has_the_licence_of_its_files():
    with tarfile.open(ARCHIVE) as archive:
        licence = archive.extractfile("LICENSE.txt")
        assert licence is not None
        assert b"Apache License" in licence.read(200)


@pytest.mark.parametrize("domains", ["w3c", "lca"])
def test_all_scripts_of_the_suite_pass(domains):
    scripts = names()

    problems = {name: problem for name in scripts if (problem := problem_of(name, domains)) is not None}

    assert len(scripts) == 316
    assert problems == {}


def test_the_scripts_for_other_domains_fail_with_those_of_the_recommendation(monkeypatch):
    monkeypatch.setattr("tests.scxml.suite.OTHER_DOMAINS", ())

    failing = [name for name in names() if problem_of(name, "w3c") is not None]

    assert failing == ["more-parallel/test10", "more-parallel/test10b"]
