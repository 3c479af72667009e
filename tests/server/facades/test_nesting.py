"""Whatever activities come, both protocols get a well-nested sequence with one end."""

from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from antiphon.server.facades.agui_events import AguiWriter
from antiphon.server.facades.pieces import NodeIds, PieceReader
from antiphon.server.facades.vercel_chunks import ChunkWriter
from antiphon.threads import Activity
from tests.fixtures.protocols import check_agui, check_chunks

USAGE = {"input": 1, "output": 2, "estimated": True}
STATUS = {"status": "running", "runId": "run-1", "cost": 0.0, "resultInfo": None}
CALLS = st.sampled_from(["call-a", "call-b", "call-c"])
WORDS = st.builds(dict, text=st.sampled_from(["", "a", "word "]))
HEADS = st.builds(dict, head=st.sampled_from([None, "u1", "m1", "m2", "m3", "m9"]))
FACTS: dict[str, st.SearchStrategy[dict[str, Any]]] = {
    "text": WORDS,
    "thinking": WORDS,
    "tool_called": st.builds(dict, id=CALLS, name=st.just("bake"), input=st.sampled_from([None, {}, {"a": 1}, "x"])),
    "tool_ended": st.builds(
        dict,
        call=st.integers(0, 3),
        failed=st.booleans(),
        result=st.sampled_from(
            [{"callId": "call-a", "parts": [{"type": "text", "text": "b"}]}, {"message": "c"}, None]
        ),
    ),
    "tool_answered": st.builds(dict, toolResult=st.builds(dict, id=CALLS, name=st.just("bake"), isError=st.booleans())),
    "call_refused": st.builds(dict, id=CALLS, name=st.just("bake"), message=st.just("no such tool")),
    "tools_answered": HEADS,
    "replied": st.just({"usage": USAGE}),
    "reply_completed": HEADS,
    "reply_failed": HEADS,
    "reply_cancelled": HEADS,
    "agent_message": st.just({"message": {}}),
    "agent_completed": st.just({}),
    "agent_failed": st.just({}),
    "turn_started": st.builds(dict, participantId=st.sampled_from(["a", "b"]), requestId=st.sampled_from(["r1", "r2"])),
    "turn_ended": st.just({}),
    "plan_changed": st.just({"plan": {"steps": []}}),
    "verdict": st.just({"verdict": {}}),
    "run_ended": st.just({"usage": USAGE, "success": True}),
    "status": st.just(STATUS),
    "anything_else": st.just({}),
}
SPEAKERS = st.sampled_from([None, "a", "b"])
ACTIVITIES = st.lists(
    st.sampled_from(sorted(FACTS)).flatmap(lambda kind: st.tuples(st.just(kind), FACTS[kind], SPEAKERS)), max_size=40
)
KINDS = st.sampled_from(["chat", "run", "debate"])


def read(kind: str, drawn: list[tuple[str, dict[str, Any], str | None]]) -> Iterator[Any]:
    pieces = PieceReader(kind, NodeIds(["m1"], 2))
    for seq, (name, facts, speaker) in enumerate(drawn, 1):
        yield from pieces.read(Activity(seq, 0, name, facts, speaker))


@given(KINDS, ACTIVITIES, st.booleans())
def test_the_events_of_a_run_are_well_nested(kind: str, drawn: list[Any], is_failed: bool) -> None:
    writer = AguiWriter("thread", "run")
    events = [writer.start(), *(event for piece in read(kind, drawn) for event in writer.write(piece))]
    events += writer.fail("broken") if is_failed else writer.finish({"type": "success"})

    check_agui(events)


@given(KINDS, ACTIVITIES, st.booleans())
def test_the_chunks_of_a_message_are_well_nested(kind: str, drawn: list[Any], is_failed: bool) -> None:
    writer = ChunkWriter()
    chunks: list[Any] = [{"type": "start", "messageId": "m1"}]
    chunks += (chunk for piece in read(kind, drawn) for chunk in writer.write(piece))
    chunks += writer.fail("broken", {}) if is_failed else writer.finish("stop", {})

    check_chunks([*chunks, "[DONE]"])


@given(KINDS, ACTIVITIES)
def test_reading_again_gives_the_same_pieces(kind: str, drawn: list[Any]) -> None:
    assert list(read(kind, drawn)) == list(read(kind, drawn))


def test_the_next_message_has_the_next_free_id_of_the_tree() -> None:
    ids = NodeIds(["m2", "m3"], 4, {"m1", "m2", "m3", "m4"})

    assert ids.current == "m2"
    ids.append("m2")
    ids.append("m3")
    assert (ids.current, ids.is_exact) == ("m5", True)
    ids.append("m7")
    assert (ids.current, ids.is_exact) == ("m8", False)
