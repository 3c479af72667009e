"""`GrowingText` is an immutable string to which adding costs nothing."""

import copy
import json

import pytest

from antiphon import GrowingText, assign, create_actor, create_machine, initial_transition, transition


def test_older_version_stays_as_it_was():
    first = GrowingText("a")
    second = first + "b"
    third = first + "c"

    assert (str(first), str(second), str(third)) == ("a", "ab", "ac")


def test_text_is_equal_to_its_string_and_has_its_hash():
    text = GrowingText("a") + "b"

    assert text == "ab" == text
    assert text != "abc"
    assert {text: 1}["ab"] == 1


def test_text_is_not_equal_to_other_things():
    assert GrowingText("1") != 1
    assert GrowingText("") != None  # noqa: E711
    assert GrowingText("a") != ["a"]


def test_text_of_a_text_is_the_text():
    text = GrowingText("a")

    assert GrowingText(text) is text


def test_only_strings_can_be_added():
    with pytest.raises(TypeError):
        GrowingText("a") + 1
    with pytest.raises(TypeError):
        1 + GrowingText("a")


def test_string_can_be_put_in_front():
    text = "a" + GrowingText("b")

    assert isinstance(text, GrowingText)
    assert text == "ab"


def test_text_is_true_unless_empty():
    assert GrowingText("a")
    assert not GrowingText()


def test_text_is_cut_and_searched_like_a_string():
    text = GrowingText("hel") + "lo"

    assert (text[0], text[-1], text[1:3], text[::-1]) == ("h", "o", "el", "olleh")
    assert "ell" in text
    assert list(text) == list("hello")
    assert f"{text}!" == "hello!"


def test_index_beyond_its_end_is_an_error_in_an_older_version_too():
    text = GrowingText("ab")
    assert text + "c" == "abc"

    with pytest.raises(IndexError):
        text[2]


def test_text_says_what_it_is():
    assert repr(GrowingText("a") + "b") == "GrowingText('ab')"


def test_copies_are_the_text_itself():
    text = GrowingText("a")

    assert copy.copy(text) is text
    assert copy.deepcopy({"text": text})["text"] is text


def test_adding_to_the_newest_version_does_not_copy():
    text = GrowingText("x" * 1_000_000)
    versions = []
    for _ in range(2000):
        text = text + "y"
        versions.append(text)

    assert len(versions[0]) == 1_000_001
    assert len(str(versions[-1])) == 1_002_000
    assert str(versions[999]) == "x" * 1_000_000 + "y" * 1000


def test_text_in_context_is_persisted_as_a_string():
    chart = {"context": {"text": GrowingText()}, "on": {"SAY": {"actions": "say"}}}
    say = assign({"text": lambda context, event: context["text"] + event["word"]})
    actor = create_actor(create_machine(chart, actions={"say": say})).start()

    actor.send({"type": "SAY", "word": "hello"})

    assert json.loads(json.dumps(actor.get_persisted_snapshot()))["context"] == {"text": "hello"}


def say_machine():
    chart = {"context": {"text": GrowingText(), "n": 0}, "on": {"SAY": {"actions": "say"}}}
    return create_machine(chart, actions={"say": assign({"text": lambda context, event: context["text"] + "x"})})


def test_a_snapshot_joins_its_text_at_the_first_read_and_keeps_it():
    actor = create_actor(say_machine()).start()
    actor.send({"type": "SAY"})
    early = actor.get_snapshot()
    actor.send({"type": "SAY"})

    assert early.context is early.context
    assert (type(early.context["text"]), early.context["text"]) == (str, "x")
    assert actor.get_snapshot().context == {"text": "xx", "n": 0}


def test_a_snapshot_that_nobody_reads_joins_nothing():
    snapshot, _ = initial_transition(say_machine())
    for _ in range(3):
        snapshot, _ = transition(say_machine(), snapshot, {"type": "SAY"})

    assert isinstance(snapshot.live_context["text"], GrowingText)
    assert len(snapshot.live_context["text"]._buffer.chunks) == 3


def test_a_context_without_growing_text_is_not_copied():
    snapshot, _ = initial_transition(create_machine({"context": {"n": 1}}))

    assert snapshot.context is snapshot.live_context
