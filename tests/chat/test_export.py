"""Threads leave and come back: JSON that loses nothing, Markdown and HTML to be read."""

import asyncio
import json

import pytest

from antiphon.app import App, open_library
from antiphon.chat import lineage
from antiphon.chat.archive import BadArchive, from_archive, to_archive
from antiphon.chat.export import branch_document, chat_document
from antiphon.chat.kind import CHAT
from antiphon.chat.record import branch_path
from antiphon.stores.memory import MemoryStore
from antiphon.threads.errors import NothingSaid, Refused
from antiphon.threads.export.formats import FORMATS
from antiphon.threads.export.html import to_html
from antiphon.threads.export.markdown import to_markdown
from antiphon.threads.kinds import Record, ThreadView
from tests.fixtures.chats import Clerk, script
from tests.fixtures.conversations import Talk, text_of

EVIL = "<script>alert('x')</script> & ```\n```\nfence\n```"


async def say_and_wait(app, thread, text):
    receipt = await app.chats.say(thread, text)
    async for _ in app.chats.until_idle(thread, receipt.seq - 1):
        pass


async def talk_of(app, thread):
    return await app.library.read(thread)


async def make_branches(app, folder, **config):
    """A thread with a fork, a rewound turn and a checkpoint."""
    model = script(folder, [{"thinking": "Hm <b>."}, {"text": f"Answer. {EVIL}"}])
    thread = await app.chats.create(model=model, **config)
    await say_and_wait(app, thread, EVIL)
    await app.chats.perform(thread, "checkpoint", name="mark")
    await say_and_wait(app, thread, "Two")
    await app.chats.perform(thread, "fork", name="other", turn=1)
    await app.chats.perform(thread, "confirm_fork")
    await say_and_wait(app, thread, "Left behind")
    await app.chats.perform(thread, "rewind", turns=1)
    await say_and_wait(app, thread, "Elsewhere")
    return thread


@pytest.mark.requirement("X-9")
def test_exported_imported_and_exported_again_it_is_the_same(tmp_path):
    async def main():
        async with App(MemoryStore()) as app:
            thread = await make_branches(app, tmp_path)
            first = FORMATS["json"](CHAT, await talk_of(app, thread))
            copy = await app.chats.create(**from_archive(first))
            second = FORMATS["json"](CHAT, await talk_of(app, copy))
            assert json.loads(second) == json.loads(first)

            with pytest.raises(NothingSaid):
                await app.chats.perform(copy, "rewind")
            await say_and_wait(app, copy, "More")
            talk = await talk_of(app, copy)
            assert [message["role"] for message in branch_path(talk.content)][-2:] == ["user", "assistant"]
            assert (talk.view.turns, set(talk.content["branches"])) == (3, {"main", "other"})
            await app.chats.perform(copy, "rewind", turns=3)

    asyncio.run(main())


def test_neither_secrets_nor_permissions_travel(tmp_path):
    async def main():
        box = Clerk()
        async with App(MemoryStore(), toolbox=box) as app:
            settings = {"options": {"tools": box.listed, "maxTokens": 5}, "apiKey": "sk-1"}
            thread = await make_branches(app, tmp_path, settings=settings, consent={"mode": "auto", "autoAllow": ["*"]})
            archive = to_archive(await talk_of(app, thread))

            assert "consent" not in archive["settings"]
            assert "sk-1" not in json.dumps(archive)
            assert archive["settings"]["settings"]["options"]["maxTokens"] == 5
            assert from_archive(json.dumps(archive))["consent"] == {"mode": "ask"}

    asyncio.run(main())


GOOD = {"format": "antiphon-thread", "version": 1, "messages": {}, "branch": "main",
        "branches": {"main": {"name": "main", "head": None}}}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "other"}, 'no thread: "format" must be'),
        ({"version": 2}, "version: is 2; this Antiphon reads 1"),
        ({"surprise": 1}, "unknown key 'surprise'"),
        ({"settings": {"consent": {"mode": "auto"}}}, "settings.consent: cannot come from a file"),
        ({"settings": {"modle": "x"}}, "settings: unknown setting 'modle'"),
        ({"settings": []}, None),
        ({"settings": 3}, "settings: must be an object"),
        ({"title": 3}, "kind, title: must be"),
        ({"branch": "x"}, "branch: 'x' is no open branch"),
    ],
)
def test_a_file_that_holds_no_thread_is_refused_with_the_reason(change, problem):
    if problem is None:
        assert from_archive(json.dumps({**GOOD, **change}))["history"]["branch"] == "main"
        return
    with pytest.raises(BadArchive) as caught:
        from_archive(json.dumps({**GOOD, **change}))
    assert str(caught.value).startswith(problem)


def test_what_is_no_json_is_refused():
    with pytest.raises(BadArchive, match="not JSON"):
        from_archive("{")


def test_a_thread_is_not_made_with_a_history_that_does_not_hold_together():
    async def main():
        async with App(MemoryStore()) as app:
            with pytest.raises(Refused, match="branch: 'x' is no open branch"):
                await app.chats.create(history={"messages": {}, "branches": {}, "branch": "x"})

    asyncio.run(main())


@pytest.mark.requirement("X-9")
def test_as_markdown_every_message_stands_once_under_its_branch(tmp_path):
    async def main():
        async with App(MemoryStore()) as app:
            talk = await talk_of(app, await make_branches(app, tmp_path))
            text = to_markdown(chat_document(talk))

            assert [text.count(word) for word in ("\nTwo\n", "\nElsewhere\n", "\nLeft behind\n")] == [1, 1, 1]
            assert text.index("## Branch other") < text.index("\nElsewhere\n") < text.index("## Branch main")
            assert text.index("## Branch other") < text.index("*forked from main after turn 1*")
            assert text.index("## Branch main") < text.index("*shares 1 turn with other, above*")
            assert text.index("## Left behind") < text.index("\nLeft behind\n")
            assert "\nTwo\n" not in to_markdown(branch_document(talk, "other"))
            assert "````" not in to_markdown(branch_document(talk, "other")).partition("### Model")[0]

    asyncio.run(main())


@pytest.mark.requirement("X-9")
def test_as_html_nothing_that_was_said_becomes_markup(tmp_path):
    async def main():
        async with App(MemoryStore()) as app:
            page = to_html(chat_document(await talk_of(app, await make_branches(app, tmp_path))))

            assert "<script" not in page
            assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp; " in page
            assert all(word in page for word in ("Branch main", "Branch other", "Left behind", "Hm &lt;b&gt;."))
            assert "prefers-color-scheme: dark" in page
            assert "@media print" in page
            assert not any(word in page for word in ("http://", "https://", "url(", "@import"))

    asyncio.run(main())


def test_threads_are_read_beside_the_process_that_runs_them(tmp_path):
    async def main():
        store = tmp_path / "store.db"
        async with App(store) as app:
            thread = await make_branches(app, tmp_path)
            async with open_library(store) as library:
                assert [view.id for view in await library.latest()] == [thread]
                assert (await library.read(thread)).content["branch"] == "other"
                assert await library.find(thread[:3]) == [thread]

    asyncio.run(main())


def test_a_thread_is_put_away_taken_out_and_renamed(tmp_path):
    async def main():
        async with App(MemoryStore()) as app:
            thread = await make_branches(app, tmp_path)
            await app.chats.archive(thread)
            await app.chats.rename(thread, "My talk")

            assert await app.library.latest() == []
            (view,) = await app.library.latest(archived=True)
            assert (view.title, view.archived, view.status) == ("My talk", True, "completed")
            await app.chats.archive(thread, False)
            await app.chats.rename(thread, None)
            (view,) = await app.library.latest()
            assert view.title.startswith("<script>")
            with pytest.raises(Refused):
                await app.chats.rename(thread, 3)

    asyncio.run(main())


# -- lineage ---------------------------------------------------------------------------------------------------------


def chat_record(talk):
    """A record of a chat that was moved by events."""
    view = ThreadView("t", "chat", "completed", "Title", None, talk.context["branch"], 0, 0.0, 0)
    return Record(view, talk.context)


def origins(talk):
    """The headings of an export, with the note below each."""
    sections = lineage.sections(talk.context)
    return [(section.name, section.origin, [text_of(one["parts"]) for one in section.messages]) for section in sections]


def test_a_fork_is_below_its_parent_whichever_is_current():
    talk = Talk().says("one", "two").do("fork", name="a", turn=1).do("confirm_fork").says("three")

    assert origins(talk) == [
        ("a", "forked from main in turn 1", ["one", "three"]),
        ("main", "shares 1 turn with a, above", ["two"]),
    ]
    assert origins(talk.do("switch", branch="main")) == [
        ("main", "", ["one", "two"]),
        ("a", "forked from main in turn 1, shares 1 turn with main, above", ["three"]),
    ]


def test_an_earlier_answer_is_left_behind_in_its_turn():
    talk = Talk(model="m").says("question").reply("first").do("retry").reply("second").do("retry").reply("third")

    assert origins(talk) == [
        ("main", "", ["question", "third"]),
        ("", "an earlier answer in turn 1 of main", ["first"]),
        ("", "an earlier answer in turn 1 of main", ["second"]),
    ]


def test_a_fork_from_an_earlier_answer_keeps_its_parent():
    talk = Talk(model="m").says("question").reply("first").do("fork", name="a").do("confirm_fork")
    talk.do("switch", branch="main").do("retry").reply("second")

    assert origins(talk)[1] == ("a", "forked from main after turn 1, shares 1 turn with main, above", ["first"])


def test_rewound_turns_stay_together_and_name_their_branch():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("two", "three").do("rewind", turns=2)
    talk.says("four")

    assert origins(talk)[-1] == ("", "on a, after turn 1", ["two", "three"])
    assert origins(Talk().says("one").do("rewind").says("two"))[-1] == ("", "an earlier beginning of main", ["one"])


def test_merged_messages_name_the_branch_they_come_from():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("theirs").do("switch", branch="main")
    talk.says("ours").do("merge").do("confirm_merge")
    text = to_markdown(chat_document(chat_record(talk)))
    assert "theirs\n\n*merged from a*\n" in text

    talk.do("switch", branch="a").says("more").do("switch", branch="main").says("rest")
    talk.do("merge", strategy="consensus").do("propose", text="Both.").do("confirm_merge")
    assert "Both.\n\n*joins main and a*\n" in to_html_text(talk)


def to_html_text(talk):
    """An export as HTML and as Markdown has the same notes."""
    assert "joins main and a" in to_html(chat_document(chat_record(talk)))
    return to_markdown(chat_document(chat_record(talk)))


def test_summaries_are_told_apart_from_what_was_left_behind():
    talk = Talk(model="m", strategy="summarise", summaries="plain", contextLimit=60)
    for number in range(4):
        talk.says(f"question {number} " * 8).reply(f"answer {number}")

    assert [origin for name, origin, _ in origins(talk) if not name] == ["summaries of earlier messages, for the model"]


def test_the_json_has_the_parent_and_the_branch_of_every_message():
    talk = Talk().says("one").do("fork", name="a").do("confirm_fork").says("two").do("switch", branch="main")
    talk.says("three").do("fork", **{"from": "m2"}, name="b").do("confirm_fork").says("four")
    archive = to_archive(chat_record(talk))

    lines = [(one["id"], one["parent"], one["branch"]) for one in archive["messages"].values()]
    assert lines == [("m1", None, "main"), ("m2", "m1", "a"), ("m3", "m1", "main"), ("m4", "m2", "b")]
    branch = archive["branches"]["b"]
    assert (branch["parent"], branch["forkPoint"], branch["head"]) == ("a", "m2", "m4")


def test_a_conversation_of_version_1_has_no_branches_in_its_messages():
    talk = Talk().says("one", "two").do("rewind").says("three")
    messages = {
        id: {key: value for key, value in message.items() if key != "branch"}
        for id, message in talk.context["messages"].items()
    }
    parts = lineage.sections({**talk.context, "messages": messages})

    assert parts[-1].origin == "on main, after turn 1"
