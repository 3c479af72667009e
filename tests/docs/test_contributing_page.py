"""The pages for contributors name what exists, their example runs, and hooks and workflow call what is here."""

import os
import re

import pytest
import yaml

from tests.paths import PACKAGE, ROOT
from tests.requirements import PAGE as REQUIREMENTS
from tests.requirements import sentences

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "SECURITY.md")}
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:\.?[\w-]+/)+|(?:\.?[\w-]+/)*\.?[\w-]+\.(?:py|md|json|yml|yaml))`")
NAMES_OF_FILE = re.compile(r"`([\w./-]+\.py)` \(((?:`\w+`(?:, )?)+)\)")
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)(?:#([^)]*))?\)")
TARGET = re.compile(r"`make ([a-z0-9-]+)")
# Names in the table of styles and in checklists that stand for any file.
ANY_FILE = {"utils.py", "manager.py", "inbox.py", "guards.py", "command.py"}


def find_file(path):
    """Return where a path of the package or of the repository leads, or None."""
    return next((root / path for root in (PACKAGE, ROOT) if (root / path).exists()), None)


def anchors(page):
    """Return the anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_every_named_file_and_folder_exists(name):
    named = set(PATH.findall(BLOCK.sub("", PAGES[name]))) - ANY_FILE

    assert len(named) > 2
    assert sorted(path for path in named if find_file(path) is None) == []


def test_every_name_given_with_a_file_is_in_it():
    named = [(path, name) for path, names in NAMES_OF_FILE.findall(CONTRIBUTING) for name in re.findall(r"\w+", names)]

    assert len(named) > 20
    assert [
        (path, name)
        for path, name in named
        if not re.search(rf"^(?:def |class )?{name}\b", find_file(path).read_text(encoding="utf-8"), re.MULTILINE)
    ] == []


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_page_and_a_heading(name):
    for target, anchor in LINK.findall(PAGES[name]):
        assert (ROOT / target).is_file(), target
        assert not anchor or anchor in anchors(ROOT / target), (target, anchor)


def test_every_make_target_is_named():
    (phony,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

    assert set(TARGET.findall(CONTRIBUTING)) == set(phony.split()) - {"help"}


def test_the_example_of_a_test_passes_and_names_rows_that_exist():
    (example,) = EXAMPLE.findall(CONTRIBUTING)
    namespace = {}

    exec(compile(example, "CONTRIBUTING.md", "exec"), namespace)
    namespace["test_a_prompt_leads_to_sending"]()
    marks = namespace["test_a_prompt_leads_to_sending"].pytestmark
    rows = sentences(REQUIREMENTS.read_text(encoding="utf-8"))
    assert [row for mark in marks for row in mark.args if row not in rows] == []


def test_hooks_are_local_and_call_the_tools_of_the_environment():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]

    assert {repository["repo"] for repository in config["repos"]} == {"local"}
    assert [hook["id"] for hook in hooks] == ["ruff-check", "ruff-format", "mypy"]
    assert all(hook["entry"].startswith(".venv/bin/") for hook in hooks)


def test_the_workflow_runs_what_must_hold_before_a_change_lands():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["check"]["steps"]
    settings = {name: value for step in steps for name, value in step.get("with", {}).items()}

    assert [step["run"] for step in steps if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert settings["python-version"] == "3.11"
    assert "node-version" in settings
