"""The scripted model plays a file, on the clock it is given."""

import asyncio

import pytest

from antiphon.actors.clock import SimulatedClock
from antiphon.messages import ToolResult, Usage, assistant, system, tool, user
from antiphon.providers.base import Request, SignatureDelta, TextDelta, ThinkingDelta, ToolStart, UsageDelta
from antiphon.providers.errors import ProviderError
from antiphon.providers.registry import Models
from antiphon.providers.reply import collect
from antiphon.providers.scripted import ScriptedModel
from tests.fixtures.providers import Outcome, read, run, until


def said(*texts):
    return Request(tuple(user(text) if i % 2 == 0 else assistant(text) for i, text in enumerate(texts)))


def test_the_demo_shows_words_thoughts_tools_and_errors():
    async def work():
        clock = SimulatedClock()
        model = Models(clock=clock).open("scripted:demo")
        outcomes = []
        for text in ("hello", "how is the weather?", "please fail"):
            outcome = Outcome()
            reader = asyncio.create_task(read(model, said(text), outcome))
            while not reader.done():
                clock.increment(50)
                await asyncio.sleep(0)
            outcomes.append(outcome)
        return outcomes

    hello, weather, failed = run(work())
    assert "script" in hello.text
    assert hello.thoughts
    assert any(isinstance(delta, ToolStart) for delta in weather.deltas)
    assert weather.done.stop == "tool_calls"
    assert (failed.error.code, failed.error.retry_after_ms) == ("1002", 1000)


def test_replies_come_in_order_and_begin_again():
    model = ScriptedModel({"replies": [{"steps": [{"text": "one"}]}, {"steps": [{"text": "two"}]}]})
    talks = [said("a"), said("a", "one", "b"), said("a", "one", "b", "two", "c")]

    assert [run(collect(model, talk)).text for talk in talks] == ["one", "two", "one"]


def test_a_pattern_goes_before_the_order():
    model = ScriptedModel({"replies": [{"steps": [{"text": "one"}]}, {"when": "B+", "steps": [{"text": "b!"}]}]})

    assert [run(collect(model, said(text))).text for text in ("a", "abba")] == ["one", "b!"]


def test_the_instructions_choose_who_speaks():
    model = ScriptedModel(
        {
            "replies": [
                {"system": "judge", "when": "who", "steps": [{"text": "you"}]},
                {"system": "judge", "steps": [{"text": "hm"}]},
                {"steps": [{"text": "anyone"}]},
            ]
        }
    )
    asked = [("You judge.", "Who?"), ("You judge.", "What?"), ("You talk.", "Who?")]

    talks = [Request((system(instructions), user(text))) for instructions, text in asked]
    assert [run(collect(model, talk)).text for talk in talks] == ["you", "hm", "anyone"]


def test_replies_with_the_same_patterns_take_turns():
    model = ScriptedModel({"replies": [{"when": "a", "steps": [{"text": text}]} for text in ("one", "two")]})
    talks = [said("a"), said("a", "one", "a"), said("a", "one", "a", "two", "a")]

    assert [run(collect(model, talk)).text for talk in talks] == ["one", "two", "one"]


def test_the_result_of_a_tool_has_its_own_reply():
    model = ScriptedModel({"replies": [{"after": "look", "steps": [{"text": "seen"}]}, {"steps": [{"tool": "look"}]}]})
    first = run(collect(model, said("a"))).message()
    results = tool(ToolResult.of(first.calls[0], "a tree"))
    followed = [(user("a"), first, results), (user("a"), first, results, assistant("seen"), user("b"))]

    assert [run(collect(model, Request(talk))).text for talk in followed] == ["seen", ""]


def test_an_error_can_be_raised_a_number_of_times_for_a_conversation(tmp_path):
    path = tmp_path / "script.toml"
    path.write_text('[[replies]]\nsteps = [{ error = "1002", times = 2 }, { text = "well" }]')

    async def work():
        async with Models() as models:
            # Opened again for each question, as a program does that keeps no model.
            return [await read(models.open(f"scripted:{path}"), said(text)) for text in "aaaba"]

    outcomes = run(work())
    assert [outcome.error is None for outcome in outcomes] == [False, False, True, False, True]
    assert outcomes[2].text == "well"


def test_words_come_at_the_pace_of_the_script():
    async def work():
        clock = SimulatedClock()
        model = ScriptedModel({"pace_ms": 10, "replies": [{"steps": [{"text": "one two"}]}]}, clock=clock)
        outcome = Outcome()
        reader = asyncio.create_task(read(model, said("a"), outcome))
        await until(lambda: outcome.deltas)
        texts = []
        for _ in range(3):
            texts.append(outcome.text)
            clock.increment(10)
            for _ in range(5):
                await asyncio.sleep(0)
        await reader
        return texts

    assert run(work()) == ["", "one ", "one two"]


def test_the_counts_of_the_script_are_reported():
    steps = [{"thinking": "hm", "signature": "s"}, {"usage": {"input": 5, "output": 6, "cachedRead": 4}}]
    outcome = run(read(ScriptedModel({"replies": [{"steps": steps}]}), said("a")))

    assert outcome.deltas[1:4] == [
        ThinkingDelta("hm"),
        SignatureDelta("s"),
        UsageDelta(Usage(5, 6, 4), "script"),
    ]


def test_the_same_conversation_gives_the_same_ids_and_another_turn_others():
    model = ScriptedModel({"replies": [{"steps": [{"tool": "look"}, {"tool": "hear"}]}]})
    ids = [[call.id for call in run(collect(model, said(*texts))).message().calls] for texts in ("a", "a", "abc")]

    assert ids[0] == ids[1]
    assert len({*ids[0], *ids[2]}) == 4


@pytest.mark.parametrize(
    ("script", "wrong"),
    [
        ("replies = [", "not valid"),
        ('[[replies]]\nsteps = [{ shout = "a" }]', "a step has one of"),
        ('[[replies]]\nsteps = [{ error = "42" }]', "unknown error code '42'"),
        ("[[replies]]\n", "a step has one of"),
        ('[[replies]]\nwhen = "("\nsteps = []', r"replies\[0\].when is not a valid pattern"),
        ("[[replies]]\nsystem = 1\nsteps = []", r"replies\[0\].system is not a valid pattern"),
    ],
)
def test_a_broken_script_is_refused_when_it_is_opened(tmp_path, script, wrong):
    path = tmp_path / "script.toml"
    path.write_text(script)

    with pytest.raises(ProviderError, match=wrong):
        Models().open(f"scripted:{path}")


def test_a_script_of_ones_own_is_played_from_its_file(tmp_path):
    path = tmp_path / "script.toml"
    path.write_text('[[replies]]\nsteps = [{ text = "mine" }]')

    assert run(collect(Models().open(f"scripted:{path}"), said("a"))).text == "mine"


def test_a_missing_script_is_not_found():
    with pytest.raises(ProviderError) as caught:
        Models().open("scripted:/nowhere/script.toml")

    assert caught.value.code == "9003"


def test_a_script_without_a_reply_says_so():
    outcome = run(read(ScriptedModel({"replies": [{"when": "x", "steps": [{"text": "a"}]}]}), said("b")))

    assert outcome.error.code == "9001"
    assert not any(isinstance(delta, TextDelta) for delta in outcome.deltas)
