"""Version 1 of the rules by which tool calls were allowed, denied or asked about, as a table."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon import initial_transition
from antiphon.threads.machine.permission_rules import MODES
from antiphon.threads.machine.version_1.permission import permission_machine_1
from antiphon.threads.machine.version_1.permission_rules import call_text, decide, escape_pattern, lasting_overrides


def call(risk, name="tool", **arguments):
    return {"id": f"{name}-{risk}", "name": name, "arguments": arguments, "risk": risk}


def command(text, risk="write"):
    return call(risk, "shell", command=text)


READ = call("read")
EDIT = call("write")
COMMAND = command("make")
DESTROY = command("rm -r x", "destructive")
ALLOW_ALL = [{"pattern": "*", "decision": "allow"}]
DENY_ALL = [{"pattern": "*", "decision": "deny"}]


@pytest.mark.parametrize(
    ("mode", "decisions"),
    [
        ("plan", ["allow", "deny", "deny", "deny"]),
        ("ask", ["allow", "ask", "ask", "ask"]),
        ("auto-edit", ["allow", "allow", "ask", "ask"]),
        ("auto", ["allow", "allow", "allow", "ask"]),
        ("unheard-of", ["ask", "ask", "ask", "ask"]),
    ],
)
def test_a_mode_decides_by_what_a_call_does(mode, decisions):
    """Reads are silent, destructive calls are always shown, and an unknown mode asks."""
    assert [decide([item], mode, {})["decision"] for item in (READ, EDIT, COMMAND, DESTROY)] == decisions


def test_plan_mode_says_so():
    assert decide([EDIT], "plan", {}) | {"calls": []} == {
        "decision": "deny", "by": "plan", "reason": "plan mode", "calls": [],
    }  # fmt: skip


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


@pytest.mark.parametrize("mode", MODES)
def test_what_destroys_is_never_allowed_by_a_rule(mode):
    """A person sees the exact command."""
    verdict = decide([DESTROY], mode, {"overrides": ALLOW_ALL, "autoAllow": ["*", "shell", "shell(*)"]})

    assert verdict["decision"] == ("deny" if mode == "plan" else "ask")
    assert verdict["calls"][0]["text"] == "shell(rm -r x)"


@pytest.mark.parametrize("risk", ["harmless", None])
def test_a_risk_nobody_knows_counts_as_the_greatest(risk):
    verdict = decide([{**READ, "risk": risk}], "auto", {})

    assert (verdict["decision"], verdict["calls"][0]["risk"]) == ("ask", "destructive")


def test_calls_that_come_together_are_decided_by_the_strictest_and_all_are_shown():
    """Batches show every call."""
    verdict = decide([READ, EDIT], "ask", {})
    denied = decide([READ, EDIT, DESTROY], "ask", {"blocked": ["shell(rm *)"]})

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
    tried = {"id": "1", "name": "shell", "arguments": written, "risk": "write"}

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


def test_an_allowed_command_is_remembered_word_by_word_and_an_edit_by_its_tool():
    """Allow for this thread."""
    judged = decide([command("make *"), EDIT], "ask", {})["calls"]
    rules = {"overrides": lasting_overrides(judged)}

    assert decide([command("make *"), call("write", path="other")], "ask", rules)["decision"] == "allow"
    assert decide([command("make install")], "ask", rules)["decision"] == "ask"


def test_a_remembered_command_may_hold_what_a_pattern_may_not_match():
    judged = decide([command("make a && make b")], "ask", {})["calls"]

    assert decide([command("make a && make b")], "ask", {"overrides": lasting_overrides(judged)})["by"] == "override"


def test_what_destroys_is_not_remembered():
    assert lasting_overrides(decide([DESTROY], "ask", {})["calls"]) == []


@given(
    st.lists(st.builds(command, st.text(), st.sampled_from(["read", "write", "destructive"])), min_size=1, max_size=4),
    st.sampled_from(MODES),
    st.lists(st.text(max_size=5)),
    st.lists(st.text(max_size=5)),
)
def test_a_verdict_is_json_and_allows_only_if_every_call_is_allowed(calls, mode, blocked, auto):
    verdict = decide(calls, mode, {"blocked": blocked, "autoAllow": auto})

    assert json.loads(json.dumps(verdict)) == verdict
    assert (verdict["decision"] == "allow") == all(item["decision"] == "allow" for item in verdict["calls"])
    assert not (verdict["decision"] == "allow" and any(item["risk"] == "destructive" for item in verdict["calls"]))


def test_version_1_knows_no_change_of_arguments_and_refuses_it():
    """It would make the call as it was."""
    asking, _ = initial_transition(permission_machine_1, {"id": "p1", "calls": [EDIT], "mode": "ask", "rules": {}})
    allow = {"type": "ALLOW", "id": "p1"}

    assert asking.can(allow)
    assert not asking.can({**allow, "arguments": {EDIT["id"]: {}}})
