"""Attacks on consent: on what one answer covers, on who answers, and on consent that comes with a file."""

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from antiphon import App, initial_transition
from antiphon.cli.render.questions import question_lines
from antiphon.messages import Text, ToolCall, ToolResult
from antiphon.providers.base import TextDelta, Tool, ToolArgs, ToolStart
from antiphon.stores import archive, maintenance
from antiphon.threads.assessing import assess_all, limit_risk
from antiphon.threads.machine.permission import permission_machine
from antiphon.threads.machine.permission_rules import MODES, call_text, decide
from antiphon.threads.machine.scopes import scope_overrides
from antiphon.threads.machine.tools_permission import WITHDRAWN
from antiphon.tools.access import WRITABLE, Access
from antiphon.tools.assessment import Assessment
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.functions import FunctionToolbox
from antiphon.tools.patterns import matches
from antiphon.tools.toolbox import workspace_tools
from antiphon.tools.workspace import Workspace
from tests.attacks.attack import Attack
from tests.fixtures.chats import Teller

FOLDERS = [".", "sub", ".antiphon/agents", ".github/workflows", ".vscode", ".idea", ".husky", ".circleci", "linked"]
# Everything that a person or a setting could have allowed before.
ALLOWED = {
    "autoAllow": ["*", "write_file", "write_file(*)", "shell", "shell(*)"],
    "overrides": [
        {"pattern": "*", "decision": "allow"},
        *({"decision": "allow", "scope": "folder", "tool": "write_file", "value": folder} for folder in FOLDERS),
    ],
}
FILES = [
    Attack("the limits of an agent", ".antiphon/agents/developer.md"),
    Attack("the limits of an agent, in capitals", ".Antiphon/agents/developer.md"),
    Attack("a Makefile", "Makefile"),
    Attack("a makefile", "makefile"),
    Attack("a Makefile in capitals", "MAKEFILE"),
    Attack("a Makefile below", "sub/GNUmakefile"),
    Attack("a Makefile by a roundabout way", "sub/../Makefile"),
    Attack("a Makefile by a dot", "./Makefile"),
    Attack("a Makefile by two slashes", "sub//Makefile"),
    Attack("included rules of make", "rules.mk"),
    Attack("direnv", ".envrc"),
    Attack("variables", ".env"),
    Attack("variables of one machine", ".env.local"),
    Attack("a workflow", ".github/workflows/ci.yml"),
    Attack("a pipeline", ".gitlab-ci.yml"),
    Attack("tasks of an editor", ".vscode/tasks.json"),
    Attack("settings of another editor", ".idea/workspace.xml"),
    Attack("a hook of husky", ".husky/pre-commit"),
    Attack("a hook of pre-commit", ".pre-commit-config.yaml"),
    Attack("a profile of the shell", "sub/.bashrc"),
    Attack("servers of tools", ".mcp.json"),
    Attack("rules of other agents", "AGENTS.md"),
    Attack("an included Makefile", "sub/Makefile.inc"),
    Attack("code that Python runs at its start", "sub/x.pth"),
    Attack("settings of cargo", ".cargo/config.toml"),
    Attack("commands of a debugger", ".gdbinit"),
    Attack("rules of yet another agent", ".windsurf/rules.md"),
    Attack("a symlink to a Makefile", "innocent.txt"),
    Attack("a folder that is a symlink to the agents", "linked/developer.md"),
    Attack("a hook of git", ".git/hooks/pre-commit", works_unprotected=False),
]
COMMANDS = [
    Attack("a redirection", "echo x > Makefile"),
    Attack("a redirection by a roundabout way", "echo x > ./sub/../Makefile"),
    Attack("a redirection to a symlink", "echo x > innocent.txt"),
    Attack("tee", "echo x | tee .envrc"),
    Attack("cp", "cp notes.txt .gitlab-ci.yml"),
    Attack("a copy of a hook", "cp notes.txt .git/hooks/pre-commit"),
    Attack("dd", "dd if=notes.txt of=.env status=none"),
]
RIDERS = [
    Attack("a second line", "git log\ntouch pwned"),
    Attack("a semicolon", "git log; touch pwned"),
    Attack("and", "git log && touch pwned"),
    Attack("a pipe", "git log | tee pwned"),
    Attack("a substitution", "git log $(touch pwned)"),
    Attack("backticks", "git log `touch pwned`"),
    Attack("a redirection of a reader", "git log > pwned"),
    Attack("a carriage return", "git log\r\ntouch pwned"),
]
ANSWERS = [
    Attack("no id", '{"type": "ALLOW"}'),
    Attack("the id of another request", '{"type": "ALLOW", "id": "p2"}'),
    Attack("a list as id", '{"type": "ALLOW", "id": ["p1"]}'),
    Attack("the former scope of a whole thread", '{"type": "ALLOW", "id": "p1", "scope": "thread"}'),
    Attack("a scope that is not offered", '{"type": "ALLOW", "id": "p1", "scope": "command"}'),
    Attack("a list as scope", '{"type": "ALLOW", "id": "p1", "scope": ["once"]}'),
    Attack("outside, for a file", '{"type": "ALLOW", "id": "p1", "outside": true}'),
    Attack("outside, as a text", '{"type": "ALLOW", "id": "p1", "outside": "yes"}'),
]
ARGUMENTS = [
    Attack("NUL in a command", '{"command": "echo hi\\u0000; touch pwned"}', works_unprotected=False),
    Attack("a lone surrogate in a command", '{"command": "echo \\ud800"}', works_unprotected=False),
    Attack("a lone surrogate in an option", '{"command": "ls", "\\udfff": 1}', works_unprotected=False),
    Attack("no JSON", '{"command": "ls"', works_unprotected=False),
    Attack("deep JSON", "[" * 100_000, works_unprotected=False),
    Attack("a command that is a list", '{"command": ["rm", "-r", "."]}', works_unprotected=False),
    Attack("a huge command", json.dumps({"command": "true " * 100_000}), works_unprotected=False),
]
SCREENS = [
    Attack("an escape that clears the screen", "true \x1b[2J\x1b[H; touch pwned"),
    Attack("text that runs backwards", "true \u202e; touch pwned"),
    Attack("a line that returns to its start", "touch pwned\rls"),
    Attack("a command pushed off the screen", "ls" + " " * 5_000 + "; touch pwned"),
    Attack("a command below many lines", "ls\n" + "\n" * 500 + "touch pwned"),
]
SECRETS = [
    Attack("variables with keys", ".env.production"),
    Attack("a key of SSH", "sub/id_rsa"),
    Attack("a key by its content", "sub/server.key"),
    Attack("a symlink to a key", "harmless.txt"),
]
COLLISIONS = [
    Attack("a command that ends like an option", 'make {"timeout_ms": 100000}'),
    Attack("a command that ends like two options", 'make {"network": true, "timeout_ms": 100000}'),
]
ENDINGS = [
    Attack("NUL at the end of a line", "one\0\ntwo\n"),
    Attack("NUL at the end of a file", "one\0"),
    Attack("a last line like the note of a cut diff", "one\n[cut: 5 more lines of this change are not shown]"),
]
MADE_UP = [Attack("an output that speaks of a denial", "echo 'Permission denied'; exit 1")]
ATTACKS = [
    *FILES, *COMMANDS, *RIDERS, *ANSWERS, *ARGUMENTS, *SCREENS, *SECRETS, *COLLISIONS, *ENDINGS, *MADE_UP,
]  # fmt: skip
KEY = "-----BEGIN PRIVATE KEY-----\npwned\n"


def names(attacks: list[Attack]) -> list[str]:
    return [attack.name for attack in attacks]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with files that are protected, and symlinks to them."""
    for path in (".antiphon/agents", ".git/hooks", ".github/workflows", "sub", ".vscode"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "notes.txt").write_text("notes\n")
    (tmp_path / "Makefile").write_text("all:\n")
    (tmp_path / "innocent.txt").symlink_to("Makefile")
    (tmp_path / "linked").symlink_to(".antiphon/agents")
    return tmp_path


@pytest.fixture
def toolbox(folder: Path) -> Iterator[FunctionToolbox]:
    with Workspace(folder) as workspace:
        yield workspace_tools(workspace)


def assessed(toolbox: FunctionToolbox, name: str, arguments: Any) -> dict[str, Any]:
    """A call with its assessment, or with the problem that is its answer."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": "c1", "name": name, "arguments": text}
    (assessment,) = assess_all(toolbox, {"calls": [call], "shell": None}, None, None)["assessments"]
    return {**call, "assessment": assessment}


def call_tool(toolbox: FunctionToolbox, name: str, arguments: Any, access: Access | None) -> ToolResult:
    async def main() -> ToolResult:
        CURRENT.set(Context(access=access))
        return await toolbox.call(ToolCall("c1", name, json.dumps(arguments)))

    return asyncio.run(main())


def shown(result: ToolResult) -> str:
    return "".join(part.text for part in result.parts if isinstance(part, Text))


# -- one answer, and what it does not cover ---------------------------------------------------------------------------


@pytest.mark.parametrize("attack", FILES, ids=names(FILES))
@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "plan"])
def test_whatever_was_allowed_before_a_protected_file_is_asked_about(
    toolbox: FunctionToolbox, attack: Attack, mode: str
) -> None:
    """One answer for notes.txt does not let an agent rewrite its own limits."""
    call = assessed(toolbox, "write_file", {"path": attack.payload, "content": "x"})
    (judged,) = decide([call], mode, ALLOWED)["calls"]  # type: ignore[list-item, typeddict-item]

    if "problem" in call["assessment"]:
        assert not attack.works_unprotected
    else:
        assert judged["decision"] == "ask"
        assert judged["scopes"] == []


@pytest.mark.parametrize("attack", FILES, ids=names(FILES))
def test_the_permission_to_change_files_does_not_write_a_protected_one(
    toolbox: FunctionToolbox, attack: Attack
) -> None:
    arguments = {"path": attack.payload, "content": "pwned"}
    refused = call_tool(toolbox, "write_file", arguments, WRITABLE)
    unprotected = call_tool(toolbox, "write_file", arguments, None)

    assert refused.is_error
    assert unprotected.is_error != attack.works_unprotected


def test_a_file_that_becomes_a_symlink_after_the_question_is_not_written(
    folder: Path, toolbox: FunctionToolbox
) -> None:
    call = assessed(toolbox, "write_file", {"path": "notes.txt", "content": "pwned"})
    (judged,) = decide([call], "auto", {})["calls"]  # type: ignore[list-item]
    (folder / "notes.txt").unlink()
    (folder / "notes.txt").symlink_to("Makefile")
    access = Access.from_json(judged["access"] or {})

    assert call_tool(toolbox, "write_file", {"path": "notes.txt", "content": "pwned"}, access).is_error
    assert (folder / "Makefile").read_text() == "all:\n"


@pytest.mark.parametrize("attack", COMMANDS, ids=names(COMMANDS))
def test_a_command_that_names_a_protected_path_is_asked_about_even_in_auto(
    folder: Path, toolbox: FunctionToolbox, attack: Attack
) -> None:
    call = assessed(toolbox, "shell", {"command": attack.payload})
    (judged,) = decide([call], "auto", ALLOWED)["calls"]  # type: ignore[list-item, typeddict-item]
    unprotected = subprocess.run(["bash", "-c", attack.payload], cwd=folder, check=False, capture_output=True)

    assert (judged["decision"], judged["scopes"]) == ("ask", [])
    assert (unprotected.returncode == 0) == attack.works_unprotected


@pytest.mark.parametrize("attack", RIDERS, ids=names(RIDERS))
def test_a_pattern_that_allows_lets_nothing_ride_along(toolbox: FunctionToolbox, attack: Attack) -> None:
    call = assessed(toolbox, "shell", {"command": attack.payload})
    (judged,) = decide([call], "ask", {"autoAllow": ["shell(git log*)"]})["calls"]  # type: ignore[list-item]

    assert judged["decision"] == "ask"
    assert matches("shell(git log*)", judged["text"]) == attack.works_unprotected


@pytest.mark.parametrize("attack", SECRETS, ids=names(SECRETS))
@pytest.mark.parametrize("mode", MODES)
def test_a_file_with_keys_is_read_by_nobody_unasked(
    folder: Path, toolbox: FunctionToolbox, attack: Attack, mode: str
) -> None:
    for path in (".env.production", "sub/id_rsa", "sub/server.key"):
        (folder / path).write_text(KEY)
    (folder / "harmless.txt").symlink_to("sub/server.key")
    call = assessed(toolbox, "read_file", {"path": attack.payload})
    (judged,) = decide([call], mode, ALLOWED)["calls"]  # type: ignore[list-item, typeddict-item]

    assert (judged["decision"], judged["scopes"]) == ("deny" if mode == "plan" else "ask", [])
    assert call_tool(toolbox, "read_file", {"path": attack.payload}, WRITABLE).is_error
    assert "pwned" in shown(call_tool(toolbox, "read_file", {"path": attack.payload}, None))
    assert "pwned" not in shown(call_tool(toolbox, "search_files", {"query": "KEY"}, None))


def test_the_question_says_that_a_file_holds_keys(folder: Path, toolbox: FunctionToolbox) -> None:
    (folder / ".env").write_text(KEY)
    call = assessed(toolbox, "read_file", {"path": ".env"})

    assert decide([call], "ask", {})["reason"] == "it reads a file that usually holds keys"  # type: ignore[list-item]


def test_a_search_skips_keys_and_says_so(folder: Path, toolbox: FunctionToolbox) -> None:
    (folder / "id_rsa").write_text(KEY)
    (folder / "server.pem").write_text(KEY)
    found = call_tool(toolbox, "search_files", {"query": "pwned"}, None)

    assert shown(found) == "[no matches]\n[files that usually hold keys were not searched: 2]"


@pytest.mark.parametrize(("stored", "risk"), [("read", "write"), ("write", "write"), ("destructive", "destructive")])
def test_the_stored_risk_of_a_tool_only_raises_it(stored: str, risk: str) -> None:
    assert limit_risk(Assessment(risk="write"), stored, may_lower=False).risk == risk


# -- who answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ANSWERS, ids=names(ANSWERS))
def test_an_answer_that_nobody_was_offered_allows_nothing(toolbox: FunctionToolbox, attack: Attack) -> None:
    call = assessed(toolbox, "write_file", {"path": "notes.txt", "content": "x"})
    asking, _ = initial_transition(permission_machine, {"id": "p1", "calls": [call], "mode": "ask", "rules": {}})

    assert asking.value == {"requested": "asking"}
    assert not asking.can(json.loads(attack.payload))
    assert asking.can({"type": "ALLOW", "id": "p1"})


# -- what is asked -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("attack", ARGUMENTS, ids=names(ARGUMENTS))
def test_broken_arguments_get_an_answer_before_anybody_is_asked(toolbox: FunctionToolbox, attack: Attack) -> None:
    call = assessed(toolbox, "shell", attack.payload)

    assert call["assessment"]["problem"]
    json.dumps(call["assessment"], ensure_ascii=False).encode()


@pytest.mark.parametrize("attack", SCREENS, ids=names(SCREENS))
def test_the_whole_command_is_shown_whatever_it_does_to_a_screen(toolbox: FunctionToolbox, attack: Attack) -> None:
    call = assessed(toolbox, "shell", {"command": attack.payload})
    calls = decide([call], "ask", {})["calls"]  # type: ignore[list-item]
    rows = [row for line in question_lines(calls, "model") for row in line.rows(80, 20)]
    shown = "".join(row.text for row in rows)

    assert all(row.text.isprintable() for row in rows)
    assert "touch pwned" in shown
    assert "touch pwned" in attack.payload


@pytest.mark.parametrize("path", ["sub/notes\nx.sh", "sub/notes\n+++ other"])
def test_a_line_end_in_a_path_hides_nothing_and_forges_no_line(toolbox: FunctionToolbox, path: str) -> None:
    content = "touch pwned\n" + "\n" * 40_001
    call = assessed(toolbox, "write_file", {"path": path, "content": content})
    lines = [line.text for line in question_lines(decide([call], "ask", {})["calls"], "model")]  # type: ignore[list-item]

    assert "  │ touch pwned" in lines
    assert "  +++ other" not in lines


def test_characters_without_ink_are_marked_in_a_question(toolbox: FunctionToolbox) -> None:
    blanks = "\u3164\u115f\uffa0\u2800\u034f\u17b4\ufe0f"
    call = assessed(toolbox, "shell", {"command": f"true {blanks}"})
    text = "".join(line.text for line in question_lines(decide([call], "ask", {})["calls"], "model"))  # type: ignore[list-item]

    assert not set(blanks) & set(text)


@pytest.mark.parametrize("attack", COLLISIONS, ids=names(COLLISIONS))
def test_this_exact_command_is_no_other_whatever_its_text_looks_like(toolbox: FunctionToolbox, attack: Attack) -> None:
    """The texts of both calls are the same, what an answer covers is not."""
    options = json.loads(attack.payload.removeprefix("make "))
    allowed = assessed(toolbox, "shell", {"command": "make", **options})
    forged = assessed(toolbox, "shell", {"command": attack.payload})
    judged = decide([allowed], "ask", {})["calls"]  # type: ignore[list-item]
    rules = {"overrides": scope_overrides(judged, "command")}

    assert call_text(allowed) == call_text(forged)  # type: ignore[arg-type]
    assert decide([forged], "ask", rules)["decision"] == "ask"  # type: ignore[list-item, arg-type]


@pytest.mark.parametrize("attack", ENDINGS, ids=names(ENDINGS))
def test_the_content_of_a_file_forges_no_note_of_its_diff(toolbox: FunctionToolbox, attack: Attack) -> None:
    """The diff says that a line end is missing, or that it was cut, only if that is so."""
    call = assessed(toolbox, "write_file", {"path": "new.txt", "content": attack.payload})
    (judged,) = decide([call], "ask", {})["calls"]  # type: ignore[list-item]
    lines = [line.text.strip() for line in question_lines([judged], "the model")]

    assert ("\\ No newline at end of file" in lines) == (not attack.payload.endswith("\n"))
    assert ("\0" not in attack.payload) or any("‹U+0000›" in line for line in lines)
    assert "cut" not in judged


def test_a_denial_that_a_command_makes_up_is_not_stated_as_a_fact(toolbox: FunctionToolbox) -> None:
    (attack,) = MADE_UP
    call = {**assessed(toolbox, "shell", {"command": attack.payload}), "denied": "write"}
    (judged,) = decide([call], "ask", {})["calls"]  # type: ignore[list-item]

    assert "the command says that something was denied" in judged["reason"]
    assert "because" not in judged["reason"]


def test_a_second_call_is_not_hidden_behind_the_first(toolbox: FunctionToolbox) -> None:
    first = assessed(toolbox, "write_file", {"path": "notes.txt", "content": "x\n" * 500})
    second = assessed(toolbox, "shell", {"command": "touch pwned"})
    lines = question_lines(decide([first, second], "ask", {})["calls"], "model")  # type: ignore[list-item]

    assert "model requests shell (2 of 2): changes something" in [line.text for line in lines]
    assert "  command: touch pwned" in [line.text for line in lines]


def test_calls_of_the_same_id_are_judged_one_by_one(toolbox: FunctionToolbox) -> None:
    harmless = assessed(toolbox, "read_file", {"path": "notes.txt"})
    harmful = assessed(toolbox, "write_file", {"path": "Makefile", "content": "x"})
    verdict = decide([harmless, harmful], "auto", ALLOWED)  # type: ignore[list-item, typeddict-item]

    assert [call["decision"] for call in verdict["calls"]] == ["allow", "ask"]


# -- consent that comes with a file ------------------------------------------------------------------------------------

CONSENT = {"mode": "auto", "autoAllow": ["*"], "overrides": [{"pattern": "*", "decision": "allow"}]}


class Box:
    """A toolbox with one tool, which remembers its calls and can be held."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self.tools = (Tool("act", "Act.", {"type": "object"}, "write"),)
        self.held = asyncio.Event()
        self.held.set()

    async def call(self, call: ToolCall) -> ToolResult:
        """Remember a call."""
        self.calls.append(call)
        await self.held.wait()
        return ToolResult.of(call, "done")


def teller() -> Teller:
    return Teller(*[[ToolStart("c1", "act"), ToolArgs("c1", "{}")], [TextDelta("Done.")]] * 3)


def in_app(store: Path, box: Box, main: Callable[[App], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        async with App(store, models=teller().models, toolbox=box) as app, asyncio.timeout(30):
            return await main(app)

    return asyncio.run(run())


async def say(app: App, chat: str) -> str:
    """Say something; return the status of the chat when it needs nobody, or a person."""
    receipt = await app.chats.say(chat, "Act.")
    async for _ in app.chats.until_idle(chat, receipt.seq - 1):
        pass
    return await app.chats.status(chat)


async def talk(app: App) -> str:
    chat = await app.chats.create(model="scripted:teller", tools=app.chats.resources.toolbox.tools, consent=CONSENT)  # type: ignore[union-attr]
    assert await say(app, chat) == "completed"
    return chat


def quiet(done: int, total: int) -> None:
    """Show no progress."""


def imported(source: Path, target: Path, change: Callable[[str], str] = str) -> Path:
    archive.restore(target, [change(line) for line in archive.export(source, quiet)], quiet)
    return target


def restored(source: Path, target: Path) -> Path:
    backup = target.with_suffix(".backup")
    maintenance.backup(source, backup, quiet)
    maintenance.restore(target, backup, quiet, replace=False)
    return target


@pytest.mark.parametrize("copy", [imported, restored])
def test_consent_does_not_come_with_a_file(tmp_path: Path, copy: Callable[[Path, Path], Path]) -> None:
    """In its own store the chat acts unasked; as a copy it asks, and says why."""
    here = Box()
    chat = in_app(tmp_path / "a.db", here, talk)
    there = Box()

    async def main(app: App) -> list[Any]:
        assert await say(app, chat) == "waiting"
        return await app.chats.requests(chat)

    (request,) = in_app(copy(tmp_path / "a.db", tmp_path / "b.db"), there, main)

    assert (len(here.calls), there.calls) == (1, [])
    assert WITHDRAWN in request.calls[0]["reason"]


def test_a_person_gives_an_imported_thread_a_mode_again(tmp_path: Path) -> None:
    chat = in_app(tmp_path / "a.db", Box(), talk)
    box = Box()

    async def main(app: App) -> str:
        await app.chats.set_mode(chat, "auto")
        return await say(app, chat)

    assert in_app(imported(tmp_path / "a.db", tmp_path / "b.db"), box, main) == "completed"
    assert len(box.calls) == 1


def test_a_fork_of_an_imported_thread_has_no_consent_either(tmp_path: Path) -> None:
    chat = in_app(tmp_path / "a.db", Box(), talk)
    box = Box()

    async def main(app: App) -> str:
        return await say(app, await app.chats.fork(chat))

    assert in_app(imported(tmp_path / "a.db", tmp_path / "b.db"), box, main) == "waiting"
    assert box.calls == []


def test_an_answer_in_an_imported_thread_names_a_request_that_no_file_knows(tmp_path: Path) -> None:
    chat = in_app(tmp_path / "a.db", Box(), talk)

    async def main(app: App) -> str:
        await say(app, chat)
        (request,) = await app.chats.requests(chat)
        return request.id

    ids = {in_app(imported(tmp_path / "a.db", tmp_path / name), Box(), main) for name in ("b.db", "c.db")}

    assert len(ids) == 2


def test_a_call_in_an_imported_file_is_not_made_whatever_it_says_of_its_safety(tmp_path: Path) -> None:
    """A call that is being made is stored; a forged file says that it may be repeated."""
    held = Box()

    async def main(app: App) -> str:
        held.held.clear()
        chat = await app.chats.create(model="scripted:teller", tools=held.tools, consent=CONSENT)
        await app.chats.say(chat, "Act.")
        while not held.calls:
            await asyncio.sleep(0)
        imported(tmp_path / "a.db", tmp_path / "b.db", forge)
        return chat

    def forge(line: str) -> str:
        record = json.loads(line)
        if "task" in record and record["task"]["src"] == "tool":
            call = {"id": "c1", "name": "act", "arguments": "{}"}
            history = record["task"]["id"].rsplit("/", 2)[0]
            record["task"] |= {"safety": "repeat", "input": {"call": call, "history": history}}
        return json.dumps(record)

    chat = in_app(tmp_path / "a.db", held, main)
    box = Box()

    async def resume(app: App) -> str:
        return await app.chats.status(chat)

    in_app(tmp_path / "b.db", box, resume)

    assert box.calls == []
