"""Words have offsets that add up, wherever a reader begins; where the start of a reply is gone they have none."""

import asyncio
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.app import App
from antiphon.providers.base import Delta, TextDelta, ThinkingDelta
from antiphon.runtime.errors import JournalCompacted
from antiphon.runtime.records import Entry
from antiphon.threads.activity import Activity
from antiphon.threads.offsets import PAGE, Offsets
from tests.fixtures.chats import Teller
from tests.fixtures.scripted_team import script

KINDS = {"TEXT_CHUNK": "text", "THINKING_CHUNK": "thinking"}
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
DELTAS = st.lists(st.one_of(st.builds(TextDelta, TEXTS), st.builds(ThinkingDelta, TEXTS)), min_size=1, max_size=12)
EVENTS = st.one_of(
    st.just({"type": "REQUEST_STARTED"}),
    st.just({"type": "USAGE"}),
    st.fixed_dictionaries({"type": st.sampled_from([*KINDS]), "content": TEXTS}),
)
STEPS = st.lists(st.tuples(st.sampled_from(["debate/reply-for", "debate/reply-against"]), EVENTS), max_size=40)


class Journal:
    """The journal of one thread, without the steps before the first one that is left."""

    def __init__(self, steps: list[tuple[str, Any]], first: int) -> None:
        self.rows = [Entry("thread", seq, 0, to, event) for seq, (to, event) in enumerate(steps, 1)]
        self.first = first

    async def entries(self, root: str, after: int, limit: int) -> list[Entry]:
        if after + 1 < self.first:
            raise JournalCompacted(root, self.first)
        return self.rows[after : after + limit]


def expected_offsets(rows: list[Entry], first: int) -> list[int | None]:
    """The offsets of all steps, counted from the first step that is left."""
    lengths: dict[tuple[str, str], int] = {}
    results: list[int | None] = []
    for row in rows:
        type = row.event["type"]
        key = (row.to, type)
        if type == "REQUEST_STARTED" and row.seq >= first:
            lengths.update({(row.to, kind): 0 for kind in KINDS})
        results.append(lengths.get(key) if type in KINDS else None)
        if key in lengths:
            lengths[key] += len(row.event["content"])
    return results


@given(steps=STEPS, first=st.integers(1, 10), start=st.integers(0, 39), padding=st.sampled_from([0, PAGE - 7, PAGE]))
def test_offsets_do_not_depend_on_where_a_reader_begins(
    steps: list[tuple[str, Any]], first: int, start: int, padding: int
) -> None:
    # Steps of others in the middle: the start of a request may be more than a page away.
    other = [("chat", {"type": "USAGE"})] * padding
    journal = Journal([*steps[:5], *other, *steps[5:]], first)
    begin = max(start + padding, first - 1)

    async def main() -> list[int | None]:
        offsets = Offsets(journal, "thread")  # type: ignore[arg-type]
        return [await offsets.take(row) for row in journal.rows[begin:]]

    assert asyncio.run(main()) == expected_offsets(journal.rows, first)[begin:]


def test_the_start_of_a_request_may_be_pages_away_and_before_it_steps_may_be_gone() -> None:
    words = {"type": "TEXT_CHUNK", "content": "word "}
    gone = [("reply", words)] * 3
    journal = Journal([*gone, ("reply", {"type": "REQUEST_STARTED"}), *[("reply", words)] * (2 * PAGE)], 4)

    async def main() -> list[int | None]:
        ends = (journal.rows[-1], journal.rows[PAGE])
        return [await Offsets(journal, "thread").take(row) for row in ends]  # type: ignore[arg-type]

    assert asyncio.run(main()) == [5 * (2 * PAGE - 1), 5 * (PAGE - 4)]


def test_steps_that_are_left_out_are_counted_again() -> None:
    words = {"type": "TEXT_CHUNK", "content": "word "}
    journal = Journal([("reply", {"type": "REQUEST_STARTED"}), *[("reply", words)] * 4], 1)

    async def main() -> int | None:
        offsets = Offsets(journal, "thread")  # type: ignore[arg-type]
        for row in journal.rows[:2]:
            await offsets.take(row)
        offsets.forget()
        return await offsets.take(journal.rows[4])

    assert asyncio.run(main()) == 15


async def read(app: App, id: str, after: str | int = 0) -> list[Activity]:
    return list((await app.threads.activities(id, after, 1000)).activities)


@settings(max_examples=20, deadline=None)
@given(deltas=DELTAS)
def test_the_offsets_of_a_reply_add_up_from_every_cursor(deltas: list[Delta]) -> None:
    async def main() -> None:
        async with App(":memory:", models=Teller(deltas).models, window_ms=0) as app:
            id = await app.chats.create(model="scripted:teller")
            await app.chats.say(id, "Hello")
            await app.threads.until_idle(id)
            whole = await read(app, id)
            lengths = dict.fromkeys(KINDS.values(), 0)
            for index, activity in enumerate(whole):
                assert activity.offset == lengths.get(activity.kind)
                if activity.kind in lengths:
                    lengths[activity.kind] += len(activity.facts["text"])
                assert await read(app, id, activity.cursor) == whole[index + 1 :]

    asyncio.run(main())


def test_another_attempt_begins_at_zero_and_only_words_have_offsets(tmp_path: Path) -> None:
    failing = script(tmp_path, {"steps": [{"text": "Half"}, {"error": "1001", "message": "cut"}]})

    async def main() -> list[Activity]:
        async with App(":memory:", window_ms=0) as app:
            id = await app.chats.create(model=failing, settings={"maxAttempts": 1})
            for _ in range(2):
                await app.chats.say(id, "Hello")
                await app.threads.until_idle(id)
            return await read(app, id)

    rows = [activity.to_json() for activity in asyncio.run(main())]
    assert [(row["facts"]["text"], row["offset"]) for row in rows if row["kind"] == "text"] == [("Half", 0)] * 2
    assert all("offset" not in row for row in rows if row["kind"] != "text")
