"""Chats of version 1 do what they did: no merges by consensus, no way back into closed branches."""

import pytest

from antiphon import initial_transition, transition
from antiphon.chat.machine.version_1.flow import flow_machine_1


def chat(*events, **config):
    """A chat of version 1 after some events."""
    snapshot, _ = initial_transition(flow_machine_1, {"config": config})
    for event in ({"type": "start"}, *events):
        snapshot, _ = transition(flow_machine_1, snapshot, {"type": event} if isinstance(event, str) else event)
    return snapshot


def say(text):
    return {"type": "message", "text": text}


FORK = ({"type": "fork", "name": "a"}, "confirm_fork")
MAIN = {"type": "switch", "branch": "main"}


@pytest.mark.parametrize(
    ("events", "event"),
    [
        ((say("one"), *FORK, say("two"), MAIN, say("three")), {"type": "merge", "strategy": "consensus"}),
        ((*FORK, MAIN, {"type": "close", "branch": "a"}), {"type": "switch", "branch": "a"}),
        ((), {"type": "rewind", "message": "m1", "turns": 9}),
    ],
)
def test_what_version_1_did_not_take_is_still_refused(events, event):
    assert not chat(*events).can(event)


def test_a_rewind_goes_back_turns_only():
    snapshot = chat(say("one"), say("two"), {"type": "rewind", "message": "m2"})

    assert snapshot.context["branches"]["main"]["head"] == "m1"


def test_a_fork_has_the_current_branch_as_its_parent():
    snapshot = chat(say("one"), *FORK, say("two"), MAIN, {"type": "fork", "from": "m2", "name": "b"}, "confirm_fork")

    assert snapshot.context["branches"]["b"]["parent"] == "main"


def test_a_merge_starts_after_the_last_common_message():
    snapshot = chat(say("one"), *FORK, say("two"), MAIN, say("three"), "merge")

    assert snapshot.context["merge"] == {
        "source": "a", "target": "main", "base": "m1", "strategy": "sequential", "conflicts": [], "turns": None,
    }  # fmt: skip
    merged, _ = transition(flow_machine_1, snapshot, {"type": "confirm_merge"})
    assert "branch" not in merged.context["messages"][merged.context["branches"]["main"]["head"]]


def test_a_reply_has_no_time_of_its_own():
    snapshot = chat(say("one"), model="m")
    done = {"type": "REPLY.COMPLETED", "requestId": "r1", "message": {"parts": [{"type": "text", "text": "Yes."}]}}
    snapshot, _ = transition(flow_machine_1, snapshot, done, now=9)

    assert "at" not in snapshot.context["messages"]["m2"]
