"""Merging: what is merged, in which order, and how conflicts are found and resolved."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat.machine.tree import hash_at, path
from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk, law, texts


def make_fork(ours=(), theirs=(), **config):
    """A chat with something said, and then on each of two branches; main is the current one."""
    talk = Talk(**config).says("shared").do("fork", name="a").do("confirm_fork").says(*theirs)
    return talk.do("switch", branch="main").says(*ours)


@pytest.mark.requirement("S2-04", "S2-40", "S2-B1")
def test_merging_leads_through_converging():
    talk = make_fork(["ours"], ["theirs"]).do("merge", source="a")
    assert talk.value == "converging"
    assert talk.emitted == [{"type": "merge_initiated", "source": "a", "target": "main", "conflicts": []}]

    talk.do("confirm_merge")

    assert (talk.value, talk.texts) == ("streaming", ["shared", "ours", "theirs"])
    assert talk.context["closed"]["a"]["mergedInto"] == "main"
    assert list(talk.context["branches"]) == ["main"]


@pytest.mark.requirement("S2-22")
def test_a_merge_that_is_cancelled_changes_nothing():
    talk = make_fork(["ours"], ["theirs"])
    before = talk.context

    assert talk.do("merge").do("cancel_merge").context == before


@pytest.mark.requirement("S2-B7")
def test_a_shared_beginning_is_never_repeated():
    talk = make_fork(["ours"], ["theirs"]).do("merge").do("confirm_merge")

    assert talk.texts.count("shared") == 1


@pytest.mark.requirement("S2.4-3")
def test_merged_messages_say_where_they_come_from():
    """The last one has two parents."""
    talk = make_fork(["ours"], ["x", "y"]).do("merge").do("confirm_merge")
    merged = path(talk.context["messages"], talk.head)[2:]

    assert [(m.get("copiedFrom"), m.get("mergedFrom")) for m in merged] == [("m2", None), ("m3", "m3")]


@pytest.mark.requirement("S2-B7")
@pytest.mark.parametrize(
    ("strategy", "expected"),
    [("sequential", ["o1", "o2", "t1", "t2", "t3"]), ("interleave", ["o1", "t1", "o2", "t2", "t3"])],
)
def test_a_strategy_decides_the_order(strategy, expected):
    talk = make_fork(["o1", "o2"], ["t1", "t2", "t3"]).do("merge", strategy=strategy).do("confirm_merge")

    assert talk.texts == ["shared", *expected]


def test_turns_are_merged_whole():
    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork")
    talk.says("t1").do("message", role="assistant", text="t1 answer").do("switch", branch="main").says("o1", "o2")

    assert talk.do("merge", strategy="interleave").do("confirm_merge").texts == [
        "shared",
        "o1",
        "t1",
        "t1 answer",
        "o2",
    ]


words = st.lists(st.sampled_from(["red", "green", "blue"]), max_size=6)
strategies = st.sampled_from(["sequential", "interleave", "manual"])


@pytest.mark.requirement("S2-B7")
@law
@given(words, strategies, st.integers(0, 6))
def test_merging_a_fork_back_gives_what_was_there(said, strategy, turn):
    """Merge(fork(s)) = s, from any turn."""
    talk = Talk().says(*said)
    before = hash_at(talk.context["messages"], talk.head)
    messages = len(talk.context["messages"])

    talk.do("fork", name="a", turn=min(turn, len(said))).do("confirm_fork").do("switch", branch="main")
    talk.do("merge", source="a", strategy=strategy)
    for conflict in talk.context["merge"]["conflicts"]:
        talk.do("resolve_conflict", conflict=conflict["id"], pick="both")
    talk.do("confirm_merge")

    assert hash_at(talk.context["messages"], talk.head) == before
    assert len(talk.context["messages"]) == messages


@pytest.mark.requirement("S2-B7")
@law
@given(words, words, st.sampled_from(["sequential", "interleave"]))
def test_a_merge_without_decisions_has_every_turn_of_both_once_and_in_order(ours, theirs, strategy):
    our_texts = [f"o{n} {word}" for n, word in enumerate(ours)]
    their_texts = [f"t{n} {word}" for n, word in enumerate(theirs)]
    talk = make_fork(our_texts, their_texts).do("merge", strategy=strategy).do("confirm_merge")

    assert sorted(talk.texts) == sorted(["shared", *our_texts, *their_texts])
    assert [text for text in talk.texts if text in our_texts] == our_texts
    assert [text for text in talk.texts if text in their_texts] == their_texts


def test_merging_into_a_branch_that_has_nothing_new_moves_its_head():
    talk = make_fork([], ["x", "y"])
    count = len(talk.context["messages"])
    talk.do("merge").do("confirm_merge")

    assert (talk.texts, talk.head, len(talk.context["messages"])) == (["shared", "x", "y"], "m3", count)


def ask_and_answer(talk, question, answer):
    return talk.says(question).do("message", role="assistant", text=answer)


def disagreeing():
    """Both branches asked the same and heard different answers, twice."""
    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork")
    ask_and_answer(ask_and_answer(talk, "Which?", "tabs"), "When?", "now").do("switch", branch="main")
    return ask_and_answer(ask_and_answer(talk, "which? ", "spaces"), "When?", "later").do("merge", source="a")


@pytest.mark.requirement("S2-B7", "S2-30")
def test_the_same_question_with_other_answers_is_a_conflict():
    talk = disagreeing()

    assert talk.context["merge"]["conflicts"] == [
        {"id": "x1", "item": "question: which?", "ours": "m6", "theirs": "m2", "pick": None},
        {"id": "x2", "item": "question: when?", "ours": "m8", "theirs": "m4", "pick": None},
    ]


@pytest.mark.requirement("S2-B2")
def test_a_merge_is_confirmed_only_when_every_conflict_is_resolved():
    talk = disagreeing()
    assert refusal(talk.context, {"type": "confirm_merge"}) == "conflicts wait to be resolved: x1, x2"
    assert not talk.can("confirm_merge")

    talk.do("resolve_conflict", conflict="x2", pick="theirs")
    assert (talk.value, talk.emitted[0]["conflicts"]) == ("converging", ["x1"])
    assert not talk.can("confirm_merge")
    talk.do("resolve_conflict")  # the first that waits, ours
    talk.do("confirm_merge")

    assert talk.texts == ["shared", "which? ", "spaces", "When?", "now"]


@pytest.mark.parametrize(
    ("pick", "left"),
    [
        ("ours", ["spaces"]),
        ("theirs", ["tabs"]),
        ("both", ["spaces", "tabs"]),
        ("neither", []),
    ],
)
def test_a_conflict_is_resolved_for_one_for_both_or_for_none(pick, left):
    talk = disagreeing().do("resolve_conflict", conflict="x1", pick=pick)
    talk.do("resolve_conflict", conflict="x2", pick="neither").do("confirm_merge")

    assert [text for text in talk.texts if text in ("tabs", "spaces")] == left


@pytest.mark.requirement("S2-B7")
def test_context_under_one_key_and_files_of_one_path_are_conflicts():
    def work(talk, text):
        call = {"type": "toolCall", "id": "t", "name": "write", "arguments": f'{{"path": "a.py", "text": "{text}"}}'}
        talk.says(f"{text} please").do("message", role="assistant", parts=[call])
        return talk.do("inject_context", key="style", text=text)

    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork")
    work(talk, "red").do("switch", branch="main")
    work(talk, "blue").do("merge")

    assert [c["item"] for c in talk.context["merge"]["conflicts"]] == ["file: a.py; context: style"]


def test_the_same_words_on_both_sides_are_no_conflict():
    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork")
    ask_and_answer(talk, "Which?", "tabs").do("switch", branch="main")
    ask_and_answer(talk, "Which?", "tabs").do("merge")

    assert talk.context["merge"]["conflicts"] == []


def test_arguments_that_are_no_object_touch_nothing():
    for arguments in ("[1]", "{", '{"path": 3}'):
        part = {"type": "toolCall", "id": "t", "name": "write", "arguments": arguments}
        talk = Talk().do("fork", name="a").do("confirm_fork").do("message", role="assistant", parts=[part])
        talk.do("switch", branch="main").do("message", role="assistant", parts=[part, part]).do("merge")

        assert talk.context["merge"]["conflicts"] == []


@pytest.mark.requirement("S2-B7")
def test_in_a_manual_merge_every_turn_is_a_decision():
    talk = make_fork(["o1"], ["t1", "t2"]).do("merge", strategy="manual")
    assert [(c["item"], c["ours"], c["theirs"]) for c in talk.context["merge"]["conflicts"]] == [
        ("turn 1", "m4", "m2"),
        ("turn 2", None, "m3"),
    ]

    talk.do("resolve_conflict", pick="theirs").do("resolve_conflict", pick="neither").do("confirm_merge")

    assert talk.texts == ["shared", "t1"]


@pytest.mark.requirement("S2-B7")
def test_in_a_manual_merge_the_turns_can_be_chosen_at_once():
    talk = make_fork(["o1"], ["t1", "t2"]).do("merge", strategy="manual")
    talk.do("resolve_conflict", turns=["m3", "m4"]).do("confirm_merge")

    assert talk.texts == ["shared", "t2", "o1"]


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"conflict": "x9"}, "there is no conflict 'x9'"),
        ({"pick": "mine"}, "unknown pick 'mine'"),
        ({"turns": ["m1"]}, "turns must name"),
        ({"turns": ["m2", "m2"]}, "turns must name"),
        ({"turns": 5}, "turns must name"),
    ],
)
def test_a_wrong_resolution_is_refused(payload, reason):
    talk = make_fork(["o1"], ["t1"]).do("merge", strategy="manual")
    event = {"type": "resolve_conflict", **payload}

    assert not talk.snapshot.can(event)
    assert reason in refusal(talk.context, event)


def test_turns_are_chosen_in_a_manual_merge_only():
    talk = make_fork(["o1"], ["t1"]).do("merge")

    assert "manual" in refusal(talk.context, {"type": "resolve_conflict", "turns": ["m2"]})


def test_a_merge_of_nothing_is_refused():
    talk = make_fork(["o1"], ["t1"])

    assert "no other open branch" in refusal(talk.context, {"type": "merge", "source": "main"})
    assert "unknown strategy" in refusal(talk.context, {"type": "merge", "strategy": "magic"})
    assert refusal(Talk().context, {"type": "merge"}) == "there is no other open branch"
    assert [refusal(talk.context, {"type": name}) for name in ("confirm_merge", "resolve_conflict")] == [
        "no merge is under way"
    ] * 2


def test_a_merge_survives_json():
    talk = disagreeing().restored().do("resolve_conflict", pick="both").do("resolve_conflict").do("confirm_merge")

    assert texts(talk.context, "main")[0] == "shared"
    assert talk.value == "streaming"
