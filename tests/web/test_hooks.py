"""The drivers, hooks and stores of the npm package `@antiphon/machines`, by the rows that their tests name.

The tests are `web/packages/machines/src/**/*.test.ts`; a title begins with its rows. Run by `make parity`.
"""

import json
import re
import subprocess
from typing import Any

import pytest

from tests.paths import ROOT

pytestmark = pytest.mark.node
ROW = re.compile(r"\b(?:S\d|X)-[A-Z]?\d+\b")
# Title and outcome of each test.
Outcomes = dict[str, str]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    file = tmp_path_factory.mktemp("vitest") / "report.json"
    command = ["npx", "--no", "vitest", "run", "--dir", "packages/machines", "--reporter=json", f"--outputFile={file}"]
    ended = subprocess.run(command, cwd=ROOT / "web", capture_output=True, text=True, timeout=300)
    assert file.exists(), ended.stderr
    report: dict[str, Any] = json.loads(file.read_text())
    return {test["title"]: test["status"] for suite in report["testResults"] for test in suite["assertionResults"]}


def rows_of(outcomes: Outcomes, *rows: str) -> set[str]:
    """Return which of the rows are named by tests that have passed."""
    passed = [title for title, outcome in outcomes.items() if outcome == "passed"]
    return {row for title in passed for row in ROW.findall(title)} & {*rows}


def test_all_tests_of_the_package_pass(outcomes: Outcomes) -> None:
    assert {title for title, outcome in outcomes.items() if outcome != "passed"} == set()
    assert len(outcomes) > 40


@pytest.mark.requirement(
    "S0-56", "S0-57", "S0-58", "S0-59", "S0-60", "S0-61", "S0-62", "S0-63", "S0-64", "S0-65", "S0-66"
)
def test_the_driver_of_the_browser_does_what_the_story_asks(outcomes: Outcomes) -> None:
    rows = {f"S0-{number}" for number in range(56, 67)}

    assert rows_of(outcomes, *rows) == rows


@pytest.mark.requirement("S0-T23", "S0-T24", "S0-T25", "S0-T26", "S0-T27", "S0-T28", "S0-T29")
def test_the_cases_of_the_hook_hold(outcomes: Outcomes) -> None:
    rows = {f"S0-T{number}" for number in range(23, 30)}

    assert rows_of(outcomes, *rows) == rows


@pytest.mark.requirement("S3-03", "S3-04", "S3-09")
def test_a_thread_in_the_browser_uses_the_shared_chart_and_the_server_decides(outcomes: Outcomes) -> None:
    assert rows_of(outcomes, "S3-03", "S3-04", "S3-09") == {"S3-03", "S3-04", "S3-09"}


@pytest.mark.requirement("S4-118")
def test_there_are_hooks_for_the_machine_and_the_state_of_a_debate(outcomes: Outcomes) -> None:
    assert rows_of(outcomes, "S4-118") == {"S4-118"}


@pytest.mark.requirement("S4-119", "S0-98")
def test_the_state_of_the_interface_is_apart_from_machines(outcomes: Outcomes) -> None:
    assert rows_of(outcomes, "S4-119", "S0-98") == {"S4-119", "S0-98"}
