"""Sessions and fallback in the machines: values that come and go, and lines with a severity."""

import pytest

from antiphon.agents.machine.sessions import closing_sessions
from tests.agents.machine.test_agent_turn import Turn, replied
from tests.fixtures.orchestrator import BROKEN, BUSY, COMPLETE, START, Run, done, select

WORKING = (START, select("developer"))
SESSION = {"id": "t-run-1-developer", "model": "a:one"}
OPENED = {"type": "AGENT_SESSION", "name": "developer", "session": SESSION}
FALLBACK = {"from": "a:one", "to": "b:two", "code": "1002", "message": "overloaded"}
FELL_BACK = {"type": "AGENT_FALLBACK", "name": "developer", "fallback": FALLBACK}
MODELS = {"model": "a:one", "models": ["a:one", "b:two"], "sessionId": "t-run-1-developer", "sessionName": "developer"}
OVERLOADED = {"code": "1002", "message": "overloaded", "recoverable": True}


def failed(error=OVERLOADED, **facts):
    return {"type": "REPLY.FAILED", "error": error, **facts}


@pytest.mark.requirement("S1-109", "S1-23")
def test_the_active_session_is_a_value_in_the_context():
    run = Run(*WORKING, OPENED)

    assert (run.context["session"], run.context["sessions"]) == (SESSION, {"developer": SESSION})


@pytest.mark.requirement("S1-83", "S1-109")
@pytest.mark.parametrize("event", [{"type": "CANCEL"}, {"type": "RESET"}, {"type": "AGENT_ERROR", "error": BROKEN}])
def test_the_end_drops_every_session(event):
    run = Run(*WORKING, OPENED, event)

    assert (run.context["session"], run.context["sessions"]) == (None, {})
    assert [said["session"] for said in run.said if said["type"] == "session_closed"] == [SESSION]


@pytest.mark.requirement("S1-83")
def test_a_session_of_the_caller_stays_through_a_reset_and_is_closed_at_the_end():
    class Session:
        closed = 0

        def close(self):
            self.closed += 1

    session = Session()
    run = Run(*WORKING, OPENED, {"type": "RESET"}, session=session)
    assert (session.closed, run.context["session"], run.context["sessions"]) == (0, session, {})

    run.send(START, select("developer"), done(), COMPLETE)
    assert session.closed == 1


@pytest.mark.requirement("S1-B18")
def test_an_error_while_a_session_is_closed_does_not_change_the_end(caplog):
    class Session:
        async def close(self):
            raise OSError("gone")

    run = Run(*WORKING, done(), COMPLETE, session=Session())

    assert (run.state, run.output["success"]) == ("complete", True)
    assert "a provider session could not be closed" in caplog.text


def test_a_fallback_closes_only_the_session_of_the_model_that_was_given_up():
    context = {"session": SESSION, "sessions": {"developer": SESSION, "@arbiter": {"id": "x", "model": "a:one"}}}

    assert closing_sessions(context, FELL_BACK) == [SESSION]
    assert len(closing_sessions(context, {"type": "CANCEL"})) == 2


@pytest.mark.requirement("S1-109", "S1-B14")
def test_a_turn_falls_back_in_a_session_of_its_own():
    turn = Turn(failed(costUsd=0.25), replied("Done."), **MODELS)

    assert [event["session"] for event in turn.heard("AGENT_SESSION")] == [
        SESSION,
        {"id": "t-run-1-developer-1", "model": "b:two"},
    ]
    assert [event["fallback"] for event in turn.heard("AGENT_FALLBACK")] == [FALLBACK]
    assert (turn.output["success"], turn.output["fallbacks"], turn.output["costUsd"]) == (True, [FALLBACK], 0.25)


@pytest.mark.requirement("S1-109")
@pytest.mark.parametrize(
    ("events", "input"),
    [
        ([failed(), failed()], {}),
        ([failed({"code": "3004", "message": "the owner reached the limit", "recoverable": False})], {}),
        ([failed(costUsd=0.5)], {"budgetUsd": 0.5}),
    ],
)
def test_a_turn_fails_where_no_other_model_can_help(events, input):
    turn = Turn(*events, **{**MODELS, **input})

    assert turn.output["error"] == {**turn.output["error"], **events[-1]["error"]}
    assert turn.output["failedOutright"]


def test_a_turn_keeps_the_session_that_its_agent_has():
    session = {"id": "t-run-1-developer-1", "model": "b:two"}
    turn = Turn(**{**MODELS, "model": "b:two", "session": session})

    assert turn.heard("AGENT_SESSION") == []
    assert turn.actor.get_snapshot().children["reply"].input["sessionId"] == "t-run-1-developer-1"


LINES = [
    ("error", "Agent 'developer' error: no such model", [*WORKING, {"type": "AGENT_ERROR", "error": BROKEN}], {}),
    ("error", "Task failed after 1 failures", [*WORKING, {"type": "AGENT_ERROR", "error": BROKEN}], {}),
    (
        "error",
        "Max consecutive failures (1) reached",
        [*WORKING, {"type": "AGENT_ERROR", "error": BUSY}],
        {"maxFailures": 1},
    ),
    ("warning", "Max iterations (1) reached", [*WORKING, done(), select("developer")], {"maxIterations": 1}),
    ("warning", "Agent 'developer' falls back from a:one to b:two: overloaded", [*WORKING, FELL_BACK], {}),
    ("warning", "Rules decide: no JSON", [START, {"type": "ARBITER_RULES", "reason": "no JSON"}], {}),
    ("info", "Starting task: write a poem", [START], {}),
    ("info", "Agent 'developer' starting (iteration 1)", [*WORKING], {}),
    ("info", "Agent 'developer' completed", [*WORKING, done()], {}),
    ("info", "Task completed in 1 iterations", [*WORKING, done(), COMPLETE], {}),
    ("info", "Task cancelled", [*WORKING, {"type": "CANCEL"}], {}),
]


@pytest.mark.requirement("S1-108")
@pytest.mark.parametrize(("severity", "text", "events", "input"), LINES)
def test_every_line_has_its_severity_and_is_kept(severity, text, events, input):
    run = Run(*events, **input)

    [said] = [said for said in run.said if said.get("text") == f"[rawko] {text}"]
    assert said["severity"] == severity
    assert (severity, text) in [(line["severity"], line["text"]) for line in run.context["log"]]


def test_the_log_keeps_the_last_hundred_lines_and_cuts_long_ones():
    run = Run(START, *[{"type": "ARBITER_RULES", "reason": "x" * 1_000}] * 150)

    assert len(run.context["log"]) == 100
    assert {len(line["text"]) for line in run.context["log"]} == {300}
