"""Debates on the whole stack: a store, the runtime, the machines, and a scripted model that is paid for."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from antiphon.app import App
from antiphon.debate.export import debate_document
from antiphon.debate.kind import DEBATE
from antiphon.debate.machine.config import InvalidConfig
from antiphon.debate.machine.debate import debate_machine
from antiphon.debate.service import Debates
from antiphon.debate.settings import merged_settings
from antiphon.providers.prices import Price
from antiphon.providers.scripted import ScriptedModel
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import Refused, UnknownThread
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.export.html import POLICY, to_html
from antiphon.threads.export.markdown import to_markdown
from tests.fixtures.debates import CONFIG, TOPIC, debates_of, host, recorded, to_the_end
from tests.fixtures.runtime import runtime, simulate

ROUND_TABLE = {**CONFIG, "format": "roundtable", "maxRounds": 1, "models": ["scripted:debate"] * 3}


def held(main: Callable[[Debates], Awaitable[Any]]) -> Any:
    """Something done with debates, in simulated time."""

    async def run() -> Any:
        async with host(MemoryStore()) as runtime:
            return await main(debates_of(runtime))

    return simulate(run)


def debate(config: dict[str, Any]) -> Any:
    """A whole debate."""

    async def main(debates: Debates) -> Any:
        id = await debates.create(config)
        await to_the_end(debates, id)
        return await debates.read(id)

    return held(main)


async def until(debates: Debates, id: str, kind: str, after: int = 0, **facts: Any) -> Any:
    async for one in debates.follow(id, after):
        if one.kind == kind and facts.items() <= one.facts.items():
            return one
    raise AssertionError


@pytest.mark.requirement("S4-106", "S4-11", "S4-12", "S4-29", "S4-36", "S4-98")
def test_a_scripted_debate_runs_from_topic_to_verdict() -> None:
    found = debate(CONFIG)

    assert [(one["phase"], one["roundNumber"]) for one in found["rounds"]] == [
        ("opening", 1),
        ("rebuttal", 1),
        ("closing", 2),
    ]
    first = found["rounds"][0]["responses"][0]
    assert (first["participantId"], first["content"][:21]) == ("for", "Half the ground of ou")
    verdict = found["verdict"]
    assert (found["outcome"], verdict["winner"], verdict["scores"]) == ("verdict", "for", {"for": 82, "against": 75})
    assert verdict["criteria"]["evidence"] == {"for": 85, "against": 71}
    assert verdict["timestamp"] > first["timestamp"] > 0
    assert (verdict["tokensUsed"], verdict["reasoning"][:33]) == (3120 + 168, "Both sides answered each other. T")


@pytest.mark.requirement("S4-23", "S4-24", "S4-35", "S4-114", "S4-122", "S4-B14")
def test_the_costs_of_a_scripted_debate_are_what_one_counts_by_hand() -> None:
    """Tokens as the script says, 3 USD in and 15 USD out for a million."""
    found = debate(CONFIG)

    # Openings 420+66 and 420+58, second rebuttals 1880+57 and 1890+82, closings 2480+55 and 2500+64, judge 3120+168.
    used = found["tokenUsage"]["scripted:debate"]
    assert used["inputTokens"] == 420 + 420 + 1880 + 1890 + 2480 + 2500 + 3120 == 12_710
    assert used["outputTokens"] == 66 + 58 + 57 + 82 + 55 + 64 + 168 == 550
    assert (used["requestCount"], used["estimated"]) == (7, False)
    assert [one["costThisRound"] for one in found["rounds"]] == ["0.00438", "0.013395", "0.016725"]
    assert found["costTracker"]["totalCost"] == used["totalCost"] == "0.04638"
    assert Decimal("0.04638") == (12_710 * Decimal(3) + 550 * Decimal(15)) / 1_000_000
    judge = Decimal(3120 * 3 + 168 * 15) / 1_000_000
    assert sum(Decimal(one["costThisRound"]) for one in found["rounds"]) + judge == Decimal("0.04638")


def cached(reference: Any) -> ScriptedModel:
    """A model of any name that always says the same, with some of it cached; the judge decides."""
    marks = '{"for": 60, "against": 40}'
    criteria = ", ".join(f'"{name}": {marks}' for name in ("argument", "evidence", "rebuttal", "clarity"))
    verdict = f'{{"winner": "for", "scores": {marks}, "criteria": {{{criteria}}}, "reasoning": "So."}}'
    usage = {"usage": {"input": 1000, "output": 70, "cachedRead": 600, "cachedWrite": 100}}
    judge = {"system": "judge", "steps": [{"text": verdict}, {"usage": {"input": 2000, "output": 90}}]}
    return ScriptedModel({"replies": [judge, {"steps": [{"text": "I am right."}, usage]}]}, name=reference.model)


@pytest.mark.requirement("S4-24", "S4-34", "S4-35", "S4-105", "S4-114", "S4-B14")
def test_every_model_of_a_debate_is_charged_by_its_own_prices() -> None:
    """Input, output and cached apart, model by model."""
    dear = Price(Decimal(3), Decimal(15), cached_read=Decimal("0.3"), cached_write=Decimal("3.75"))
    prices = {"scripted:dear": dear, "scripted:cheap": Price(Decimal("0.1"), Decimal("0.4"))}
    prices["scripted:judge"] = Price(Decimal(2), Decimal(8))

    async def main() -> Any:
        async with host(MemoryStore(), script=cached, prices=prices) as runtime:
            debates = debates_of(runtime)
            judge = {"model": "scripted:judge"}
            given = {"topic": TOPIC, "maxRounds": 1, "models": ["scripted:dear", "scripted:cheap"], "judge": judge}
            id = await debates.create(given)
            await to_the_end(debates, id)
            return await debates.read(id)

    found = simulate(main)
    # A call of the dear one: 300 x 3 + 600 x 0.3 + 100 x 3.75 + 70 x 15 = 2505 millionths; it speaks twice.
    # The cheap one has no price for what is cached: 1000 x 0.1 + 70 x 0.4 = 128. The judge: 2000 x 2 + 90 x 8 = 4720.
    costs = {"scripted:dear": "0.00501", "scripted:cheap": "0.000256", "scripted:judge": "0.00472"}
    assert found["costTracker"]["costByModel"] == costs
    assert found["costTracker"]["totalCost"] == "0.009986"
    used = found["tokenUsage"]["scripted:dear"]
    assert (used["inputTokens"], used["outputTokens"], used["requestCount"]) == (2000, 140, 2)
    assert (used["cachedReadTokens"], used["cachedWriteTokens"]) == (1200, 200)


@pytest.mark.requirement("S4-B26")
def test_three_sides_sit_at_a_round_table() -> None:
    found = debate(ROUND_TABLE)

    assert [one["participantId"] for one in found["rounds"][1]["responses"]] == ["for", "against", "neutral"]
    assert found["verdict"]["scores"]["neutral"] == 78


@pytest.mark.requirement("S4-03", "S4-B26")
def test_openings_stream_side_by_side_and_rebuttals_in_turn() -> None:
    """Each debater's words come as its own stream, from the journal."""

    async def main(debates: Debates) -> list[Any]:
        id = await debates.create(CONFIG)
        await debates.start(id)
        return [one async for one in debates.until_idle(id, 1)]

    heard = held(main)
    spoken: dict[str, list[str]] = {"opening": [], "rebuttal": [], "closing": []}
    phase = "opening"
    for one in heard:
        phase = one.facts["phase"] if one.kind == "round_started" else phase
        if one.kind == "text" and one.speaker not in spoken[phase][-1:]:
            spoken[phase].append(one.speaker)
    assert len(spoken["opening"]) > 10
    assert (spoken["rebuttal"], spoken["closing"]) == (["for", "against"], ["against", "for"])
    assert heard[-1].kind == "status"
    states = [one.facts["state"] for one in heard if one.kind == "state"]
    assert states == ["initializing", "awaitingArguments", "debating", "debating", "judgeEvaluating"]


@pytest.mark.requirement("S4-113")
def test_chunks_are_joined_for_100_ms_at_most() -> None:
    """The script speaks a word every 25 ms; each step of the opening has the words of up to 100 ms."""

    async def main(debates: Debates) -> list[Any]:
        id = await debates.create(CONFIG)
        await debates.start(id)
        return [one async for one in debates.until_idle(id, 1)]

    heard = held(main)
    begun_at = next(one.at for one in heard if one.kind == "turn_started" and one.facts["participantId"] == "for")
    ended = next(place for place, one in enumerate(heard) if one.kind == "turn_ended")
    steps = [one for one in heard[:ended] if one.kind == "text" and one.speaker == "for"]
    counts = [len(one.facts["text"].split()) for one in steps]
    spoken_at = [begun_at + 25 * sum(counts[: place + 1]) for place in range(len(steps))]
    assert len(steps) > 10
    assert sum(counts) / len(steps) >= 1.9
    waits = [one.at - at + 25 * (count - 1) for one, at, count in zip(steps, spoken_at, counts, strict=True)]
    assert 0 <= min(waits) <= max(waits) <= 100


@pytest.mark.requirement("S4-125")
def test_the_id_of_the_configuration_names_the_debate() -> None:
    async def main(debates: Debates) -> None:
        assert await debates.create({**CONFIG, "id": "debate-123"}) == "debate-123"
        assert (await debates.read("debate-123"))["id"] == "debate-123"
        with pytest.raises(Refused, match="there is a thread 'debate-123' already; choose another id"):
            await debates.create({**CONFIG, "id": "debate-123"})
        other = await debates.create(CONFIG)
        assert (await debates.read(other))["id"] == other

    held(main)


@pytest.mark.requirement("S4-123", "S4-112")
def test_a_debate_of_a_topic_alone_is_driven_by_hand_and_outlives_its_process() -> None:
    """Its debaters arrive as text; the next process knows them."""
    by_hand = debate_machine.provide(public=["*"])
    store = MemoryStore()
    debaters = [{"id": side, "position": side, "model": "openai:gpt-5"} for side in ("for", "against")]

    async def run() -> Any:
        async with runtime(store, by_hand) as first:
            await first.create("debate", root="d1", input={"driver": "events"})
            start = {"type": "START_DEBATE", "config": {"topic": TOPIC}}
            assert (await first.send("d1", start)).status == "accepted"
            assert (await first.send("d1", {"type": "INIT_COMPLETE", "participants": debaters})).status == "accepted"
        async with runtime(store, by_hand) as second:
            return await second.snapshot("d1")

    snapshot = simulate(run)
    assert snapshot["value"] == "awaitingArguments"
    assert [one["model"]["modelId"] for one in snapshot["context"]["participants"]] == ["gpt-5", "gpt-5"]


@pytest.mark.requirement("S4-116")
def test_a_debate_can_be_followed_from_any_step_it_was_left_at() -> None:
    """By its id and the number of the last step, as Last-Event-ID has it."""

    async def main(debates: Debates) -> None:
        id = await debates.create(CONFIG)
        await debates.start(id)
        whole = [one async for one in debates.until_idle(id, 1)]
        middle = whole[len(whole) // 2].seq
        again = [one async for one in debates.until_idle(id, middle)]
        assert again == [one for one in whole if one.seq > middle]

    held(main)


@pytest.mark.requirement("S4-13", "S4-45", "S4-46")
def test_a_debate_is_paused_and_resumed_by_its_thread_or_directly() -> None:
    """The thread is stopped while nobody speaks, and runs again afterwards."""

    async def main(debates: Debates) -> None:
        id = await debates.create(CONFIG)
        await debates.start(id)
        began = await until(debates, id, "state", state="debating")
        await until(debates, id, "text", began.seq)
        await debates.pause(id)
        assert (await debates.status(id), (await debates.read(id))["state"]) == ("stopped", "paused")
        with pytest.raises(Refused, match=r"PAUSE is not possible now: .*; possible: .*JUDGE_NOW.*RESUME"):
            await debates.pause(id)
        await debates.resume(id)
        assert await debates.status(id) == "running"
        await debates.pause(id)
        await debates.judge_now(id)
        assert await debates.status(id) == "running"
        await to_the_end(debates, id)
        found = await debates.read(id)
        assert (found["outcome"], len(found["rounds"])) == ("verdict", 1)
        assert found["tokenUsage"]["scripted:debate"]["estimated"]  # what was cut off is paid for as far as it came

    held(main)


def test_a_debate_that_is_read_in_the_middle_has_the_round_in_progress() -> None:
    """A reader that opens it then needs the turns that are over, which no finished round has yet."""

    async def main(debates: Debates) -> Any:
        id = await debates.create(CONFIG)
        assert (await debates.read(id))["current"] is None
        await debates.start(id)
        began = await until(debates, id, "round_started")
        await until(debates, id, "turn_ended", began.seq, participantId="for")
        await debates.pause(id)
        current = (await debates.read(id))["current"]
        await debates.resume(id)
        await to_the_end(debates, id)
        assert (await debates.read(id))["current"] is None
        return current

    current = held(main)
    assert (current["phase"], current["roundNumber"], current["missing"]) == ("rebuttal", 1, ["against"])
    assert [said["participantId"] for said in current["responses"]] == ["for"]
    assert current["target"] == "debating"


@pytest.mark.requirement("S4-B12", "S4-B25")
def test_a_limit_stops_a_debate_until_it_is_raised() -> None:
    """The thread has failed with `cost_limit`, and goes on with the same round."""

    async def main(debates: Debates) -> Any:
        model = {"provider": "scripted", "modelId": "debate", "maxTokens": 6000}
        sides = [{"id": id, "position": id, "model": model} for id in ("for", "against")]
        given = {"topic": TOPIC, "maxRounds": 1, "format": "lincoln-douglas", "participants": sides}
        id = await debates.create({**given, "costLimit": 0.102, "warnAtCost": 0.001})
        await debates.start(id)
        broken = await until(debates, id, "error")
        assert (broken.facts["error"]["type"], await debates.status(id)) == ("cost_limit", "failed")
        await debates.acknowledge(id)
        await debates.raise_limit(id, 5)
        await to_the_end(debates, id)
        return await debates.read(id)

    found = held(main)
    assert found["outcome"] == "verdict"
    assert [one["acknowledged"] for one in found["costTracker"]["warnings"]] == [True]
    assert [len(one["responses"]) for one in found["rounds"]] == [2, 2]


@pytest.mark.requirement("S4.4-15")
def test_an_interjection_is_heard_and_kept() -> None:
    async def main(debates: Debates) -> Any:
        id = await debates.create(CONFIG)
        await debates.start(id)
        await until(debates, id, "round_started")
        await debates.interject(id, "And the children?")
        await to_the_end(debates, id)
        return await debates.read(id)

    found = held(main)
    assert [one["text"] for one in found["interjections"]] == ["And the children?"]
    assert "> From the audience: And the children?" in to_markdown(debate_document(recorded(found)))


@pytest.mark.requirement("S4-B11")
def test_stopping_in_the_openings_ends_without_a_verdict() -> None:
    async def main(debates: Debates) -> None:
        id = await debates.create(CONFIG)
        await debates.start(id)
        await until(debates, id, "turn_started")
        await debates.stop(id)
        found = await debates.read(id)
        assert (found["outcome"], found["verdict"], await debates.status(id)) == ("stopped", None, "stopped")
        with pytest.raises(Refused, match="not in progress"):
            await debates.pause(id)

    held(main)


@pytest.mark.requirement("S4-02")
def test_a_model_that_cannot_be_opened_is_an_error_before_anything_is_spent(tmp_path: Path) -> None:
    async def main() -> None:
        async with App(MemoryStore()) as app:
            script = tmp_path / "script.toml"
            script.write_text('[[reply]]\ntext = "Yes."')
            id = await app.debates.create({**CONFIG, "models": [f"scripted:{script}"]})
            script.unlink()
            await app.debates.start(id)
            broken = await until(app.debates, id, "error")
            assert broken.facts["error"]["type"] == "model_error"
            assert "script.toml" in broken.facts["error"]["message"]

    asyncio.run(main())


@pytest.mark.requirement("S4-B21", "S4-B23")
def test_what_is_wrong_is_said_before_a_thread_is_made() -> None:
    async def main(debates: Debates) -> None:
        with pytest.raises(InvalidConfig, match="maxRounds: is 11"):
            await debates.create({**CONFIG, "maxRounds": 11})
        with pytest.raises(UnknownThread, match="no debate 'nobody'"):
            await debates.start("nobody")
        id = await debates.create(CONFIG)
        assert (await debates.read(id))["state"] == "idle"
        with pytest.raises(Refused, match="not in progress"):
            await debates.judge_now(id)

    held(main)


@pytest.mark.requirement("X-9", "S4.4-3")
def test_a_debate_is_exported_as_markdown() -> None:
    text = to_markdown(debate_document(recorded(debate(CONFIG))))

    facts = "- Format: oxford\n- Sides: Ada (for), Bruno (against)\n- Status: completed\n- Cost: $0.0464\n"
    assert text.startswith(f"# {TOPIC}\n\n- Debate: 3f2a\n{facts}\n## Openings\n\n### Ada\n\nHalf the")
    assert "**Ada wins**" in text
    assert "| Ada | 82 | ████████████████░░░░ | 84 | 85 | 78 | 81 |" in text
    assert "| scripted:debate | 7 | 12710 | 0 | 550 | 0.04638 |" in text


@pytest.mark.requirement("S4-124")
def test_criteria_in_words_are_exported_beside_the_scores() -> None:
    whole = debate(CONFIG)
    criteria = {"clarity": "Both | were clear.", "evidence": {"for": "much", "against": 3}}
    text = to_markdown(debate_document(recorded({**whole, "verdict": {**whole["verdict"], "criteria": criteria}})))

    assert "| clarity | Both \\| were clear. |" in text
    assert re.search(r"\|\s+\| score \|\s+\| evidence \|", text)
    assert "much |" in text


@pytest.mark.requirement("X-9")
def test_a_debate_is_exported_as_html_that_needs_nothing_else() -> None:
    """No script, no reference to anything outside, and words are words."""
    found = debate(CONFIG)
    found["rounds"][0]["responses"][0]["content"] = "<script>alert('x')</script> & so on"
    page = to_html(debate_document(recorded(found)))

    assert not re.search(r"<script|src=|href=|url\(|@import", page)
    assert "&lt;script&gt;" in page
    assert "@media print" in page
    assert "prefers-color-scheme: dark" in page
    assert POLICY in page
    assert "Ada wins" in page


@pytest.mark.requirement("X-9")
def test_a_debate_is_exported_as_json_without_loss() -> None:
    found = debate(CONFIG)

    assert json.loads(FORMATS["json"](DEBATE, recorded(found))) == found


@pytest.mark.requirement("S4-28")
def test_settings_come_from_toml_json_and_flags_and_flags_win(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text('topic = "From a file, at length"\nmaxRounds = 3\nmodels = ["a:b"]\n', "utf-8")
    (tmp_path / "d.json").write_text(json.dumps(CONFIG), "utf-8")

    found = merged_settings(tmp_path / "d.toml", {"topic": "From a flag, at length", "maxRounds": None})
    assert found == {"topic": "From a flag, at length", "maxRounds": 3, "models": ["a:b"]}
    assert merged_settings(tmp_path / "d.json", {}) == CONFIG
    assert merged_settings(None, {"topic": TOPIC}) == {"topic": TOPIC}
    for name, text in (("bad.toml", "topic ="), ("list.json", "[]")):
        (tmp_path / name).write_text(text, "utf-8")
        with pytest.raises(InvalidConfig, match="file: "):
            merged_settings(tmp_path / name, {})
    with pytest.raises(InvalidConfig, match=r"cannot be read: No such file or directory$"):
        merged_settings(tmp_path / "none.toml", {})
    (tmp_path / "latin.toml").write_bytes(b'topic = "\xff"')
    with pytest.raises(InvalidConfig, match="cannot be read: it is not a text in UTF-8"):
        merged_settings(tmp_path / "latin.toml", {})


@pytest.mark.parametrize("way", ["retry", "resume"])
def test_a_completed_debate_is_neither_repeated_nor_resumed(way: str) -> None:
    async def main(debates: Debates) -> Any:
        id = await debates.create(CONFIG)
        await to_the_end(debates, id)
        with pytest.raises(Refused, match="is completed: there is nothing to"):
            await getattr(debates, way)(id)
        return await debates.status(id), (await debates.read(id))["verdict"]

    status, verdict = held(main)
    assert status == "completed"
    assert verdict is not None
