"""What is judged to read changes nothing when bash runs it; the campaign `campaigns/judge.py` runs many more lines."""

import os

import pytest

from tests.tools.commands.fuzzing import fuzz
from tests.tools.commands.hostile import missing_sandbox, run_all
from tests.tools.commands.lines import option_lines

LINES = 500


@pytest.fixture(autouse=True)
def _sandbox():
    reason = missing_sandbox()
    if reason and os.environ.get("ANTIPHON_REQUIRE_SANDBOX") != "1":
        pytest.skip(reason)


def test_generated_lines_that_are_judged_to_read_change_nothing():
    report = fuzz(1_000_000, LINES)

    assert report.harmful == []
    # Otherwise nothing has been tried.
    assert report.counts["judged read"] > LINES / 4
    assert report.counts["ended without an error"] > LINES / 10
    assert report.counts["judged destructive"] > LINES / 10


@pytest.mark.parametrize(
    "line",
    [
        "touch pwned", "chmod 600 notes.txt", "touch -d @0 notes.txt", "rm notes.txt", "echo x > $HOME/a",
        "sleep 100 &",
        "echo > /dev/tcp/127.0.0.1/8765", "./evil.sh",
    ],
)  # fmt: skip
def test_a_change_of_files_processes_or_network_is_seen(tmp_path, line):
    assert run_all([line], tmp_path)[0].changes


@pytest.mark.parametrize("limited", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_option_of_the_tables_changes_nothing(tmp_path, limited):
    """Also if it takes no value, so that the next word is an operand."""
    lines = list(option_lines("pwned", limited=limited))

    assert len(lines) > (200 if limited else 2_000)
    assert [result for result in run_all(lines, tmp_path) if result.changes] == []
