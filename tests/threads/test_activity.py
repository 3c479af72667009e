"""Activities, read from steps of the journal."""

from antiphon.runtime.records import Entry
from antiphon.threads.activity import activities


def step(to, event, *emitted, sender="debate"):
    sent = tuple({"from": sender, "event": item} for item in emitted)
    return Entry("t", 7, 0, to, event, emitted=sent)


def test_words_have_the_debater_or_agent_whose_actor_took_them_as_speaker():
    word = {"type": "TEXT_CHUNK", "content": "Hear"}
    (debater,) = activities(step("debate/reply-for", word))
    (agent,) = activities(step("run/executeAgent/agent-1/reply", word))

    assert (debater.kind, debater.speaker) == ("text", "for")
    assert (agent.kind, agent.speaker) == ("text", "agent-1")


def test_only_what_is_about_a_debater_has_a_speaker():
    ended = {"type": "turn_ended", "participantId": "against"}
    last, judging = activities(
        step("debate/reply-against", {"type": "COMPLETE"}, ended, {"type": "judging", "rounds": 2})
    )

    assert (last.kind, last.speaker) == ("turn_ended", "against")
    assert (judging.kind, judging.speaker) == ("judging", None)


def test_the_start_of_the_next_agent_is_not_said_by_the_one_before():
    started = {"type": "agent_started", "agent": "reviewer"}
    (activity,) = activities(step("run/executeAgent/agent-0", {"type": "COMPLETE"}, started, sender="run"))

    assert (activity.kind, activity.speaker) == ("agent_started", None)


def test_each_activity_of_a_step_has_the_cursor_of_its_part_and_the_last_that_of_the_step():
    entry = step(
        "chat/reply", {"type": "COMPLETE"}, {"type": "stored"}, {"type": "hidden"}, {"type": "status"}, sender="chat"
    )
    whole = activities(entry, "h:1")

    assert [(one.kind, one.cursor) for one in whole] == [
        ("replied", "h:1:7.0"), ("stored", "h:1:7.1"), ("hidden", "h:1:7.2"), ("status", "h:1:7")
    ]  # fmt: skip
    for number in range(3):
        assert activities(entry, "h:1", number) == whole[number + 1 :]


def test_parts_that_are_no_activities_are_counted_so_that_cursors_stay_valid():
    emitted = ({"from": "chat/tools", "event": {"type": "private"}}, {"from": "", "event": {"type": "status"}})
    (status, last) = activities(Entry("t", 7, 0, "chat", {"type": "X"}, emitted=(*emitted, emitted[1])), "h")

    assert (status.cursor, last.cursor) == ("h:7.2", "h:7")
