"""Nothing of the tree is lost: what was rewound, retried, merged or closed can be entered again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat.machine.tree import path
from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk, law, text_of, texts

MODEL = "scripted:demo"


@pytest.mark.requirement("S2-25", "S2-B5")
def test_a_rewound_continuation_is_entered_again():
    talk = Talk().says("one", "two", "three").do("rewind", turns=2).says("other")

    assert talk.do("rewind", message="m3").texts == ["one", "two", "three"]
    assert talk.do("rewind", message="m4").texts == ["one", "other"]
    assert talk.emitted[-1]["type"] == "rewound"


@pytest.mark.requirement("S2-15")
def test_a_rewound_continuation_is_forked_from():
    talk = Talk().says("one", "two").do("rewind").says("other")
    talk.do("fork", **{"from": "m2"}, name="back").do("confirm_fork")

    assert talk.texts == ["one", "two"]
    assert texts(talk.context, "main") == ["one", "other"]


def test_an_earlier_answer_is_entered_again():
    talk = Talk(model=MODEL).says("question").reply("first").do("retry").reply("second")

    assert talk.texts == ["question", "second"]
    assert talk.do("rewind", message="m2").texts == ["question", "first"]


@pytest.mark.requirement("S2-21")
@pytest.mark.parametrize("end", ["merge", "close"])
def test_a_branch_that_was_merged_or_closed_is_switched_to_again(end):
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("two").do("switch", branch="main")
    if end == "merge":
        talk.says("three").do("merge").do("confirm_merge")
    else:
        talk.do("close", branch="a")
    talk.do("switch", branch="a")

    assert (talk.texts, talk.context["branch"]) == (["one", "two"], "a")
    assert (list(talk.context["closed"]), talk.context["branches"]["a"]["mergedInto"]) == ([], None)


def test_a_closed_branch_is_not_opened_beyond_the_maximum():
    talk = Talk(maxBranches=2).do("fork", name="a").do("confirm_fork").do("switch", branch="main")
    talk.do("close", branch="a").do("fork", name="b").do("confirm_fork")

    assert refusal(talk.context, {"type": "switch", "branch": "a"}).startswith("2 branches are open")
    assert talk.do("switch", branch="main").do("close", branch="b").can("switch", branch="a")


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"type": "rewind", "message": "m9"}, "there is no message 'm9'"),
        ({"type": "rewind", "message": 3}, "there is no message 3"),
        ({"type": "switch", "branch": "nowhere"}, "there is no branch 'nowhere'"),
        ({"type": "switch", "branch": ["main"]}, "there is no branch ['main']"),
    ],
)
def test_a_place_that_does_not_exist_is_refused(event, reason):
    talk = Talk().says("one")

    assert refusal(talk.context, event) == reason
    assert not talk.snapshot.can(event)


def test_a_message_is_not_entered_while_a_reply_is_in_flight():
    assert not Talk(model=MODEL).says("question").can("rewind", message="m1")


@pytest.mark.parametrize("strategy", ["sequential", "interleave", "consensus"])
def test_what_was_merged_is_not_merged_again(strategy):
    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork").says("theirs").do("switch", branch="main")
    talk.says("ours").do("merge", strategy=strategy)
    talk = (talk.do("propose", text="both") if strategy == "consensus" else talk).do("confirm_merge")
    merged = talk.texts
    talk.do("switch", branch="a").says("more").do("switch", branch="main").do("merge", source="a")

    assert talk.do("confirm_merge").texts == [*merged, "more"]


def test_what_was_merged_the_other_way_is_not_merged_again():
    talk = Talk().says("shared").do("fork", name="a").do("confirm_fork").says("theirs").do("switch", branch="main")
    talk.says("ours").do("switch", branch="a").do("merge", source="main").do("confirm_merge")
    assert talk.texts == ["shared", "theirs", "ours"]
    talk.do("switch", branch="main").do("merge", source="a").do("confirm_merge")

    assert talk.texts == ["shared", "ours", "theirs"]


@pytest.mark.parametrize("event", [{"from": "m3"}, {}, {"turn": 2}])
def test_a_fork_names_the_branch_that_its_message_was_added_to(event):
    talk = Talk().says("one", "two").do("fork", name="a").do("confirm_fork").says("three")
    if "from" in event:
        talk.do("switch", branch="main")
    talk.do("fork", name="b", **event).do("confirm_fork")

    assert talk.context["branches"]["b"]["parent"] == ("main" if "turn" in event else "a")


# -- laws ------------------------------------------------------------------------------------------------------------

ids = st.integers(1, 12).map(lambda number: f"m{number}")
names = st.sampled_from(["main", "a", "b", "branch-1", "branch-2"])
steps = st.one_of(
    st.tuples(st.just("message"), st.fixed_dictionaries({"text": st.sampled_from(["red", "green"])})),
    st.tuples(st.just("rewind"), st.fixed_dictionaries({"turns": st.integers(0, 3)})),
    st.tuples(st.just("rewind"), st.fixed_dictionaries({"message": ids})),
    st.tuples(st.just("fork"), st.fixed_dictionaries({}, optional={"from": ids, "name": names})),
    st.tuples(st.sampled_from(["confirm_fork", "cancel_fork", "confirm_merge", "cancel_merge"]), st.just({})),
    st.tuples(st.sampled_from(["switch", "close"]), st.fixed_dictionaries({"branch": names})),
    st.tuples(
        st.just("merge"),
        st.fixed_dictionaries({"strategy": st.sampled_from(["sequential", "interleave", "consensus"])}),
    ),
    st.tuples(st.just("propose"), st.just({"text": "both"})),
    st.tuples(st.just("inject_context"), st.just({"text": "note"})),
    st.tuples(st.just("reply"), st.just({})),
    st.tuples(st.sampled_from(["retry", "cancel"]), st.just({})),
)


def take(talk, step):
    """Take a step if it is possible."""
    type, payload = step
    if type == "reply":
        if talk.context["reply"] is not None:
            talk.reply("answer")
    elif talk.can(type, **payload):
        talk.do(type, **payload)


def at_rest(talk):
    """The same chat, with nothing planned and nothing in flight."""
    for event in ("cancel", "cancel", "cancel_fork", "cancel_merge"):
        if talk.can(event):
            talk.do(event)
    return talk


@pytest.mark.requirement("S2-25", "S2-21")
@given(st.lists(steps, max_size=25), st.sampled_from([None, MODEL]))
@law
def test_every_message_that_was_ever_added_can_be_reached(walk, model):
    talk = Talk(model=model)
    added = {}
    for step in walk:
        take(talk, step)
        new = {id: text_of(message["parts"]) for id, message in talk.context["messages"].items()}
        assert added.items() <= new.items()  # nothing is lost or changed
        added = new

    at_rest(talk)
    for id in added:
        assert talk.do("rewind", message=id).head == id


@pytest.mark.requirement("S2-15", "S2-21")
@given(st.lists(steps, max_size=25))
@law
def test_every_branch_that_was_ever_open_can_be_entered(walk):
    talk = Talk()
    heads = {}
    for step in walk:
        take(talk, step)
        heads = {
            name: branch["head"] for name, branch in {**talk.context["closed"], **talk.context["branches"]}.items()
        }

    at_rest(talk)
    for name, head in heads.items():
        for other in list(talk.context["branches"]):
            if other not in (talk.context["branch"], name):
                talk.do("close", branch=other)
        assert talk.do("switch", branch=name).head == head
        assert [message["id"] for message in path(talk.context["messages"], head)][-1:] == ([head] if head else [])
