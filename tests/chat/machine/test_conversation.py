"""The tree of messages: forks, rewinds, checkpoints, differences, and a log that shares what it has."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat.machine.adapter import ChatPolynomialAdapter
from antiphon.chat.machine.difference import difference, format_difference
from antiphon.chat.machine.persistent_map import PersistentMap
from antiphon.chat.machine.tree import hash_at, is_on_path, meeting_point, path
from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk, law, texts


@pytest.mark.requirement("S2-24")
def test_messages_name_their_parents_and_are_counted():
    talk = Talk().says("one", "two")

    assert [(m["id"], m["parent"], m["role"], m["turn"]) for m in talk.context["messages"].values()] == [
        ("m1", None, "user", 1),
        ("m2", "m1", "user", 2),
    ]


def test_a_caller_can_name_a_message_and_say_who_spoke_and_when():
    talk = Talk().do("message", id="m2", text="one", at=5).do("message", role="assistant", text="two")
    talk.says("three")

    assert [(m["id"], m["role"], m.get("at")) for m in path(talk.context["messages"], talk.head)] == [
        ("m2", "user", 5),
        ("m1", "assistant", None),
        ("m3", "user", None),
    ]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"id": "m1"}, "there is a message 'm1' already"),
        ({"id": 5}, "id is 5"),
        ({"role": "judge"}, "unknown role 'judge'"),
        ({"tags": ["LOUD"]}, "known: REQUIRED, PRESERVED, DROPPABLE"),
        ({"parts": [{"type": "smell"}]}, "parts: unknown part 'smell'"),
        ({"parts": 3}, "parts: "),
        ({"parts": [{"type": "text", "text": 5}]}, "parts: text is 5; it must be a text"),
        ({"id": ""}, "id is ''"),
        ({"text": 3}, "text is 3"),
        ({"branch": ["x"]}, "there is no open branch"),
    ],
)
def test_a_malformed_message_is_refused_with_a_reason(payload, reason):
    talk = Talk().says("one")
    event = {"type": "message", **payload}

    assert not talk.snapshot.can(event)
    assert reason in refusal(talk.context, event)


@pytest.mark.requirement("S2.4-1")
def test_a_conversation_has_no_more_turns_than_it_may():
    talk = Talk(maxTurns=1).says("one")

    assert refusal(talk.context, {"type": "message"}) == "the conversation has 1 turns, and 1 are the most"


@pytest.mark.requirement("S2-27")
def test_injected_context_is_no_turn():
    talk = Talk().says("one").do("inject_context", text="It rains.", key="weather")

    message = talk.context["messages"]["m2"]
    assert (message["role"], message["turn"], message["tags"], message["key"]) == ("system", 1, ["REQUIRED"], "weather")
    assert talk.context["metrics"]["turns"] == 1


@pytest.mark.requirement("S2-39", "S2-03")
def test_a_fork_goes_on_from_where_the_branch_stands():
    talk = Talk().says("one", "two").do("fork", name="a").do("confirm_fork").says("three")

    assert talk.context["branch"] == "a"
    assert talk.texts == ["one", "two", "three"]
    assert texts(talk.context, "main") == ["one", "two"]
    branch = talk.context["branches"]["a"]
    assert (branch["parent"], branch["forkPoint"], branch["mergedInto"]) == ("main", "m2", None)


@pytest.mark.requirement("S2-B8")
@pytest.mark.parametrize(("turn", "kept"), [(0, []), (1, ["one", "answer"]), (2, ["one", "answer", "two"])])
def test_a_fork_goes_on_from_any_turn_and_zero_is_the_beginning(turn, kept):
    talk = Talk().says("one").do("message", role="assistant", text="answer").says("two")

    talk.do("fork", turn=turn).do("confirm_fork")

    assert talk.texts == kept


def test_a_fork_goes_on_from_any_message_also_of_another_branch():
    talk = Talk().says("one", "two").do("rewind").do("fork", **{"from": "m2"}).do("confirm_fork")

    assert talk.texts == ["one", "two"]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"name": "main"}, "there is a branch 'main' already"),
        ({"name": ""}, "name is ''"),
        ({"name": {}}, "name is {}"),
        ({"from": "m9"}, "there is no message 'm9'"),
        ({"from": []}, "there is no message []"),
        ({"turn": 2}, "there is no turn 2; the branch has 1"),
        ({"turn": "1"}, "there is no turn '1'"),
    ],
)
def test_a_fork_from_nowhere_is_refused(payload, reason):
    talk = Talk().says("one")
    event = {"type": "fork", **payload}

    assert not talk.snapshot.can(event)
    assert reason in refusal(talk.context, event)


@pytest.mark.requirement("S2.4-3")
def test_at_most_three_branches_are_open():
    talk = Talk().says("one")
    for _ in range(2):
        talk.do("fork").do("confirm_fork")

    assert list(talk.context["branches"]) == ["main", "branch-1", "branch-2"]
    assert "3 branches are open" in refusal(talk.context, {"type": "fork"})
    talk.do("close", branch="branch-1")
    assert talk.can("fork")
    assert "there is a branch 'branch-1' already" in refusal(talk.context, {"type": "fork", "name": "branch-1"})


def test_an_unnamed_fork_never_takes_a_name_twice():
    talk = Talk().says("one").do("fork", name="branch-2").do("confirm_fork").do("fork").do("confirm_fork")

    assert list(talk.context["branches"]) == ["main", "branch-2", "branch-3"]


def test_the_current_branch_stays_open():
    talk = Talk().do("fork", name="a").do("confirm_fork")

    assert [talk.can("close", branch=name) for name in ("main", "a", "b", None)] == [True, False, False, False]
    assert "current branch" in refusal(talk.context, {"type": "close", "branch": "a"})
    assert not talk.can("switch", branch="b")


@pytest.mark.requirement("S2-25", "S2-38")
def test_rewinding_moves_the_head_and_deletes_nothing():
    talk = Talk().says("one").do("message", role="assistant", text="answer").says("two")

    talk.do("rewind")

    assert talk.texts == ["one", "answer"]
    assert len(talk.context["messages"]) == 3
    assert talk.says("three").texts == ["one", "answer", "three"]


@pytest.mark.requirement("S2-B5")
@pytest.mark.parametrize(("turns", "left"), [(0, ["one", "two"]), (1, ["one"]), (2, [])])
def test_rewinding_goes_back_as_many_turns_as_asked(turns, left):
    """Zero turns change nothing."""
    talk = Talk().says("one", "two").do("rewind", turns=turns)

    assert (talk.value, talk.texts) == ("streaming", left)


@pytest.mark.requirement("S2-B5")
@pytest.mark.parametrize("payload", [{"turns": 3}, {"turns": -1}, {"turns": "1"}, {"turns": True}])
def test_rewinding_too_far_is_refused(payload):
    adapter = ChatPolynomialAdapter()
    adapter.perform("start")
    adapter.perform("message", text="one")

    with pytest.raises(ValueError, match=r"^Invalid action 'rewind' for state STREAMING: "):
        adapter.perform("rewind", **payload)

    assert len(adapter.messages) == 1


def test_what_stood_before_the_first_turn_survives_every_rewind():
    talk = Talk().do("inject_context", text="It rains.").says("one").do("rewind")

    assert talk.texts == ["It rains."]


@pytest.mark.requirement("S2-26", "S2-38", "S2-B6")
def test_a_checkpoint_is_restored_after_a_rewind_and_after_more_words():
    talk = Talk().says("one", "two").do("checkpoint", name="before", at=7)
    id = talk.emitted[0]["checkpointId"]
    assert talk.context["checkpoints"][id] == {
        "id": id, "head": "m2", "branch": "main", "turn": 2, "name": "before", "at": 7
    }  # fmt: skip

    assert talk.says("three").do("rewind", checkpointId=id).texts == ["one", "two"]
    assert talk.do("rewind", turns=2).do("rewind", checkpointId=id).texts == ["one", "two"]
    assert not talk.can("rewind", checkpointId="c0")


@pytest.mark.requirement("S2-49", "S2-B6", "S2.4-4")
def test_unchanged_words_have_the_same_checkpoint():
    """The id is the hash of the content."""
    talk = Talk().says("one").do("checkpoint")
    first = talk.emitted[0]["checkpointId"]
    talk.do("checkpoint")
    assert talk.emitted[0]["checkpointId"] == first
    assert len(talk.context["checkpoints"]) == 1

    assert Talk().do("message", id="other", text="one", at=9).do("checkpoint").emitted[0]["checkpointId"] == first
    assert Talk().says("One").do("checkpoint").emitted[0]["checkpointId"] != first


@pytest.mark.requirement("S2-B6", "E-17")
def test_a_checkpoint_survives_json():
    talk = Talk().says("one").do("checkpoint")
    id = talk.emitted[0]["checkpointId"]

    assert talk.says("two").restored().do("rewind", checkpointId=id).texts == ["one"]


@pytest.mark.requirement("S2.4-4")
def test_a_difference_says_what_each_branch_has_alone():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("two").do("switch", branch="main")
    talk.says("three").do("message", role="assistant", parts=[])

    result = difference(talk.context, "main", "a")

    assert result == {"base": "m1", "ours": ["m3", "m4"], "theirs": ["m2"], "equivalent": False}
    assert format_difference(talk.context["messages"], result) == "- user: three\n- assistant\n+ user: two"


@pytest.mark.requirement("S2.4-4")
def test_branches_that_say_the_same_are_equivalent():
    adapter = ChatPolynomialAdapter({"autoStart": True})
    adapter.perform("message", text="one")
    adapter.perform("fork", name="a", turn=0)
    adapter.perform("confirm_fork")
    adapter.perform("message", text="one")

    assert adapter.difference("main", "a") == {"base": None, "ours": ["m1"], "theirs": ["m2"], "equivalent": True}


def test_switching_changes_where_messages_go():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").do("switch", branch="main").says("two")

    assert (texts(talk.context, "main"), texts(talk.context, "a")) == (["one", "two"], ["one"])
    assert texts(talk.do("message", branch="a", text="three").context, "a") == ["one", "three"]


@law
@given(st.lists(st.sampled_from(["say", "fork", "rewind", "switch"]), max_size=30), st.data())
def test_walks_in_the_tree_agree_with_its_paths(steps, data):
    talk = Talk(maxBranches=10)
    for step in steps:
        if step == "say":
            talk.says("word")
        elif step == "fork" and talk.can("fork"):
            talk.do("fork").do("confirm_fork")
        elif step == "rewind":
            talk.do("rewind")
        else:
            talk.do("switch", branch=data.draw(st.sampled_from(list(talk.context["branches"]))))
    messages = talk.context["messages"]
    heads = [branch["head"] for branch in talk.context["branches"].values()]
    first = data.draw(st.sampled_from(heads))
    second = data.draw(st.sampled_from(heads))
    paths = [[m["id"] for m in path(messages, head)] for head in (first, second)]

    shared = [a for a, b in zip(*paths, strict=False) if a == b]
    assert meeting_point(messages, first, second) == (shared[-1] if shared else None)
    for id in messages:
        assert is_on_path(messages, id, first) == (id in paths[0])
    assert (hash_at(messages, first) == hash_at(messages, second)) == (len(paths[0]) == len(paths[1]))


def test_a_persistent_map_shares_its_entries_and_old_versions_do_not_change():
    empty = PersistentMap()
    first = empty.with_entry("a", 1)
    two = first.with_entry("b", 2)
    second = first.with_entry("b", 3)

    assert (dict(empty), dict(first), dict(two), dict(second)) == ({}, {"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert "b" not in first
    assert first.get("b") is None
    assert two._buffer is first._buffer is not second._buffer
    assert PersistentMap.of(two) is two
    assert PersistentMap.of({"a": 1}) == first
    assert repr(first) == "PersistentMap({'a': 1})"
    with pytest.raises(ValueError, match="entries cannot be replaced"):
        two.with_entry("a", 5)


@law
@given(st.lists(st.integers(0, 9), max_size=40))
def test_every_version_of_a_log_is_what_a_dict_would_be(choices):
    versions = [(PersistentMap(), {})]
    for number, choice in enumerate(choices):
        log, table = versions[choice % len(versions)]
        versions.append((log.with_entry(f"k{number}", number), {**table, f"k{number}": number}))

    assert all(list(log.items()) == list(table.items()) for log, table in versions)


@pytest.mark.requirement("S2.4-10", "E-17")
def test_a_conversation_is_plain_json():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("two").do("checkpoint")
    again = talk.restored()

    assert json.loads(json.dumps(dict(again.context))) == again.context
    assert again.context == talk.context
    assert again.says("three").context == talk.says("three").context
