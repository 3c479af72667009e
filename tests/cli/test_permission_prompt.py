"""The question for permission: shown completely before it can be answered, with one key for each thing."""

import asyncio

import pytest

from antiphon.cli.permission_prompt import SCOPE_KEYS, PermissionDecision, TerminalAnswerer, UnattendedAnswerer
from antiphon.threads.machine.permission_rules import decide
from tests.threads.machine.test_permission_rules import DESTROY, EDIT, change, command, fetch

SCHEMAS = {"shell": {"type": "object", "properties": {"command": {"type": "string", "minLength": 3}}}}


class Terminal:
    """Typed keys, and everything that is shown, prompts included."""

    def __init__(self, *keys):
        self.keys = list(keys)
        self.shown = []

    async def ask(self, prompt):
        self.shown.append(prompt)
        return self.keys.pop(0)

    message = ask

    async def edit(self, text, suffix):
        self.edited = text
        return self.keys.pop(0)

    def set_aside(self):
        pass

    def line(self, text, tone="note"):
        self.shown.append(text)


async def schema_of(name):
    return SCHEMAS.get(name)


def permit(keys, *calls, height=20):
    terminal = Terminal(*keys)
    judged = decide(calls, "ask", {})["calls"]
    asked = TerminalAnswerer(terminal, terminal, height=height).permit(judged, "developer", schema_of)
    return asyncio.run(asked), terminal.shown


@pytest.mark.parametrize(
    ("call", "key", "scope", "words"),
    [
        (command("make"), "c", "command", "always allow this exact command"),
        (change("src/a.py"), "f", "folder", "always allow files in src/, not in its subfolders"),
        (fetch("a.org"), "h", "host", "always allow the host a.org"),
        (EDIT, "t", "tool", "always allow the tool tool"),
    ],
)
def test_a_scope_has_a_key_in_words_where_it_is_offered(call, key, scope, words):
    decision, shown = permit([key], call)

    assert decision == PermissionDecision("allow", scope)
    assert f"  {key}  {words}" in shown


@pytest.mark.parametrize("call", [DESTROY, change("Makefile", protected=["Makefile"])])
def test_no_scope_has_a_key_where_none_is_offered(call):
    decision, shown = permit([*SCOPE_KEYS.values(), "o", "a"], call)

    assert decision == PermissionDecision("allow")
    assert [line[2] for line in shown if line[:2] == "  " and line[3:5] == "  "] == ["a", "e", "d", "s"]


def test_outside_the_sandbox_is_a_key_of_its_own():
    decision, shown = permit(["o"], command("make"))

    assert decision.to_answer() == {"decision": "allow", "scope": "once", "outside": True, "reason": None}
    assert "  o  allow once, OUTSIDE the sandbox" in shown


def test_a_question_says_why_and_what_an_allowance_gives():
    _, shown = permit(["a"], command("curl x", network=["*"], reason="curl loads a file"))

    assert "  asked because curl loads a file; it needs the network" in shown
    assert "  allowed, it runs in the sandbox, may change the workspace, except protected paths, with network" in shown


def test_without_a_complete_sandbox_the_question_says_so():
    _, shown = permit(["a"], command("make", sandbox=False))

    assert any("runs WITHOUT a complete sandbox" in line for line in shown)


def test_nothing_is_allowed_before_the_last_page():
    long = command("\n".join(f"echo {number}" for number in range(100)))
    decision, shown = permit(["a", "a", "a", "a", "a", "a", "a"], long)

    assert decision == PermissionDecision("allow")
    assert "  │ echo 99" in shown
    assert [line.partition("allow?")[0] for line in shown if line.endswith("> ")].count("") == 1


def test_a_long_line_is_shown_page_by_page_too():
    _, shown = permit(["", "", "", "a"], command("x" * 4_000))

    assert "".join(line for line in shown if set(line.strip()) == {"x"}).count("x") >= 3_900


def test_a_question_may_be_denied_in_its_middle():
    decision, shown = permit(["d", "too long"], command("\n" * 100))

    assert decision == PermissionDecision("deny", reason="too long")
    assert "allow?" not in "".join(shown)


def test_a_diff_that_is_cut_is_followed_by_the_whole_content():
    call = change("a.txt", diff="+one\n[cut: 5 more lines of this change are not shown]", cut=True)
    call["arguments"] = {"path": "a.txt", "content": "one\ntwo"}
    _, shown = permit(["a"], call)

    assert "  │ two" in shown


def test_where_there_is_no_user_calls_are_denied_with_what_to_do():
    terminal = Terminal()
    decision = asyncio.run(
        UnattendedAnswerer(terminal).permit(decide([EDIT], "ask", {})["calls"], "developer", schema_of)
    )

    assert decision.decision == "deny"
    assert "--mode" in (decision.reason or "")


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (command("make"), "; --mode auto would allow it"),
        (change("src/a.py"), "; --mode auto-edit would allow it"),
        (change("Makefile", protected=["Makefile"]), "it would change protected paths: Makefile"),
        (fetch("a.org"), "it connects to a.org"),
    ],
)
def test_a_denial_without_a_user_says_why_and_which_mode_would_allow_it(call, hint):
    terminal = Terminal()
    decision = asyncio.run(
        UnattendedAnswerer(terminal).permit(decide([call], "ask", {})["calls"], "developer", schema_of)
    )

    assert decision.reason.startswith("no user to ask: ")
    assert decision.reason.endswith(hint)
    assert terminal.shown == [f"{call['name']} denied: {decision.reason}"]


def test_edited_arguments_are_shown_and_allowed_once():
    call = command("rm -r build")
    decision, shown = permit(["e", "=== command\nrm -r dist\n", "y"], call)

    assert decision.to_answer()["arguments"] == {call["id"]: {"command": "rm -r dist"}}
    assert decision.scope == "once"
    assert shown[-3:-1] == ["shell with changed arguments:", "  command: rm -r dist"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("=== command\nmake\n", "nothing was changed"),
        ("=== command\nls\n", "$.command must have at least 3 characters, not 2"),
        ("make all\n", "the line '=== command' is missing; keep the lines that name arguments"),
    ],
)
def test_edits_that_cannot_be_used_allow_nothing(text, line):
    decision, shown = permit(["e", text, "d", ""], command("make"))

    assert decision == PermissionDecision("deny")
    assert line in shown


def test_edited_arguments_that_are_not_confirmed_allow_nothing():
    decision, _ = permit(["e", "=== command\nmake all\n", "n", "d", ""], command("make"))

    assert decision == PermissionDecision("deny")


@pytest.mark.parametrize("key", ["d", "e"])
def test_who_comes_too_late_is_asked_nothing_more(key):
    async def is_closed():
        return False

    terminal = Terminal(key)
    judged = decide([EDIT], "ask", {})["calls"]
    decision = asyncio.run(TerminalAnswerer(terminal, terminal).permit(judged, "developer", schema_of, is_closed))

    assert decision == PermissionDecision("deny")
    assert terminal.keys == []
    assert not any("denied" in line or "reason (" in line for line in terminal.shown)


def test_a_denial_is_reported_once_it_counts():
    decision, shown = permit(["d", "too long"], EDIT)

    assert not any("denied" in line for line in shown)
    assert decision.taken == "denied: too long"
