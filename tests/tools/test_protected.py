"""Protected paths: files that decide what runs later, however their path is written."""

import pytest

from antiphon.tools.protected import NAMES, is_protected


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_protected_name_is_protected_anywhere(name):
    for path in (name, f"a/b/{name}", f"{name}/c/d", name.upper(), f"./{name}", f"x/../{name}"):
        assert is_protected(path), path


@pytest.mark.parametrize(
    "path",
    [
        ".env.production",
        ".ENV",
        "rules.mk",
        "a.code-workspace",
        "Makefile.",
        "Makefile ",
        "make\u200bfile",
        "a\\Makefile",
    ],
)
def test_other_ways_to_write_a_name_do_not_evade_it(path):
    assert is_protected(path)


@pytest.mark.parametrize("path", ["notes.txt", "src/main.py", "package.json", "environment.py", "a.env", "Makefile/.."])
def test_other_paths_are_not_protected(path):
    assert not is_protected(path)
