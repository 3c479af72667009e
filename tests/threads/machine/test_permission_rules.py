"""The rules by which tool calls are allowed, denied or asked about, row by row."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.threads.machine.permission_rules import (
    BREAKER_FAILURES,
    BREAKER_MS,
    MODES,
    TRANSPARENCY,
    call_text,
    decide,
    tripped_tools,
)
from antiphon.threads.machine.scopes import answer_scopes, scope_overrides
from antiphon.tools.access import READ_ONLY, WRITABLE, Access
from antiphon.tools.patterns import escape_pattern


def call(risk, name="tool", assessment=None, **arguments):
    return {
        "id": f"{name}-{risk}",
        "name": name,
        "arguments": arguments,
        "assessment": {"risk": risk, **(assessment or {})},
    }


def command(text, risk="write", **facts):
    return call(risk, "shell", {"kind": "command", "sandbox": True, **facts}, command=text)


def change(path="src/notes.txt", name="write_file", **facts):
    return call("write", name, {"kind": "file", "path": path, **facts}, path=path)


def fetch(host="example.org"):
    return call("write", "fetch_url", {"kind": "network", "network": [host]}, url=f"https://{host}/")


READ = call("read")
EDIT = call("write")
COMMAND = command("make")
DESTROY = call("destructive", "drop", table="x")
ALLOW_ALL = [{"pattern": "*", "decision": "allow"}]
DENY_ALL = [{"pattern": "*", "decision": "deny"}]


RUNS_READ_ONLY = ("allow", READ_ONLY)
RUNS_WRITABLE = ("allow", WRITABLE)
ASKS = ("ask", WRITABLE)
ASKS_TO_READ = ("ask", READ_ONLY)
REFUSES = ("deny", READ_ONLY)
# mode, judged, with a sandbox, without one: the table of docs/security.md
MODE_TABLE = [
    ("plan", "read", RUNS_READ_ONLY, ASKS_TO_READ),
    ("plan", "write", REFUSES, REFUSES),
    ("plan", "destructive", REFUSES, REFUSES),
    ("ask", "read", RUNS_READ_ONLY, ASKS_TO_READ),
    ("ask", "write", ASKS, ASKS),
    ("ask", "destructive", ASKS, ASKS),
    ("auto-edit", "read", RUNS_READ_ONLY, ASKS_TO_READ),
    ("auto-edit", "write", ASKS, ASKS),
    ("auto-edit", "destructive", ASKS, ASKS),
    ("auto", "read", RUNS_WRITABLE, ASKS_TO_READ),
    ("auto", "write", RUNS_WRITABLE, ASKS),
    ("auto", "destructive", RUNS_WRITABLE, ASKS),
    ("unheard-of", "read", RUNS_READ_ONLY, ASKS_TO_READ),
    ("unheard-of", "write", ASKS, ASKS),
]


def verdict_of(item, mode, rules=None):
    (judged,) = decide([item], mode, rules or {})["calls"]
    return judged["decision"], Access.from_json(judged["access"])


@pytest.mark.requirement("S3.4-13")
@pytest.mark.parametrize(
    ("mode", "risk", "confined", "open"), MODE_TABLE, ids=[f"{mode}-{risk}" for mode, risk, *_ in MODE_TABLE]
)
def test_a_command_is_decided_by_the_mode_its_risk_and_the_sandbox(mode, risk, confined, open):
    assert verdict_of(command("make", risk, sandbox=True), mode) == confined
    assert verdict_of(command("make", risk, sandbox=False), mode) == open


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("risk", ["read", "write", "destructive"])
@pytest.mark.parametrize("rules", [{}, {"autoAllow": ["*"]}, {"overrides": [{"pattern": "*", "decision": "allow"}]}])
def test_without_a_sandbox_no_rule_permits_a_command(mode, risk, rules):
    assert decide([command("ls", risk, sandbox=False)], mode, rules)["decision"] != "allow"


@pytest.mark.parametrize(
    ("mode", "decisions"),
    [
        ("plan", ["allow", "deny", "deny", "deny", "deny"]),
        ("ask", ["allow", "ask", "ask", "ask", "ask"]),
        ("auto-edit", ["allow", "allow", "ask", "ask", "ask"]),
        ("auto", ["allow", "allow", "allow", "ask", "ask"]),
        ("unheard-of", ["allow", "ask", "ask", "ask", "ask"]),
    ],
)
def test_other_calls_are_decided_by_the_mode_and_what_they_do(mode, decisions):
    """Reads are silent, file changes are those of `auto-edit`, hosts and what destroys are always asked about."""
    calls = (READ, change(), EDIT, fetch(), DESTROY)

    assert [decide([item], mode, {})["decision"] for item in calls] == decisions


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
@pytest.mark.parametrize(
    "item",
    [
        change("Makefile", protected=["Makefile"]),
        command("echo x > Makefile", protected=["Makefile"]),
        command("cat Makefile", "read", protected=["Makefile"]),
    ],
    ids=["file", "command", "odd read"],
)
@pytest.mark.parametrize("pattern", ["*", "shell", "write_file", "shell(*)"])
def test_protected_paths_are_asked_about_whatever_was_allowed_before(mode, item, pattern):
    rules = {"autoAllow": [pattern], "overrides": [{"pattern": pattern, "decision": "allow"}]}
    (judged,) = decide([item], mode, rules)["calls"]

    assert judged["decision"] == "ask"
    assert judged["scopes"] == []
    assert judged["access"]["protected"]
    assert "protected paths: Makefile" in judged["reason"]


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
def test_the_network_is_asked_about_and_granted_only_if_the_question_said_so(mode):
    calls = [command("curl x", network=["*"]), command("rm x", "destructive")]
    judged = decide(calls, mode, {"autoAllow": ["*"]})["calls"]

    assert judged[0]["decision"] == "ask"
    assert "it needs the network" in judged[0]["reason"]
    assert [item["access"]["network"] for item in judged] == [True, False]


def test_plan_mode_says_so():
    assert decide([EDIT], "plan", {}) | {"calls": []} == {
        "decision": "deny", "by": "plan", "reason": "plan mode", "calls": [],
    }  # fmt: skip


@pytest.mark.requirement("S0.4-11")
@pytest.mark.parametrize(
    ("rules", "mode", "expected"),
    [
        ({"blocked": ["tool"], "overrides": ALLOW_ALL, "autoAllow": ["*"]}, "auto", ("deny", "blocked")),
        ({"blocked": ["tool"], "tripped": ["tool"]}, "auto", ("deny", "blocked")),
        ({"tripped": ["tool"], "overrides": ALLOW_ALL, "autoAllow": ["*"]}, "auto", ("deny", "breaker")),
        ({"overrides": ALLOW_ALL, "autoAllow": ["*"]}, "plan", ("deny", "plan")),
        ({"overrides": DENY_ALL, "autoAllow": ["*"]}, "auto", ("deny", "override")),
        ({"overrides": ALLOW_ALL, "autoAllow": ["*"]}, "ask", ("allow", "override")),
        ({"autoAllow": ["*"]}, "ask", ("allow", "auto-allow")),
        ({}, "auto", ("allow", "mode")),
        ({}, "ask", ("ask", "mode")),
    ],
)
def test_the_rules_are_asked_in_order(rules, mode, expected):
    """Blocked, then what holds for the thread, then what is always allowed, then the mode."""
    verdict = decide([EDIT], mode, rules)

    assert (verdict["decision"], verdict["by"]) == expected


@pytest.mark.requirement("S2.4-7")
@pytest.mark.parametrize("mode", MODES)
def test_what_destroys_is_never_allowed_by_a_rule(mode):
    """A person sees the exact command."""
    verdict = decide([DESTROY], mode, {"overrides": ALLOW_ALL, "autoAllow": ["*", "shell", "shell(*)"]})

    assert verdict["decision"] == ("deny" if mode == "plan" else "ask")
    assert verdict["calls"][0]["text"] == 'drop({"table": "x"})'


@pytest.mark.parametrize("risk", ["harmless", None])
def test_a_risk_nobody_knows_counts_as_the_greatest(risk):
    verdict = decide([call(risk)], "auto", {})

    assert (verdict["decision"], verdict["calls"][0]["risk"]) == ("ask", "destructive")


def test_calls_that_come_together_are_decided_by_the_strictest_and_all_are_shown():
    """Batches show every call."""
    verdict = decide([READ, EDIT], "ask", {})
    denied = decide([READ, EDIT, DESTROY], "ask", {"blocked": ["drop(*)"]})

    assert verdict["decision"] == "ask"
    assert [(item["id"], item["decision"]) for item in verdict["calls"]] == [
        ("tool-read", "allow"),
        ("tool-write", "ask"),
    ]
    assert (denied["decision"], denied["by"], len(denied["calls"])) == ("deny", "blocked", 3)


def test_a_request_without_calls_allows_nothing():
    assert decide([], "auto", {"autoAllow": ["*"]})["decision"] == "deny"


def test_the_latest_decision_for_a_thread_holds():
    both = [*DENY_ALL, *ALLOW_ALL]

    assert decide([EDIT], "ask", {"overrides": both})["decision"] == "allow"
    assert decide([EDIT], "ask", {"overrides": both[::-1]})["decision"] == "deny"


def test_a_decision_for_a_thread_that_is_no_yes_is_a_no():
    assert decide([EDIT], "auto", {"overrides": [{"pattern": "*", "decision": "maybe"}]})["decision"] == "deny"


# -- patterns --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "blocks", "allows"),
    [
        ("shell", "git status", True, True),
        ("sh*", "git status", True, True),
        ("shell(git status)", "git status", True, True),
        ("shell(git status)", "git status -s", False, False),
        ("shell(git *)", "git status", True, True),
        ("shell(git *)", "git status; rm -rf /", True, False),
        ("shell(git *)", "git log && rm x", True, False),
        ("shell(git *)", "git log | sh", True, False),
        ("shell(git *)", "git log > file", True, False),
        ("shell(git *)", "git $(rm x)", True, False),
        ("shell(git *)", "git `rm x`", True, False),
        ("shell(git *)", "git log\nrm x", True, False),
        ("shell(*rm *)", "sudo rm x", True, True),
        ("shell(echo \\*)", "echo *", True, True),
        ("shell(echo \\*)", "echo x", False, False),
        ("read", "git status", False, False),
        ("shel.", "git status", False, False),
    ],
)
def test_a_pattern_that_allows_lets_no_second_command_ride_along(pattern, text, blocks, allows):
    blocked = decide([command(text)], "ask", {"blocked": [pattern]})
    allowed = decide([command(text)], "ask", {"autoAllow": [pattern]})
    overridden = decide([command(text)], "ask", {"overrides": [{"pattern": pattern, "decision": "allow"}]})

    assert (blocked["decision"] == "deny") == blocks
    assert (allowed["decision"] == "allow") == allows
    assert (overridden["decision"] == "allow") == allows


@pytest.mark.parametrize("written", [{"command": "rm x"}, '{"command": "rm x"}', '"rm x"', "rm x"])
def test_a_command_is_seen_however_a_model_wrote_it(written):
    tried = {**command("x"), "arguments": written}

    assert call_text(tried) == "shell(rm x)"
    assert decide([tried], "auto", {"blocked": ["shell(rm *)"]})["decision"] == "deny"
    assert decide([tried], "auto-edit", {})["decision"] == "ask"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"path": "a", "mode": 1}, 'tool({"mode": 1, "path": "a"})'),
        ({"command": "ls", "cwd": "/"}, 'tool(ls {"cwd": "/"})'),
        ({"command": ["ls"]}, 'tool({"command": ["ls"]})'),
        ({}, "tool()"),
        ("", "tool()"),
        ("[1]", "tool([1])"),
    ],
)
def test_nothing_that_is_not_the_command_is_left_out(arguments, text):
    """The exact command is shown, with what comes beside it."""
    assert call_text({"id": "1", "name": "tool", "arguments": arguments, "risk": "read"}) == text


@given(st.text())
def test_a_quoted_text_means_itself(text):
    tried = command(text)
    pattern = escape_pattern(call_text(tried))

    assert decide([tried], "auto", {"blocked": [pattern]})["by"] == "blocked"
    assert decide([command(text + "x")], "auto", {"blocked": [pattern]})["by"] != "blocked"


# -- what lasts ------------------------------------------------------------------------------------------------------


def allowed(item, scope, mode="ask"):
    """The overrides of an answer that allows a call by a scope."""
    return {"overrides": scope_overrides(decide([item], mode, {})["calls"], scope)}


@pytest.mark.parametrize(
    ("item", "scope", "same", "others"),
    [
        (command("make *"), "command", command("make *"), [command("make install"), command("make *", network=["*"])]),
        (change("src/a.py"), "folder", change("src/b.py", "edit_file"), [change("src/x/b.py"), change("b.py")]),
        (change("a.py"), "folder", change("b.py"), [change("src/b.py")]),
        (fetch("a.org"), "host", fetch("a.org"), [fetch("b.org"), fetch("a.org:8080"), fetch("a.org.b.org")]),
        (EDIT, "tool", call("write", path="other"), [call("write", "tool2"), call("destructive")]),
    ],
    ids=["command", "folder", "workspace", "host", "tool"],
)
def test_a_scope_covers_one_thing(item, scope, same, others):
    rules = allowed(item, scope)

    assert answer_scopes(decide([item], "ask", {})["calls"]) == ["once", scope]
    assert decide([same], "ask", rules)["by"] == "override"
    assert [decide([other], "ask", rules)["decision"] for other in others] == ["ask"] * len(others)


def test_a_scope_never_covers_protected_paths():
    rules = allowed(change("notes.txt"), "folder")

    assert decide([change("Makefile", protected=["Makefile"])], "ask", rules)["decision"] == "ask"


def test_a_command_that_was_allowed_in_a_sandbox_is_asked_about_without_one():
    rules = allowed(command("make"), "command")

    assert decide([command("make", sandbox=False)], "ask", rules)["decision"] == "ask"
    assert decide([command("make")], "ask", allowed(command("make", sandbox=False), "command"))["decision"] == "allow"


def test_a_remembered_command_may_hold_what_a_pattern_may_not_match():
    both = command("make a && make b")

    assert decide([both], "ask", allowed(both, "command"))["by"] == "override"


def test_what_destroys_has_no_scope():
    judged = decide([DESTROY, command("rm x", "destructive")], "ask", {})["calls"]

    assert [item["scopes"] for item in judged] == [[], []]
    assert answer_scopes(judged) == ["once"]


def test_a_call_that_was_allowed_by_a_rule_is_not_remembered_with_the_others():
    judged = decide([command("ls", "read"), command("make")], "ask", {})["calls"]

    assert [override["value"] for override in scope_overrides(judged, "command")] == ['{"command": "make"}']


@pytest.mark.parametrize(("denied", "protected"), [("write", False), ("protected", True)])
@pytest.mark.parametrize("mode", ["ask", "auto-edit", "auto"])
def test_a_command_that_was_denied_something_is_asked_about_again_with_more_access(mode, denied, protected):
    (judged,) = decide([{**command("make", "read"), "denied": denied}], mode, {"autoAllow": ["*"]})["calls"]

    assert judged["decision"] == "ask"
    assert judged["reason"].startswith("it failed, and the command says")
    assert Access.from_json(judged["access"]) == Access(writes=True, protected=protected)


def test_a_notice_is_part_of_every_reason():
    assert decide([EDIT], "ask", {"notice": "imported"})["reason"] == "it changes something; imported"


@pytest.mark.requirement("S0.4-11")
def test_a_tool_that_failed_three_times_within_a_minute_rests():
    failures = {"shell": [0, 10_000, 20_000], "read": [0, 1]}

    assert (BREAKER_FAILURES, BREAKER_MS) == (3, 60_000)
    assert tripped_tools(failures, 20_000) == ["shell"]
    assert tripped_tools(failures, 59_999) == ["shell"]
    assert tripped_tools(failures, 60_000) == []


@pytest.mark.requirement("S2.4-7")
def test_reads_are_silent_writes_are_noticed_and_what_destroys_is_approved():
    assert TRANSPARENCY == {"read": "silent", "write": "acknowledged", "destructive": "approved"}


COMMANDS = st.builds(
    command,
    st.text(),
    st.sampled_from(["read", "write", "destructive"]),
    sandbox=st.booleans(),
    network=st.sampled_from([[], ["*"]]),
    protected=st.sampled_from([[], ["Makefile"]]),
)


@given(
    st.lists(COMMANDS, min_size=1, max_size=4),
    st.sampled_from(MODES),
    st.lists(st.text(max_size=5)),
    st.lists(st.text(max_size=5)),
)
def test_a_verdict_is_json_and_allows_only_if_every_call_is_allowed(calls, mode, blocked, auto):
    verdict = decide(calls, mode, {"blocked": blocked, "autoAllow": auto})

    assert json.loads(json.dumps(verdict)) == verdict
    assert (verdict["decision"] == "allow") == all(item["decision"] == "allow" for item in verdict["calls"])
    assert all(item["sandbox"] and not item["network"] for item in verdict["calls"] if item["decision"] == "allow")
