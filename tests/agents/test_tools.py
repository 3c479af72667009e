"""Runs with real tools in a real folder: a small task from end to end, who is asked, and cancelling in mid-tool."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from antiphon.agents.service import Runs
from tests.fixtures.agents import Call, Reply, Scene, Troupe, answered, decision, idle, played, team

BROKEN = 'def slug(title):\n    return title.replace(" ", "-")\n'
TESTS = """import unittest

from slug import slug


class Slugs(unittest.TestCase):
    def test_a_title_is_small_and_has_no_spaces(self):
        self.assertEqual(slug("Hello Big World"), "hello-big-world")
"""


def arbiter(scene: Scene) -> Reply:
    who, said = scene.last
    if who == "tester" and said.startswith("Tests failed"):
        retry = scene.said.startswith("Evaluate")
        return decision("RETRY", reason="red") if retry else decision("SELECT_MODE", mode="developer", reason="mend")
    match who:
        case "developer":
            return decision("SELECT_MODE", mode="tester", reason="try it")
        case "tester":
            return decision("SELECT_MODE", mode="reviewer", reason="read it")
        case "reviewer":
            return decision("COMPLETE", summary="slug.py works.", completed=[0])
    return decision("SELECT_MODE", mode="planner", reason="plan first")


def developer(scene: Scene) -> Reply:
    if scene.results:
        return f"Changed. {scene.words}"
    who, _ = scene.last
    if who == "tester":
        old, new = 'title.replace(" ", "-")', 'title.lower().replace(" ", "-")'
        return Call("edit_file", {"path": "slug.py", "old": old, "new": new})
    if who == "reviewer":
        old, new = "def slug(title):\n", 'def slug(title):\n    """A title as part of an address."""\n'
        return Call("edit_file", {"path": "slug.py", "old": old, "new": new})
    return [
        Call("write_file", {"path": "slug.py", "content": BROKEN}),
        Call("write_file", {"path": "test_slug.py", "content": TESTS}),
    ]


def checker(scene: Scene) -> Reply:
    if not scene.results:
        return Call("shell", {"command": "python3 -m unittest -q 2>&1"})
    return "Tests passed." if scene.words.rstrip().endswith("OK") else "Tests failed: " + scene.words.splitlines()[0]


def reviewer(scene: Scene) -> Reply:
    if not scene.results:
        return Call("read_file", {"path": "slug.py"})
    return "Review passed." if '"""' in scene.words else "Changes wanted: slug.py says not what it is for."


def planner(scene: Scene) -> Reply:
    return '{"steps": [{"description": "Write slug.py with a test"}], "confidence": 0.9}'


@pytest.mark.requirement("S1-95..S1-97", "S1-54", "S1-61", "S1-B4", "S1-106")
def test_a_team_writes_tests_mends_and_reviews_a_program_that_then_works(tmp_path: Path) -> None:
    """Whether tests pass is what the real shell says."""
    troupe = Troupe(arbiter=arbiter, planner=planner, developer=developer, tester=checker, reviewer=reviewer)

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> dict[str, Any]:
        agents = team("planner", "developer", "tester", "reviewer")
        id = await runs.create(agents, model="scripted:troupe", tools=tools, consent={"mode": "auto"})
        await idle(runs, id, "Write slug.py with a test")
        return await runs.read(id)

    run = played(tmp_path, troupe, main)

    assert (run["status"], run["outcome"]["summary"]) == ("completed", "slug.py works.")
    assert [(one["agent"], one["output"].split()[0]) for one in run["history"]] == [
        ("planner", '{"steps":'), ("developer", "Changed."), ("tester", "Tests"), ("developer", "Changed."),
        ("tester", "Tests"), ("reviewer", "Changes"), ("developer", "Changed."), ("tester", "Tests"),
        ("reviewer", "Review"),
    ]  # fmt: skip
    verdicts = [one["output"].partition(":")[0] for one in run["history"] if one["agent"] == "tester"]
    assert verdicts == ["Tests failed", "Tests passed.", "Tests passed."]
    assert [step["status"] for step in run["plan"]["steps"]] == ["complete"]
    program: dict[str, Any] = {}
    exec((tmp_path / "slug.py").read_text(), program)
    assert program["slug"]("A Fine Day") == "a-fine-day"
    assert program["slug"].__doc__ == "A title as part of an address."
    assert (tmp_path / "test_slug.py").read_text() == TESTS


def alone(command: str, then: str = "Done.") -> Troupe:
    """A developer who runs one command."""
    return Troupe(developer=lambda scene: then if scene.results else Call("shell", {"command": command}))


def lone_run(mode: str, **settings: Any) -> dict[str, Any]:
    """The settings of a run without an arbiter."""
    return {"model": "scripted:troupe", "arbiter": {"kind": "rules"}, "consent": {"mode": mode}, **settings}


@pytest.mark.requirement("S1.4-2", "S1.4-9")
@pytest.mark.parametrize(
    ("mode", "command", "asked"),
    [
        ("ask", "ls -l", False),
        ("ask", "cat kept.txt | wc -l", False),
        ("ask", "touch new.txt", True),
        ("auto-edit", "touch new.txt", True),
        ("auto", "touch new.txt", False),
        ("auto", "curl 127.0.0.1:1", True),
        ("auto", "echo x > .envrc", True),
        ("ask", "rm -r data", True),
        ("ask", "ls; rm -r data", True),
        ("ask", "ls $(rm -r data)", True),
    ],
)
def test_a_command_is_asked_about_as_it_is_risky_and_shown_word_by_word(
    tmp_path: Path, mode: str, command: str, asked: bool
) -> None:
    """Reads are silent, others ask by mode; in `auto` they run in the sandbox, unless they need more than that."""
    (tmp_path / "kept.txt").write_text("kept\n")
    (tmp_path / "data").mkdir()
    troupe = alone(command)

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> None:
        id = await runs.create(team("developer"), tools=tools, **lone_run(mode))
        heard = await idle(runs, id, "Do it")
        waits = [one for one in heard if one.kind == "agent_waits"]
        assert [call["text"] for one in waits for call in one.facts["calls"]] == (
            [f"shell({command})"] if asked else []
        )
        if asked:
            await answered(runs, id, "deny")
        assert await runs.status(id) == ("failed" if asked else "completed")

    played(tmp_path, troupe, main)

    (result,) = troupe.results
    assert result.is_error == asked
    assert (tmp_path / "data").is_dir()
    assert (tmp_path / "new.txt").exists() == (command == "touch new.txt" and not asked)


@pytest.mark.requirement("S1.4-9")
def test_what_a_person_allows_is_done_and_an_unknown_tool_is_answered_without_asking(tmp_path: Path) -> None:
    """The other calls of the reply are made."""
    (tmp_path / "data").mkdir()
    calls = [Call("shell", {"command": "rm -r data"}), Call("format_disk", {})]
    troupe = Troupe(developer=lambda scene: "Done." if scene.results else calls)

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> None:
        id = await runs.create(team("developer"), tools=tools, **lone_run("ask"))
        heard = await idle(runs, id, "Do it")
        (asked,) = [one for one in heard if one.kind == "agent_waits"]
        assert [call["risk"] for call in asked.facts["calls"]] == ["destructive"]
        await answered(runs, id, "allow")
        assert await runs.status(id) == "completed"

    played(tmp_path, troupe, main)

    assert not (tmp_path / "data").exists()
    assert [result.is_error for result in troupe.results] == [False, True]


@pytest.mark.requirement("S1-92", "S1.4-2", "S1.4-9")
def test_the_shell_filter_of_an_agent_holds_before_anybody_is_asked(tmp_path: Path) -> None:
    held = {**team("developer")[0], "shell": {"allowed": ["ls*", "echo *"], "blocked": ["*secret*"]}}
    commands = ["echo fine", "echo a; touch b", "echo $(touch b)", "echo a > b", "ls secret", "touch b"]
    calls = [Call("shell", {"command": command}) for command in commands]
    troupe = Troupe(developer=lambda scene: "Done." if scene.results else calls)

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> None:
        id = await runs.create([held], tools=tools, **lone_run("ask"))
        await idle(runs, id, "Do it")
        assert await runs.status(id) == "completed"

    played(tmp_path, troupe, main)

    assert [result.is_error for result in troupe.results] == [False, True, True, True, True, True]
    assert os.listdir(tmp_path) == []


@contextmanager
def doorbell(path: Path) -> Iterator[asyncio.Event]:
    """A pipe that a command rings by writing to it."""
    os.mkfifo(path)
    rung, loop = asyncio.Event(), asyncio.get_running_loop()
    door = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def ring() -> None:
        loop.remove_reader(door)
        rung.set()

    loop.add_reader(door, ring)
    try:
        yield rung
    finally:
        loop.remove_reader(door)
        os.close(door)


def command_lines() -> list[str]:
    """The command lines of all processes."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(path.read_text())
    return lines


@pytest.mark.requirement("S1-34", "S1-B7")
@pytest.mark.parametrize("grace_ms", [0, 100])
def test_cancelling_an_endless_command_kills_all_that_it_started(tmp_path: Path, grace_ms: int) -> None:
    """The turn is recorded as cancelled, and nothing of it lives on."""
    # Found by its arguments, because a process in the sandbox has another id outside.
    seconds = f"600.{os.getpid()}{grace_ms}"
    troupe = alone(f"sleep {seconds} & echo > begun; sleep {seconds}")

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> dict[str, Any]:
        id = await runs.create(team("developer"), tools=tools, **lone_run("auto", graceMs=grace_ms))
        with doorbell(tmp_path / "begun") as begun:
            receipt = await runs.start(id, "Wait")
            await begun.wait()
        await runs.stop(id)
        async for one in runs.follow(id, receipt.seq - 1):
            if one.kind == "run_ended":
                break
        return await runs.read(id)

    run = played(tmp_path, troupe, main)

    assert (run["status"], run["outcome"]["reason"]) == ("stopped", "cancelled")
    assert [(one["agent"], one["result"]) for one in run["history"]] == [("developer", "cancelled")]
    assert not any(seconds in text for text in command_lines())


@pytest.mark.requirement("S1-B7")
def test_a_command_in_mid_work_may_come_to_its_end_within_the_grace_time(tmp_path: Path) -> None:
    """Its result is recorded, no more is asked of the model."""
    troupe = alone("echo > begun; until [ -e go ]; do sleep 0.02; done; echo finished > done", then="Never said.")

    async def main(runs: Runs, tools: list[dict[str, Any]]) -> tuple[dict[str, Any], list[Any]]:
        id = await runs.create(team("developer"), tools=tools, **lone_run("auto", graceMs=60_000))
        with doorbell(tmp_path / "begun") as begun:
            receipt = await runs.start(id, "Wait")
            await begun.wait()
        await runs.stop(id)
        (tmp_path / "go").touch()
        heard = []
        async for one in runs.follow(id, receipt.seq - 1):
            heard.append(one)
            if one.kind == "run_ended":
                break
        return await runs.read(id), heard

    run, heard = played(tmp_path, troupe, main)

    assert (run["status"], run["outcome"]["reason"], troupe.results) == ("stopped", "cancelled", [])
    assert (tmp_path / "done").read_text() == "finished\n"
    (result,) = [one.facts["toolResult"] for one in heard if one.kind == "tool_answered"]
    assert (result["name"], result["isError"]) == ("shell", False)
    (entry,) = run["history"]
    assert (entry["result"], [call["name"] for call in entry["toolCalls"]]) == ("cancelled", ["shell"])
