"""The team on the page of plug-ins is at most 30 lines, formatted at 100 columns."""

import re
import subprocess
import sys

from tests.paths import DOCS

MOST_LINES = 30


def test_a_team_with_two_tools_and_approval_is_at_most_30_lines() -> None:
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    team = blocks[0]
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "100", "-"]
    formatted = subprocess.run(command, input=team, capture_output=True, text=True, check=True).stdout
    lines = [line for line in formatted.splitlines() if line.strip()]

    assert formatted == team
    assert team.count("@tool") == 2
    assert "approver=" in team
    assert len(lines) <= MOST_LINES
