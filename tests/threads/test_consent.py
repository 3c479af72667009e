"""The consent of a thread, from one request to the next."""

import json

import pytest

from antiphon import play
from antiphon.threads.consent import Consent, consent_from_json
from antiphon.threads.errors import ThreadError
from antiphon.threads.machine.permission import permission_machine
from tests.threads.machine.test_permission_rules import DESTROY, EDIT, READ, command


def answer_request(consent, calls, *events, at=0):
    """Return the output of a request of this thread."""
    output = play(permission_machine, events, input=consent.request("p", calls, at=at)).snapshot.output
    if output is not None:
        consent.remember(output)
    return output


def test_what_was_allowed_by_a_scope_is_not_asked_again():
    consent = Consent()
    answer_request(consent, [EDIT], {"type": "ALLOW", "id": "p", "scope": "tool"})

    assert answer_request(consent, [EDIT])["by"] == "override"


@pytest.mark.parametrize("event", [{"type": "ALLOW", "id": "p"}, {"type": "DENY"}, {"type": "EXPIRE"}])
def test_any_other_answer_is_for_this_once(event):
    """Allow once; deny with a reason."""
    consent = Consent()
    answer_request(consent, [EDIT], event)

    assert consent.overrides == []
    assert answer_request(consent, [EDIT]) is None


def test_what_destroys_is_asked_about_every_time():
    consent = Consent(mode="auto")
    answer_request(consent, [DESTROY], {"type": "ALLOW", "id": "p", "scope": "tool"})

    assert answer_request(consent, [DESTROY]) is None


def test_the_same_permission_is_remembered_once():
    consent = Consent()
    answer = {"type": "ALLOW", "id": "p", "scope": "tool"}
    for _ in range(2):
        request = Consent().request("p", [EDIT], at=0)
        consent.remember(play(permission_machine, [answer], input=request).snapshot.output)

    assert len(consent.overrides) == 1


@pytest.mark.requirement("S0.4-11")
def test_a_tool_that_keeps_failing_rests_and_comes_back():
    """Three failures within 60 s."""
    consent = Consent(mode="auto")
    for at in (0, 10, 20):
        assert answer_request(consent, [command("make")], at=at)["decision"] == "allowed"
        consent.note_failure("shell", at)

    assert answer_request(consent, [command("make")], at=30)["by"] == "breaker"
    assert answer_request(consent, [EDIT], at=30)["decision"] == "allowed"
    assert answer_request(consent, [command("make")], at=60_001)["decision"] == "allowed"


def test_a_success_closes_the_circuit():
    consent = Consent(mode="auto", failures={"tool": [0, 1]})
    consent.note_success("tool")
    consent.note_failure("tool", 2)

    assert consent.failures == {"tool": [2]}
    assert answer_request(consent, [EDIT], at=2)["decision"] == "allowed"


def test_old_failures_are_not_kept():
    consent = Consent()
    for at in range(0, 1_000_000, 50_000):
        consent.note_failure("tool", at)

    assert len(consent.failures["tool"]) == 2


def test_blocked_and_always_allowed_calls_are_those_of_the_thread():
    consent = Consent(blocked=["shell(rm *)"], auto_allow=["shell(make *)"])

    assert answer_request(consent, [command("rm x")])["by"] == "blocked"
    assert answer_request(consent, [command("make all")])["by"] == "auto-allow"
    assert answer_request(consent, [READ])["by"] == "mode"


def test_consent_is_stored_with_its_thread():
    consent = Consent("auto-edit", ["a"], ["b"], [{"pattern": "c", "decision": "allow"}], {"d": [1]})

    assert consent_from_json(json.loads(json.dumps(consent.to_json()))) == consent


def test_an_unknown_mode_is_refused_by_name():
    with pytest.raises(ThreadError, match="'yolo' is not a permission mode; known: plan, ask, auto-edit, auto"):
        Consent("yolo")
