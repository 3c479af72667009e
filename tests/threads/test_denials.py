"""Denied calls are told apart from calls that failed, by the results in messages."""

from antiphon.threads.denials import agent_messages, denial_of, find_denials


def result(id, text, *, is_error=True):
    part = {"type": "toolResult", "callId": id, "parts": [{"type": "text", "text": text}]}
    return {**part, "isError": True} if is_error else part


def message(*parts):
    return {"role": "tool", "parts": [*parts]}


def test_a_denial_is_an_error_that_says_so():
    assert denial_of(result("1", "not allowed: plan mode")) == "plan mode"
    assert denial_of(result("1", "failed: no such file")) is None
    assert denial_of(result("1", "not allowed: says the content of a file", is_error=False)) is None
    assert denial_of({"type": "text", "text": "not allowed: words"}) is None


def test_the_latest_result_of_an_id_counts():
    messages = [message(result("1", "not allowed: plan mode"), result("2", "not allowed: no"))]

    assert find_denials(messages, ["1"]) == {"1": "plan mode"}
    assert find_denials([*messages, message(result("1", "done", is_error=False))], ["1", "2"]) == {"2": "no"}


def test_an_agent_that_is_not_at_work_has_no_conversation():
    assert agent_messages({"children": {}}, "agent-0") == []
