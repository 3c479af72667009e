"""Windows: the part of a conversation that a model gets, and how it moves when the conversation outgrows it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat.machine.repair import repair_messages
from antiphon.chat.machine.windows import find_shift, request_messages, utilisation, view
from antiphon.messages import message_from_json
from antiphon.providers.base import Request
from antiphon.providers.usage import tokens_of_request
from antiphon.threads.machine.content import text_of
from tests.fixtures.conversations import Talk, law

MODEL = "scripted:demo"
# A message of this text is about ten tokens.
TEN = "x" * 24


def words(talk):
    """The words of the last request."""
    return [text_of(message["parts"]) for message in talk.spawned["reply"]["messages"]]


def say_each(talk, *names, size=24):
    """A turn for each name: a question and its answer, about ten tokens each."""
    for name in names:
        talk.says(name.ljust(size, "."))
        if talk.context["reply"]:
            talk.reply(f"re {name}".ljust(size, "."))
    return talk


def names(talk):
    return [text.rstrip(".") for text in words(talk)]


@pytest.mark.requirement("S2.4-1")
def test_without_a_strategy_everything_is_sent():
    talk = say_each(Talk(model=MODEL, strategy="none", contextLimit=20), "a", "b", "c").says("d")

    assert names(talk) == ["a", "re a", "b", "re b", "c", "re c", "d"]


@pytest.mark.requirement("S2.4-1")
def test_a_sliding_window_leaves_out_as_few_of_the_oldest_turns_as_it_can():
    talk = say_each(Talk(model=MODEL, strategy="sliding", contextLimit=60), "a", "b", "c")
    assert talk.context["branches"]["main"]["window"] is None

    talk.says("d".ljust(24, "."))

    assert names(talk) == ["b", "re b", "c", "re c", "d"]
    assert talk.context["branches"]["main"]["window"]["cut"] == "m2"
    assert len(talk.context["messages"]) == 7


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "text", "text": "é" * 4}, 2),
        ({"type": "thinking", "text": "abcde"}, 2),
        ({"type": "toolCall", "id": "t", "name": "look", "arguments": "{}"}, 2),
        ({"type": "toolResult", "callId": "t", "parts": [{"type": "text", "text": "abcd"}]}, 1),
        ({"type": "image", "mediaType": "image/png", "url": "https://example.org/a.png"}, 1_200),
    ],
)
def test_sizes_are_guessed_as_the_providers_guess_them(part, tokens):
    guessed = Talk().do("message", parts=[part]).context["messages"]["m1"]["tokens"]

    request = Request((message_from_json({"role": "user", "parts": [part]}),))
    assert guessed == tokens + 4 == tokens_of_request(request)


def test_the_newest_turn_is_always_sent():
    talk = Talk(model=MODEL, contextLimit=5).says("x" * 400)

    assert len(words(talk)) == 1


@pytest.mark.requirement("S2.4-1", "S2.4-2")
def test_forgetting_waits_for_the_upper_mark_and_goes_down_to_the_lower():
    """Hysteresis."""
    talk = say_each(Talk(model=MODEL, strategy="forget", contextLimit=100), "a", "b", "c")
    talk.says("d".ljust(24, "."))
    assert utilisation(talk.context, "main") == 0.7
    assert len(words(talk)) == 7
    talk.reply("re d".ljust(24, "."))
    assert utilisation(talk.context, "main") == 0.8

    talk.says("e".ljust(24, "."))

    assert names(talk) == ["b", "re b", "c", "re c", "d", "re d", "e"]
    assert utilisation(talk.context, "main") == 0.7


@pytest.mark.requirement("S2.4-2")
def test_after_a_compression_the_next_messages_do_not_bring_another_one():
    talk = say_each(Talk(model=MODEL, strategy="forget", contextLimit=100), *"abcdefgh")

    # One below the upper mark is never touched, and the marks are a turn apart.
    assert talk.context["metrics"]["compressions"] == 4


@pytest.mark.requirement("S2.4-2")
def test_required_and_pinned_messages_are_always_sent():
    talk = Talk(model=MODEL, contextLimit=60)
    talk.do("inject_context", text="rule".ljust(24, "."))
    talk.do("message", text="pinned".ljust(24, "."), pinned=True).reply("re".ljust(24, "."))
    say_each(talk, "a", "b").says("c".ljust(24, "."))

    assert names(talk) == ["rule", "pinned", "b", "re b", "c"]


@pytest.mark.requirement("S2.4-2")
def test_preserved_messages_go_after_all_others():
    talk = Talk(model=MODEL, contextLimit=60)
    talk.do("message", text="kept".ljust(24, "."), tags=["PRESERVED"]).reply("re".ljust(24, "."))
    say_each(talk, "a", "b").says("c".ljust(24, "."))
    assert names(talk) == ["kept", "a", "re a", "b", "re b", "c"]
    talk.reply("re c".ljust(24, "."))

    talk.says("d" * 240)

    assert names(talk) == ["d" * 240]


@pytest.mark.requirement("S2.4-2")
def test_a_message_pinned_later_comes_back_and_goes_when_it_is_let_go():
    talk = say_each(Talk(model=MODEL, contextLimit=60), "a", "b", "c").says("d".ljust(24, "."))
    assert "a" not in names(talk)
    talk.reply("re d".ljust(24, "."))

    talk.do("pin", message="m1").says("e".ljust(24, "."))
    assert names(talk)[0] == "a"
    talk.reply("re e".ljust(24, "."))

    talk.do("pin", message="m1", pinned=False).says("f".ljust(24, "."))
    assert "a" not in names(talk)
    assert not talk.can("pin", message="m99")


def test_an_unpinned_message_that_is_required_stays():
    talk = Talk(model=MODEL, contextLimit=60).do("message", text=TEN, tags=["REQUIRED"]).reply("re")
    say_each(talk, "a", "b", "c")

    assert talk.do("pin", message="m1", pinned=False).context["branches"]["main"]["window"]["kept"] == ["m1"]


def test_a_pin_changes_no_window_that_has_not_passed_it():
    talk = say_each(Talk(model=MODEL, contextLimit=60), "a", "b", "c", "d")
    window = talk.context["branches"]["main"]["window"]

    assert talk.do("pin", message=talk.head).context["branches"]["main"]["window"] == window


@pytest.mark.requirement("S2.4-1", "S2.4-2", "S2-B9")
def test_a_summary_takes_the_place_of_what_it_was_made_from():
    """A model summarises before it replies."""
    talk = say_each(Talk(model=MODEL, strategy="summarise", contextLimit=100), "a", "b", "c", "d")
    talk.says("e".ljust(24, "."))
    assert talk.context["reply"]["phase"] == "compressing"
    left_out = [text_of(message["parts"]).rstrip(".") for message in talk.spawned["summariser"]["messages"]]
    assert left_out == ["a", "re a", "b", "re b"]
    assert (talk.spawned["summariser"]["model"], talk.spawned["summariser"]["summary"]) == (MODEL, None)

    talk.do("xstate.done.actor.summariser", output={"text": "a and b", "usage": {"input": 3}, "costUsd": 0.5})

    assert names(talk) == ["a and b", "c", "re c", "d", "re d", "e"]
    summary = talk.context["messages"][talk.context["branches"]["main"]["window"]["summary"]]
    assert summary["derivedFrom"] == ["m1", "m2", "m3", "m4"]
    assert talk.context["metrics"]["costUsd"] == 0.5
    assert talk.texts[0].startswith("a")  # the conversation itself has lost nothing


@pytest.mark.requirement("S2.4-2")
def test_a_second_summary_is_derived_from_the_first():
    talk = say_each(Talk(model=MODEL, strategy="summarise", contextLimit=100), "a", "b", "c", "d")
    talk.says("e".ljust(24, ".")).do("xstate.done.actor.summariser", output={"text": "a and b"})
    first = talk.context["branches"]["main"]["window"]["summary"]
    talk.reply("re e".ljust(24, "."))
    say_each(talk, "f").says("g".ljust(24, "."))
    assert talk.spawned["summariser"]["summary"] == "a and b"

    talk.do("xstate.done.actor.summariser", output={"text": "more"})

    second = talk.context["messages"][talk.context["branches"]["main"]["window"]["summary"]]
    assert second["derivedFrom"][0] == first
    assert names(talk)[0] == "more"


@pytest.mark.requirement("S2-B9")
@pytest.mark.parametrize("output", [None, {}, {"text": ""}])
def test_a_summariser_that_says_nothing_or_fails_is_replaced_by_a_digest(output):
    talk = say_each(Talk(model=MODEL, strategy="summarise", contextLimit=1000), *"abcd", size=400).says("e" * 400)
    ending = "xstate.done.actor.summariser" if output is not None else "xstate.error.actor.summariser"

    talk.do(ending, output=output, error="broken")

    assert words(talk)[0].startswith("Earlier in this conversation:\n")
    assert words(talk)[0].endswith("re b".ljust(200, "."))


@pytest.mark.requirement("S2.4-1")
def test_plain_summaries_need_no_model():
    talk = say_each(Talk(model=MODEL, strategy="summarise", summaries="plain", contextLimit=1000), *"abcd", size=400)
    talk.says("e" * 400)

    assert words(talk)[0].startswith("Earlier in this conversation:\n")
    talk.reply("re e".ljust(400, "."))
    say_each(talk, *"fghijk", size=400)
    assert view(talk.context, "main").tokens <= 1000


def test_a_summary_never_outgrows_its_share():
    talk = say_each(Talk(model=MODEL, strategy="summarise", contextLimit=100), "a", "b", "c", "d")
    talk.says("e".ljust(24, ".")).do("xstate.done.actor.summariser", output={"text": "é" * 9_000})

    assert talk.context["reply"]["phase"] == "replying"
    assert words(talk)[0] == "é" * 20


@pytest.mark.requirement("S2.4-2")
def test_a_window_that_cannot_shrink_is_not_tried_again_until_it_has_room():
    """Hysteresis, when too much must be kept."""
    talk = Talk(model=MODEL, strategy="forget", contextLimit=100)
    talk.do("message", text="x" * 280, pinned=True).reply("re x").says("a")
    assert talk.context["branches"]["main"]["window"]["armed"] is False
    talk.reply("re a").says("b")
    assert talk.context["metrics"]["compressions"] == 1

    talk.reply("re b").do("pin", message="m1", pinned=False).says("c")

    assert talk.context["branches"]["main"]["window"]["armed"] is True


def test_a_window_that_is_not_on_the_path_any_more_is_forgotten():
    talk = say_each(Talk(model=MODEL, contextLimit=60), "a", "b", "c", "d", "e")
    assert talk.context["branches"]["main"]["window"]["cut"] == "m4"

    talk.do("rewind", turns=4).says("f")

    assert names(talk) == ["a", "re a", "f"]


def test_a_fork_inherits_the_window():
    talk = say_each(Talk(model=MODEL, contextLimit=60), "a", "b", "c", "d").do("fork", name="x").do("confirm_fork")

    talk.says("e")

    assert names(talk) == ["c", "re c", "d", "re d", "e"]


@pytest.mark.requirement("S2.4-1")
@pytest.mark.parametrize(("placement", "place"), [("prepend", 0), ("inject", 2)])
def test_the_system_prompt_stands_first_or_before_the_last_question(placement, place):
    talk = say_each(Talk(model=MODEL, system="Be kind.", systemPlacement=placement), "a").says("b")

    assert names(talk).index("Be kind") == place
    assert talk.spawned["reply"]["messages"][place]["role"] == "system"


def test_an_injected_prompt_without_a_question_stands_first():
    talk = Talk(system="Be kind.", systemPlacement="inject").do("message", role="assistant", text="Hello")

    assert [m["role"] for m in request_messages(talk.context, "main")] == ["system", "assistant"]


@pytest.mark.requirement("S2.4-1", "S2.4-2")
@law
@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from([None, "REQUIRED", "PRESERVED", "DROPPABLE"])), max_size=30),
    st.sampled_from(["sliding", "forget", "summarise"]),
)
def test_a_window_fits_unless_the_newest_turn_and_what_must_be_kept_do_not(sizes, strategy):
    talk = Talk(model=MODEL, strategy=strategy, summaries="plain", contextLimit=100)
    required = []
    for size, tag in sizes:
        talk.do("message", text="x" * size, tags=[tag] if tag else [])
        if tag == "REQUIRED":
            required.append(talk.head)
        content = view(talk.context, "main")
        sent = [message["id"] for message in (*content.kept, *content.recent)]
        assert set(required) <= set(sent)
        assert find_shift(talk.context, "main") is None
        assert content.tokens <= 100 or set(sent) <= {*required, talk.head}
        talk.reply("y" * size)


def test_messages_of_a_request_are_as_they_were_said():
    talk = Talk(model=MODEL).says("a").reply("b").says("c")

    assert talk.spawned["reply"]["messages"] == [
        {"role": "user", "parts": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "parts": [{"type": "text", "text": "b"}], "source": "scripted"},
        {"role": "user", "parts": [{"type": "text", "text": "c"}]},
    ]


def call(*ids):
    parts = [{"type": "toolCall", "id": id, "name": "look", "arguments": "{}"} for id in ids]
    return {"role": "assistant", "parts": parts}


def result(*ids):
    content = [{"type": "text", "text": "seen"}]
    return {"role": "tool", "parts": [{"type": "toolResult", "callId": id, "parts": content} for id in ids]}


def cancelled_message(*ids):
    content = [{"type": "text", "text": "cancelled"}]
    parts = [{"type": "toolResult", "callId": id, "parts": content, "isError": True} for id in ids]
    return {"role": "tool", "parts": parts}


NOTE = {"role": "system", "parts": []}
USER = {"role": "user", "parts": []}


@pytest.mark.requirement("S2-B9")
@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([call("a"), result("a"), USER], [call("a"), result("a"), USER]),
        ([call("a"), USER], [call("a"), cancelled_message("a"), USER]),
        ([call("a", "b"), result("b"), USER], [call("a", "b"), result("b"), cancelled_message("a"), USER]),
        ([call("a")], [call("a"), cancelled_message("a")]),
        ([result("a"), USER], [USER]),
        ([call("a"), result("a", "z")], [call("a"), result("a")]),
        ([call("a"), NOTE, result("a")], [call("a"), NOTE, result("a")]),
        ([call("a"), call("b"), result("b")], [call("a"), cancelled_message("a"), call("b"), result("b")]),
    ],
)
def test_every_tool_call_has_a_result_and_every_result_a_call(messages, expected):
    """A conversation cut between a call and its result is repaired before a model gets it."""
    assert repair_messages(messages) == expected


@law
@given(st.lists(st.sampled_from([call("a"), call("b"), call("a", "b"), result("a"), result("b"), USER]), max_size=12))
def test_mending_twice_is_mending_once(messages):
    once = repair_messages(messages)

    assert repair_messages(once) == once
