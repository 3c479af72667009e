"""Merges by consensus: a model is asked, its proposal is shown, and it is confirmed, replaced or cancelled."""

import pytest

from antiphon.chat.machine.tree import path
from antiphon.chat.machine.validation import refusal
from tests.fixtures.conversations import Talk, text_of

MODEL = "scripted:demo"
OUTPUT = {
    "text": "Both.",
    "source": "scripted",
    "usage": {"input": 9, "output": 2},
    "costUsd": 0.5,
    "durationMs": 40,
}


def say(talk, *texts):
    """Add messages that no model answers."""
    for text in texts:
        talk.do("message", role="assistant", text=text)
    return talk


def fork(ours=("north",), theirs=("south",), **config):
    """A chat with something said, and then on each of two branches; main is the current one."""
    talk = say(Talk(**{"model": MODEL, **config}), "shared").do("fork", name="a").do("confirm_fork")
    return say(say(talk, *theirs).do("switch", branch="main"), *ours)


def merge(talk):
    return talk.do("merge", source="a", strategy="consensus")


def propose(talk, **output):
    """The model answers."""
    return talk.do("xstate.done.actor.reconciler", output={**OUTPUT, **output})


def proposal(talk):
    return talk.context["merge"]["proposal"]


def kinds(talk):
    return [event["type"] for event in talk.emitted]


@pytest.mark.requirement("S2-59", "S2-04")
def test_a_model_is_asked_to_reconcile_both_branches():
    talk = merge(fork())

    assert talk.value == "converging"
    assert kinds(talk) == ["merge_initiated", "proposal_requested"]
    input = talk.spawned["reconciler"]
    assert (input["model"], input["requestId"], input["budgetUsd"]) == (MODEL, "r1", None)
    assert [text_of(message["parts"]) for message in input["messages"]] == ["shared"]
    quoted = {branch["name"]: [text_of(one["parts"]) for one in branch["messages"]] for branch in input["branches"]}
    assert quoted == {"main": ["north"], "a": ["south"]}


@pytest.mark.requirement("S2-59")
def test_the_proposal_is_shown_and_nothing_is_merged_before_it_is_confirmed():
    talk = fork()
    before = talk.context["messages"]
    propose(merge(talk))

    assert talk.emitted[-1] == {
        "type": "merge_proposed", "source": "a", "target": "main", "requestId": "r1", "text": "Both.", "error": None,
    }  # fmt: skip
    assert (talk.value, talk.context["messages"]) == ("converging", before)
    assert talk.stopped == ["reconciler"]


@pytest.mark.requirement("S2-59", "S2-21")
def test_a_confirmed_proposal_is_one_message_that_joins_both():
    talk = propose(merge(fork())).do("confirm_merge", at=7)
    joint = talk.context["messages"][talk.head]

    assert (talk.value, talk.texts) == ("streaming", ["shared", "north", "Both."])
    assert (joint["role"], joint["source"], joint["costUsd"], joint["at"]) == ("assistant", "scripted", 0.5, 7)
    assert (joint["parent"], joint["mergedFrom"], joint["derivedFrom"]) == ("m3", "m2", ["m3", "m2"])
    assert talk.context["closed"]["a"]["mergedInto"] == "main"
    assert talk.context["merge"] is None


@pytest.mark.requirement("S2-59", "S2-22")
@pytest.mark.parametrize("is_answered", [True, False])
def test_a_cancelled_merge_leaves_the_conversation_as_it_was(is_answered):
    talk = fork()
    before = {key: talk.context[key] for key in ("messages", "branches", "closed", "branch", "checkpoints")}
    merge(talk)
    if is_answered:
        propose(talk)
    talk.do("cancel_merge")

    assert (talk.value, talk.context["merge"]) == ("streaming", None)
    assert {key: talk.context[key] for key in before} == before
    assert talk.stopped == ([] if is_answered else ["reconciler"])


@pytest.mark.requirement("S2-59")
def test_a_merge_is_not_confirmed_without_a_proposal():
    talk = merge(fork())

    assert refusal(talk.context, {"type": "confirm_merge"}).startswith("the model is asked for a proposal; wait")
    assert not talk.can("confirm_merge")
    talk.do("cancel")
    assert refusal(talk.context, {"type": "confirm_merge"}).startswith("there is no proposal; ask again")


@pytest.mark.requirement("S2-59")
def test_a_model_that_fails_is_reported_and_can_be_asked_again():
    talk = merge(fork())
    error = {"code": "1002", "message": "overloaded", "recoverable": True}
    talk.do("xstate.error.actor.reconciler", error=error)

    assert (talk.value, proposal(talk)["phase"], talk.context["lastError"]) == ("converging", "missing", error)
    assert talk.emitted[-1]["error"] == error
    assert not talk.can("confirm_merge")
    talk.do("propose")
    assert (kinds(talk), talk.spawned["reconciler"]["requestId"]) == (["proposal_requested"], "r2")
    assert propose(talk).do("confirm_merge").texts[-1] == "Both."
    assert talk.context["lastError"] is None


@pytest.mark.requirement("S2-59")
@pytest.mark.parametrize("output", [{"text": ""}, {"text": None}])
def test_a_proposal_without_words_is_a_failure(output):
    talk = propose(merge(fork()), **output)

    assert (kinds(talk), proposal(talk)["error"]["code"]) == (["proposal_failed"], "no_proposal")
    assert talk.context["metrics"]["costUsd"] == 0.5


def test_a_person_may_write_the_text_while_the_model_is_asked_and_after_it_answered():
    talk = merge(fork()).do("propose", text="Mine.")
    assert (kinds(talk), talk.stopped) == (["merge_proposed"], ["reconciler"])
    talk.do("xstate.done.actor.reconciler", output=OUTPUT)  # too late

    assert talk.do("confirm_merge").texts[-1] == "Mine."
    assert "source" not in talk.context["messages"][talk.head]
    assert propose(merge(fork())).do("propose", text="Better.").do("confirm_merge").texts[-1] == "Better."


@pytest.mark.parametrize(
    ("config", "payload", "reason"),
    [
        ({}, {}, "the model is asked for a proposal"),
        ({}, {"text": "  "}, "text is '  '; it must be a text with words"),
        ({}, {"text": 3}, "text is 3"),
        ({"model": None}, {}, "there is no model to ask; write the text yourself"),
    ],
)
def test_a_proposal_that_cannot_be_made_is_refused_with_the_reason(config, payload, reason):
    talk = merge(fork(**config))

    assert refusal(talk.context, {"type": "propose", **payload}).startswith(reason)
    assert not talk.can("propose", **payload)


def test_other_merges_take_no_proposal():
    talk = fork().do("merge", source="a")

    assert refusal(talk.context, {"type": "propose", "text": "x"}) == "this merge needs no proposal"
    assert refusal(fork().context, {"type": "propose"}) == "no merge is under way"


@pytest.mark.requirement("S2-59", "S2-B7")
@pytest.mark.parametrize(("ours", "theirs"), [((), ("south",)), (("north",), ()), ((), ())])
def test_nobody_is_asked_where_one_side_has_nothing_new(ours, theirs):
    talk = merge(fork(ours, theirs))

    assert (talk.spawned, "proposal" in talk.context["merge"]) == ({}, False)
    assert talk.do("confirm_merge").texts == ["shared", *ours, *theirs]


@pytest.mark.requirement("S2-59", "X-5")
def test_cancelling_stops_the_model_and_keeps_the_merge():
    talk = merge(fork()).do("cancel")

    assert (talk.value, kinds(talk), talk.stopped) == ("converging", ["cancelling"], ["reconciler"])
    assert (proposal(talk)["phase"], proposal(talk)["error"]) == ("missing", None)
    talk.do("xstate.error.actor.reconciler", error="stopped")
    assert proposal(talk)["error"] is None


@pytest.mark.requirement("S2-59", "X-3")
def test_cost_tokens_and_time_of_a_proposal_count():
    talk = propose(merge(fork(maxThreadCostUsd=0.6)))
    metrics = talk.context["metrics"]

    assert (metrics["costUsd"], metrics["inputTokens"], metrics["outputTokens"]) == (0.5, 9, 2)
    assert talk.context["budget"]["thread"] == {"toolRounds": 0, "costUsd": 0.5, "wallMs": 40}
    assert [event["type"] for event in talk.emitted] == ["merge_proposed", "limit_warning"]


@pytest.mark.requirement("S2-59", "X-3")
@pytest.mark.parametrize("limits", [{"maxThreadCostUsd": 0.5}, {"maxCostUsd": 0.5}, {"maxThreadWallMs": 40}])
def test_at_a_limit_the_model_is_not_asked_until_it_is_raised(limits):
    talk = propose(merge(fork(**limits))).do("propose")
    (name,) = limits

    assert (talk.spawned, kinds(talk)) == ({}, ["proposal_failed"])
    assert proposal(talk)["error"]["code"] == "limit_reached"
    assert name in proposal(talk)["error"]["message"]
    talk.do("raise_limit", **{name: 1_000}).do("propose")
    assert "reconciler" in talk.spawned


def test_the_rest_of_a_limit_is_passed_on():
    assert merge(fork(maxThreadCostUsd=2)).spawned["reconciler"]["budgetUsd"] == 2


def test_of_long_branches_the_newest_turns_are_sent():
    words = "word " * 40
    talk = Talk(contextLimit=200).says("shared " * 40, "shared " * 40).do("fork", name="a").do("confirm_fork")
    talk.says(f"first {words}", f"second {words}").do("switch", branch="main").says("north")
    talk.snapshot.context["config"]["model"] = MODEL
    input = merge(talk).spawned["reconciler"]

    assert [len(branch["messages"]) for branch in input["branches"]] == [1, 1]
    assert text_of(input["branches"][1]["messages"][0]["parts"]).startswith("second")
    assert len(input["messages"]) == 1


def test_a_question_that_is_restored_is_still_open():
    talk = merge(fork()).restored()

    assert (talk.value, proposal(talk)["phase"]) == ("converging", "asked")
    assert propose(talk).do("confirm_merge").texts == ["shared", "north", "Both."]


@pytest.mark.requirement("S2-30")
def test_resolving_stays_as_it_is():
    talk = propose(merge(fork()))

    assert talk.do("resolve_conflict").emitted == [
        {"type": "conflict_resolved", "source": "a", "target": "main", "conflicts": []}
    ]
    assert path(talk.context["messages"], talk.head)[-1]["id"] == "m3"
