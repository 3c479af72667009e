"""The streaming machine does what its story asks: the five states, the ten events, the lists of cases.

Names that begin with `story:` are the story's own cases, those with `atdd:` come from its longer checklist; the two
number differently.
"""

import json
import re

import pytest

from antiphon.threads.machine.streaming import streaming_machine
from antiphon.threads.machine.streaming_reply import initial_context
from tests.fixtures.streaming import COMPLETE, ERROR, FATAL, FIRST, RESET, SEND, Talk, text, thinking, tool, tool_end

pytestmark = pytest.mark.requirement("S0-T40")

FILLED = [SEND, text("a"), thinking("b"), tool("t1"), COMPLETE]
FAILED = [SEND, text("a"), thinking("b"), tool("t1"), FATAL]
EMPTY = {
    "text": "",
    "thinking": "",
    "tools": {},
    "error": None,
    "costUsd": None,
    "durationMs": None,
    "totalTokens": None,
}
FAILURE = {"code": "9001", "message": "No", "recoverable": False}
RUNNING = {"name": "search", "status": "running"}
# The nine keys of the story with its defaults, and then what was added to them.
STORY_CONTEXT = {"requestId": None, "sessionId": None, **EMPTY}
ADDITIONS = {
    "lastPrompt": None,
    "messages": [],
    "stop": None,
    "usage": None,
    "cancelled": False,
    "attempt": 0,
    "retryDelayMs": None,
    "sentAt": None,
    "firstTokenMs": None,
    "streamEvents": 0,
    "eventsAtLook": 0,
    "staleEvents": 0,
    "settledUsd": 0,
    "spentUsd": 0,
    "budgetWarned": False,
    "reportsToParent": False,
    "settings": {
        "model": None,
        "options": {},
        "budgetUsd": None,
        "firstEventMs": 300_000,
        "inactivityMs": 120_000,
        "maxAttempts": 3,
        "backoffMs": 1_000,
        "longestRetryMs": 60_000,
        "retryAfterDelta": False,
    },
}


def case(name, events, state, **context):
    return pytest.param(events, state, context, id=name)


@pytest.mark.requirement("S0-T01..S0-T22", "S0-01..S0-09", "S0-30..S0-46", "S0-48..S0-54")
@pytest.mark.parametrize(
    ("events", "state", "context"),
    [
        case("story:2.6-UNIT-001 the initial state is idle", [], "idle"),
        case("story:2.6-UNIT-002 idle goes to sending on SEND", [SEND], "sending"),
        case("story:2.6-UNIT-003 sending goes to streaming on TEXT_CHUNK", [SEND, text("x")], "streaming", text="x"),
        case(
            "story:2.6-UNIT-004 sending goes to streaming on THINKING_CHUNK",
            [SEND, thinking("x")],
            "streaming",
            thinking="x",
            text="",
        ),
        case(
            "story:2.6-UNIT-005 sending goes to streaming on TOOL_START",
            [SEND, tool("t1")],
            "streaming",
            tools={"t1": RUNNING},
        ),
        case("story:2.6-UNIT-006 sending goes to streaming on FIRST_EVENT", [SEND, FIRST], "streaming", **EMPTY),
        case("story:2.6-UNIT-007 streaming goes to complete on COMPLETE", [SEND, FIRST, COMPLETE], "complete"),
        case("story:2.6-UNIT-008 sending goes to error on ERROR", [SEND, ERROR], "error"),
        case("story:2.6-UNIT-009 streaming goes to error on ERROR", [SEND, FIRST, ERROR], "error"),
        case("story:2.6-UNIT-010 complete goes to sending on SEND", [*FILLED, SEND], "sending"),
        case("story:2.6-UNIT-011 error goes to sending on SEND", [*FAILED, SEND], "sending"),
        case("story:2.6-UNIT-012 complete goes to idle on RESET", [*FILLED, RESET], "idle"),
        case("story:2.6-UNIT-013 error goes to idle on RESET", [*FAILED, RESET], "idle"),
        case("story:2.6-UNIT-014 text accumulates", [SEND, text("Good "), text("day")], "streaming", text="Good day"),
        case(
            "story:2.6-UNIT-015 thinking accumulates apart from text",
            [SEND, thinking("Hm"), text("x"), thinking("m.")],
            "streaming",
            thinking="Hmm.",
            text="x",
        ),
        case(
            "story:2.6-UNIT-016 tools are tracked when they start",
            [SEND, tool("t1"), tool("t2", "read")],
            "streaming",
            tools={"t1": RUNNING, "t2": {"name": "read", "status": "running"}},
        ),
        case(
            "story:2.6-UNIT-017 tools are updated when they complete",
            [SEND, tool("t1"), tool_end("t1")],
            "streaming",
            tools={"t1": {"name": "search", "status": "complete", "durationMs": 40}},
        ),
        case("story:2.6-UNIT-018 the error is kept", [SEND, FATAL], "error", error=FAILURE),
        case(
            "story:2.6-UNIT-019 cost, duration and tokens are kept",
            FILLED,
            "complete",
            costUsd=0.05,
            durationMs=1200,
            totalTokens=300,
        ),
        case("story:2.6-UNIT-020 SEND from complete resets", [*FILLED, SEND], "sending", requestId=None, **EMPTY),
        case("story:2.6-UNIT-021 SEND from error resets", [*FAILED, SEND], "sending", requestId=None, **EMPTY),
        case(
            "story:2.6-UNIT-022 the session is preserved across resets for a new message",
            [{**SEND, "sessionId": "s1"}, FIRST, COMPLETE, SEND, ERROR, SEND],
            "sending",
            sessionId="s1",
        ),
    ],
)
def test_the_story(events, state, context):
    talk = Talk(*events)

    assert talk.state == state
    assert {key: talk.context[key] for key in context} == context


@pytest.mark.requirement("S0-T39", "S0-T40", "S0-47", "S0-51", "S0-55")
@pytest.mark.parametrize(
    ("events", "state", "context"),
    [
        case(
            "atdd:UNIT-022 the end of an unknown tool is ignored", [SEND, FIRST, tool_end("no")], "streaming", tools={}
        ),
        case("atdd:UNIT-023 an empty chunk is fine", [SEND, text(""), text("x")], "streaming", text="x"),
        case("atdd:UNIT-025 a chunk in idle is ignored", [text("x")], "idle", **STORY_CONTEXT),
        case("atdd:UNIT-026 COMPLETE in idle is ignored", [COMPLETE], "idle", **STORY_CONTEXT),
        case(
            "atdd:UNIT-027 a hundred chunks of a hundred",
            [SEND, *[text("x" * 100)] * 100],
            "streaming",
            text="x" * 10_000,
        ),
        case(
            "atdd:UNIT-028 Unicode is exact",
            [SEND, text("Grüße 👩‍👩‍👧 "), text("日本語 \u200f"), text("\u0000\ud83d")],
            "streaming",
            text="Grüße 👩‍👩‍👧 日本語 \u200f\u0000\ud83d",
        ),
        case("atdd:UNIT-034 ERROR keeps the text", FAILED, "error", text="a"),
        case("atdd:UNIT-035 ERROR keeps the thinking", FAILED, "error", thinking="b"),
        case(
            "atdd:UNIT-036 ERROR keeps the tools",
            [SEND, tool("t1"), tool_end("t1"), FATAL],
            "error",
            tools={"t1": {"name": "search", "status": "complete", "durationMs": 40}},
        ),
        case("atdd:UNIT-037 ERROR in idle is ignored", [ERROR], "idle", error=None),
        case("atdd:UNIT-038 ERROR in complete is ignored", [*FILLED, ERROR], "complete", error=None),
        case("atdd:UNIT-039 ERROR in error is ignored, the first is kept", [*FAILED, ERROR], "error", error=FAILURE),
        case("atdd:UNIT-040 an empty message is sent", [{"type": "SEND", "prompt": ""}], "sending", lastPrompt=""),
        case(
            "atdd:UNIT-041 a long message is sent",
            [{"type": "SEND", "prompt": "x" * 5_000}],
            "sending",
            lastPrompt="x" * 5_000,
        ),
        case("atdd:UNIT-047 the request is unknown after SEND", [*FILLED, SEND], "sending", requestId=None),
        case("atdd:UNIT-050 RESET is full", [*FILLED, RESET], "idle", **STORY_CONTEXT, **ADDITIONS),
        case(
            "atdd:UNIT-051 a null session is taken",
            [{**SEND, "sessionId": "s"}, FATAL, {**SEND, "sessionId": None}],
            "sending",
            sessionId=None,
        ),
        case(
            "atdd:UNIT-053 RESET clears the session", [{**SEND, "sessionId": "s"}, FATAL, RESET], "idle", sessionId=None
        ),
        case("atdd:UNIT-054 RESET does nothing in idle", [RESET], "idle", **STORY_CONTEXT, **ADDITIONS),
        case("atdd:UNIT-055 RESET is ignored in sending", [SEND, RESET], "sending", lastPrompt="Hello"),
        case("atdd:UNIT-056 RESET is ignored in streaming", [SEND, text("x"), RESET], "streaming", text="x"),
    ],
)
def test_the_checklist(events, state, context):
    talk = Talk(*events)

    assert talk.state == state
    assert {key: talk.context[key] for key in context} == context


@pytest.mark.requirement("S0-10..S0-19")
def test_the_initial_context_is_the_story_s_and_the_listed_additions():
    assert Talk().context == {**STORY_CONTEXT, **ADDITIONS}


@pytest.mark.requirement("S0-19", "S0-B13")
def test_every_actor_has_a_context_of_its_own():
    talk = Talk(SEND, tool("t1"))
    empty = Talk()

    assert (len(talk.context["tools"]), empty.context["tools"]) == (1, {})
    assert initial_context()["messages"] is not initial_context()["messages"]


@pytest.mark.requirement("S0-01", "S0-05..S0-09")
def test_there_are_exactly_five_states_and_none_is_final():
    states = streaming_machine.config["states"]

    assert list(states) == ["idle", "sending", "streaming", "complete", "error"]
    assert not [state for state in states.values() if state.get("type") == "final" or "states" in state]


@pytest.mark.requirement("S0-20..S0-29")
def test_the_ten_events_of_the_story_are_known():
    types = {type for state in streaming_machine.config["states"].values() for type in state["on"]}

    assert types >= {
        "SEND", "REQUEST_STARTED", "FIRST_EVENT", "TEXT_CHUNK", "THINKING_CHUNK",
        "TOOL_START", "TOOL_COMPLETE", "COMPLETE", "ERROR", "RESET",
    }  # fmt: skip


@pytest.mark.requirement("S0-47", "E-21")
def test_an_event_that_is_not_for_the_state_changes_nothing():
    talk = Talk(SEND)
    before = talk.actor.get_snapshot()

    talk.send(RESET, SEND, {"type": "NONSENSE"})

    assert talk.actor.get_snapshot() is before
    assert talk.refused == ["RESET", "SEND", "NONSENSE"]


@pytest.mark.requirement("S0-31", "S0-21")
def test_request_started_keeps_the_id_and_stays():
    talk = Talk(SEND, {"type": "REQUEST_STARTED", "requestId": "r1"})

    assert (talk.state, talk.context["requestId"]) == ("sending", "r1")


@pytest.mark.requirement("S0-50")
def test_tools_are_copied_on_write():
    talk = Talk(SEND, tool("t1"))
    before = talk.context["tools"]

    talk.send(tool("t2"), tool_end("t1"))

    assert before == {"t1": RUNNING}


@pytest.mark.requirement("S0-82", "S0-14", "S0-51")
def test_several_tools_run_at_once_each_with_its_own_outcome_and_timing():
    talk = Talk(
        SEND, tool("a"), tool("b"), tool("c"), tool_end("b", is_error=True, duration=7), tool_end("a", duration=9)
    )

    assert talk.context["tools"] == {
        "a": {"name": "search", "status": "complete", "durationMs": 9},
        "b": {"name": "search", "status": "error", "durationMs": 7},
        "c": RUNNING,
    }


def test_tools_keep_what_they_were_given_and_what_they_gave():
    started = {**tool("a"), "input": {"q": "x"}}
    talk = Talk(SEND, started, {**tool_end("a"), "result": "found"})

    assert talk.context["tools"]["a"] == {
        "name": "search", "status": "complete", "durationMs": 40, "input": {"q": "x"}, "result": "found",
    }  # fmt: skip


@pytest.mark.requirement("S0-B7", "S0-04")
def test_a_new_message_goes_straight_to_sending():
    snapshots = []
    talk = Talk(*FILLED)
    talk.actor.subscribe(lambda snapshot: snapshots.append(snapshot.value))

    talk.send(SEND)

    assert snapshots == ["sending"]


@pytest.mark.requirement("S0-81")
def test_both_recoveries_from_an_error_are_possible():
    talk = Talk(SEND, FATAL)

    assert talk.can(SEND)
    assert talk.can(RESET)


@pytest.mark.requirement("S0-B6")
def test_an_empty_reply_completes():
    assert Talk(SEND, COMPLETE).state == "complete"


@pytest.mark.requirement("S0-B6")
def test_the_end_of_a_tool_is_a_first_event_too():
    assert Talk(SEND, tool_end("t1")).state == "streaming"


@pytest.mark.requirement("S0-B14")
@pytest.mark.parametrize("before", [[], [SEND, FATAL], [SEND, COMPLETE]], ids=["idle", "error", "complete"])
def test_send_clears_the_id_of_the_last_request_everywhere(before):
    named = [SEND, {"type": "REQUEST_STARTED", "requestId": "r1"}, {"type": "CANCEL"}]

    assert Talk(*named, *before, SEND).context["requestId"] is None


@pytest.mark.requirement("S0-B1", "S0-11")
def test_an_absent_session_stays_a_given_one_is_taken_and_reset_clears_it():
    talk = Talk({**SEND, "sessionId": "s1"}, COMPLETE, SEND, COMPLETE)
    assert talk.context["sessionId"] == "s1"

    talk.send({**SEND, "sessionId": "s2"}, COMPLETE)
    assert talk.context["sessionId"] == "s2"

    talk.send({**SEND, "sessionId": None}, COMPLETE)
    assert talk.context["sessionId"] is None


@pytest.mark.requirement("S0-12")
def test_the_text_is_one_pass_however_many_chunks():
    """An older snapshot does not change, though the text grows in place."""
    talk = Talk(SEND, text("a"))
    early = talk.context["text"]

    talk.send(*[text("b")] * 50_000)

    assert (str(early), len(talk.context["text"])) == ("a", 50_001)


@pytest.mark.requirement("S0-83", "S0-16..S0-18")
def test_outputs_for_every_display_are_in_the_context():
    context = Talk(SEND, text("a"), thinking("b"), tool("t1"), tool_end("t1"), COMPLETE).context

    assert (context["text"], context["thinking"], context["error"]) == ("a", "b", None)
    assert [(tool["name"], tool["status"]) for tool in context["tools"].values()] == [("search", "complete")]
    assert (context["costUsd"], context["durationMs"], context["totalTokens"]) == (0.05, 1200, 300)


@pytest.mark.requirement("S0-83")
def test_an_error_can_be_displayed_with_the_text_before_it():
    context = Talk(SEND, text("a"), FATAL).context

    assert context["text"] == "a"
    assert set(context["error"]) >= {"code", "message", "recoverable"}


@pytest.mark.requirement("S0-12", "S0-13")
def test_texts_are_plain_strings_while_they_stream():
    context = Talk(SEND, text("Hi "), text("there"), thinking("Hm")).context

    assert (type(context["text"]), type(context["thinking"])) == (str, str)
    assert json.loads(json.dumps(context))["text"] == "".join([context["text"]]) == "Hi there"
    assert re.match("Hi", context["text"])
