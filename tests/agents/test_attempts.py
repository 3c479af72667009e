"""What a model may try through its tools in a run, and what it gets; docs/workspace-tools.md has the same table."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from antiphon.agents.service import Runs
from antiphon.messages import Text, ToolResult
from tests.fixtures.agents import Call, Scene, Troupe, answered, idle, played, team
from tests.paths import DOCS

PAGE = (DOCS / "workspace-tools.md").read_text(encoding="utf-8")
CANARY = "canary-1f3870be274f6c49b3e31a0c6728957f"


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something bad that is tried, in words, and the call that tries it."""

    tried: str
    tool: str
    arguments: dict[str, Any] | str


ATTEMPTS = (
    Attempt("a path with `..`", "read_file", {"path": "../secret.txt"}),
    Attempt("an absolute path", "read_file", {"path": "/etc/passwd"}),
    Attempt("a path with a null byte", "read_file", {"path": "a\0b"}),
    Attempt("a symlink that leads out", "read_file", {"path": "leak"}),
    Attempt("writing through a symlink that leads out", "write_file", {"path": "out/new.txt", "content": "x"}),
    Attempt("writing beside the workspace", "write_file", {"path": "../new.txt", "content": "x"}),
    Attempt("writing a hook of git", "write_file", {"path": ".git/hooks/pre-commit", "content": "x"}),
    Attempt("reading a pipe", "read_file", {"path": "pipe"}),
    Attempt("listing outside", "list_files", {"pattern": "../*"}),
    Attempt("a search that never ends", "search_files", {"query": "(a+)+$", "regex": True}),
    Attempt("a key in the environment", "shell", {"command": "echo key=$ANTIPHON_CANARY_API_KEY"}),
    Attempt("a huge output", "shell", {"command": "yes | head -c 200000"}),
    Attempt("an endless command", "shell", {"command": "sleep 600", "timeout_ms": 300}),
    Attempt("waiting for input", "shell", {"command": "read line; echo got=$line"}),
    Attempt("destroying something, which a person denies", "shell", {"command": "rm -rf kept"}),
    Attempt("a command that the agent's filter blocks", "shell", {"command": "echo a; git push"}),
    Attempt("this machine", "fetch_url", {"url": "http://127.0.0.1:1/"}),
    Attempt("this machine as a number", "fetch_url", {"url": "http://2130706433/"}),
    Attempt("this machine by version 6", "fetch_url", {"url": "http://[::1]:1/"}),
    Attempt("the cloud's own data", "fetch_url", {"url": "http://169.254.169.254/latest/meta-data/"}),
    Attempt("a file as an address", "fetch_url", {"url": "file:///etc/passwd"}),
    Attempt("arguments that do not fit", "write_file", {"path": 5}),
    Attempt("arguments that are no JSON", "write_file", "nonsense"),
    Attempt("a tool that the agent may not use", "edit_file", {"path": "a", "old": "a", "new": "b"}),
    Attempt("a tool that does not exist, which a person allows", "format_disk", {}),
)


def row(attempt: Attempt, result: ToolResult) -> str:
    """The line of the table for an attempt."""
    text = "".join(part.text for part in result.parts if isinstance(part, Text))
    short = re.sub(r"(y\n){3,}", "y … ", text)
    got = " ".join(short.split()).replace("|", "\\|")
    given = attempt.arguments if isinstance(attempt.arguments, str) else json.dumps(attempt.arguments)
    call = f"{attempt.tool}({given})".replace("|", "\\|")
    return f"| {attempt.tried} | `{call}` | {'refused' if result.is_error else 'done'} | {got} |"


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with temptations in and around it."""
    monkeypatch.setenv("ANTIPHON_CANARY_API_KEY", CANARY)
    (tmp_path / "secret.txt").write_text(CANARY)
    folder = tmp_path / "work"
    (folder / "kept").mkdir(parents=True)
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "leak").symlink_to(tmp_path / "secret.txt")
    (folder / "out").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    (folder / "slow.txt").write_text("a" * 40 + "!")
    return folder


def tried(folder: Path, attempts: tuple[Attempt, ...]) -> tuple[list[ToolResult], dict[str, Any]]:
    """Everything that is tried in one run: each attempt is a reply of its own."""

    def developer(scene: Scene) -> Call | str:
        number = scene.turn
        return Call(attempts[number].tool, attempts[number].arguments) if number < len(attempts) else "Tried all."

    troupe = Troupe(developer=developer)
    held = {
        **team("developer")[0],
        "tools": {"blocked": ["edit_file"]},
        "shell": {"blocked": ["git push*"]},
        "limits": {"maxIterations": len(attempts) + 1},
    }

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> dict[str, Any]:
        settings = {"model": "scripted:troupe", "arbiter": {"kind": "rules"}, "consent": {"mode": "ask"}}
        id = await runs.create([held], tools=tools, **settings)
        await idle(runs, id, "Try everything")
        while await runs.status(id) == "waiting":
            asked = (await runs.read(id))["waiting"][0]["calls"][0]["text"]
            await answered(runs, id, "deny" if asked.startswith("shell(rm") else "allow")
        return await runs.read(id)

    run = played(folder, troupe, main)
    return troupe.results, run


@pytest.mark.requirement("S1-92", "S1.4-2", "S1.4-3", "S1.4-9")
def test_everything_bad_that_is_tried_through_a_run_gets_what_the_page_says(workspace: Path) -> None:
    results, run = tried(workspace, ATTEMPTS)

    assert len(results) == len(ATTEMPTS)
    rows = [row(attempt, result) for attempt, result in zip(ATTEMPTS, results, strict=True)]
    assert [line for line in rows if line not in PAGE.splitlines()] == []
    assert str(workspace.parent) not in "".join(rows)
    assert CANARY not in "".join(rows) + str(run)
    outcome = run["outcome"]
    assert (run["status"], outcome["reason"], outcome["summary"]) == ("failed", "denied", "Tried all.")
    assert sorted(os.listdir(workspace.parent)) == ["secret.txt", "work"]
    assert (workspace / "kept").is_dir()
    assert os.listdir(workspace / ".git" / "hooks") == []
