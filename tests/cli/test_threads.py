"""`antiphon threads` lists, shows, finds, exports, imports, puts away and deletes; reading needs no ownership."""

import asyncio
import io
import json
import sqlite3

import pytest

from antiphon.app import App
from antiphon.cli.main import main
from antiphon.cli.records import cost_text
from antiphon.messages import Usage
from antiphon.providers.base import Model, TextDelta, UsageDelta
from antiphon.runtime.errors import StoreError
from antiphon.stores.maintenance import remove
from antiphon.stores.ownership import FileLock
from tests.fixtures.chats import Teller, script
from tests.fixtures.scripted_team import says, team
from tests.fixtures.scripted_team import script as team_script


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path / "store.db"


@pytest.fixture
def thread(tmp_path, capsys):
    """A conversation about cheese."""
    return ask(tmp_path, capsys, "Which cheese?", "Ementaler, \x1b[31m of course.")


def ask(folder, capsys, question, answer):
    main(["chat", "--json", "-m", script(folder, [{"text": answer}]), question])
    return json.loads(capsys.readouterr().out.splitlines()[-1])["thread"]


def threads(capsys, *words):
    code = main(["threads", *map(str, words)])
    return code, *capsys.readouterr()


def test_conversations_are_listed_the_latest_first(tmp_path, capsys, thread):
    other = ask(tmp_path, capsys, "Which wine?", "Red.")
    _, out, _ = threads(capsys, "list")
    code, few, _ = threads(capsys, "list", "--limit", 1)

    assert [line[:8] for line in out.splitlines()] == [other, thread]
    assert (code, few.splitlines()[0][:8], len(few.splitlines())) == (0, other, 1)
    assert "Which cheese? (chat, completed, 1 turn, $0.00; scripted:" in out


def test_a_long_id_is_shortened_unless_another_begins_so(store, capsys):
    async def create():
        async with App(store) as app:
            for id in ("aaaaaaaa0000000000000001", "bbbbbbbb0000000000000001", "bbbbbbbb0000000000000002"):
                await app.threads.create("chat", model="scripted:demo", id=id)

    asyncio.run(create())
    out = threads(capsys, "list")[1]
    records = json.loads(threads(capsys, "list", "--json")[1])

    shown = {line.split()[0] for line in out.splitlines()}
    assert shown == {"aaaaaaaa", "bbbbbbbb0000000000000001", "bbbbbbbb0000000000000002"}
    assert {len(record["id"]) for record in records} == {24}


def test_a_run_is_listed_by_its_task_and_shown_without_harm(tmp_path, capsys, store):
    async def work():
        async with App(store) as app:
            model = team_script(tmp_path, says("developer", "Done."))
            id = await app.runs.create(team("developer"), model=model, arbiter={"kind": "rules"})
            receipt = await app.runs.start(id, "Write \x1b[31madd.py")
            async for _ in app.runs.until_idle(id, receipt.seq - 1):
                pass
            return id

    id = asyncio.run(work())
    _, out, _ = threads(capsys, "list")
    code, shown, _ = threads(capsys, "show", id)

    assert out.startswith(id)
    assert "[31madd.py (run, completed, 1 turn, $0.00; scripted:" in out
    assert (code, "\x1b" in out + shown) == (0, False)
    assert shown.startswith("# Write [31madd.py")
    for format in ("md", "html", "json"):
        assert threads(capsys, "export", id, "--format", format)[0] == 0


def test_a_conversation_is_shown_by_the_start_of_its_id_and_harmlessly(capsys, thread):
    code, out, _ = threads(capsys, "show", thread[:6])

    assert code == 0
    assert "# Which cheese?" in out
    assert "Ementaler, [31m of course." in out


def test_a_branch_that_is_not_there_is_misuse(capsys, thread):
    code, _, err = threads(capsys, "show", thread, "--branch", "x")

    assert (code, err) == (2, "antiphon threads: unknown branch 'x'; branches: main\n")


def test_the_tree_of_a_conversation_is_drawn(capsys, thread):
    code, out, _ = threads(capsys, "show", thread, "--tree")

    assert (code, out) == (0, "◉ m2 (current: main) Which cheese?\n")


def test_shown_as_json_it_is_the_export(capsys, thread):
    _, out, _ = threads(capsys, "show", thread, "--json")
    _, exported, _ = threads(capsys, "export", thread, "--format", "json")

    assert json.loads(out) == json.loads(exported)


@pytest.mark.requirement("X-9")
def test_what_was_said_is_found_whatever_the_case(capsys, thread):
    code, out, _ = threads(capsys, "search", "ementaler,")
    missing, nothing, _ = threads(capsys, "search", "gouda")

    assert (code, missing, nothing) == (0, 1, "no matches\n")
    assert out.startswith(thread)
    assert "Ementaler, " in out


@pytest.mark.requirement("X-9")
@pytest.mark.parametrize(("name", "text"), [("t.md", "# Which"), ("t.html", "<!doctype html>"), ("t.json", "{\n")])
def test_a_conversation_is_written_in_the_format_of_the_name(tmp_path, capsys, thread, name, text):
    target = tmp_path / name
    code, out, _ = threads(capsys, "export", thread, "--to", target)
    again, _, err = threads(capsys, "export", thread, "--to", target)

    assert (code, out) == (0, f"exported to {target}\n")
    assert target.read_text(encoding="utf-8").startswith(text)
    assert again == 2
    assert "not overwritten" in err


def test_an_export_is_imported_as_a_new_conversation_that_goes_on(tmp_path, capsys, thread):
    target = tmp_path / "t.json"
    threads(capsys, "export", thread, "--to", target)
    code, out, _ = threads(capsys, "import", target)
    main(["chat", "--thread", out.strip(), "--model", script(tmp_path, [{"text": "Red."}]), "And wine?"])
    capsys.readouterr()
    _, told, _ = threads(capsys, "show", out.strip())

    assert code == 0
    assert out.strip() != thread
    assert all(word in told for word in ("Which cheese?", "Ementaler", "And wine?"))


def test_a_file_that_is_wrong_changes_nothing(tmp_path, capsys, thread):
    target = tmp_path / "t.json"
    threads(capsys, "export", thread, "--to", target)
    target.write_text(target.read_text(encoding="utf-8").replace("Ementaler", "Gouda"), encoding="utf-8")
    code, _, err = threads(capsys, "import", target)
    _, listed, _ = threads(capsys, "list", "--all")

    assert code == 1
    assert "messages.m2.hash: does not fit what was said" in err
    assert "nothing imported" in err
    assert len(listed.splitlines()) == 1


def test_what_was_put_away_is_not_listed_until_it_is_asked_for(capsys, thread):
    code, out, _ = threads(capsys, "archive", thread)
    _, listed, _ = threads(capsys, "list")
    _, every, _ = threads(capsys, "list", "--all")
    _, put_away, _ = threads(capsys, "list", "--archived")
    threads(capsys, "unarchive", thread)
    _, back, _ = threads(capsys, "list")

    assert (code, out) == (0, f"archived {thread}\n")
    assert listed.startswith("no conversations yet")
    assert "archived" in every
    assert every == put_away
    assert back.startswith(thread)


def test_the_last_to_be_taken_out_again_is_the_latest_archived_one(tmp_path, capsys, thread):
    other = ask(tmp_path, capsys, "Which wine?", "Red.")
    threads(capsys, "archive", "last")
    _, taken, _ = threads(capsys, "unarchive", "last")
    code, _, err = threads(capsys, "unarchive", "last")

    assert taken == f"unarchived {other}\n"
    assert (code, err) == (1, "antiphon threads: no archived threads\n")


def test_deleting_asks_and_says_how_to_keep_a_copy(capsys, thread, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    code, out, err = threads(capsys, "delete", thread)

    assert (code, out) == (0, "nothing deleted\n")
    assert f"antiphon threads export {thread} --to {thread}.json" in err


def test_a_deleted_conversation_leaves_nothing(tmp_path, capsys, thread, store):
    other = ask(tmp_path, capsys, "Which wine?", "Red.")
    code, _, _ = threads(capsys, "delete", thread[:5], "--yes")
    missing, _, err = threads(capsys, "show", thread)

    assert (code, missing) == (0, 1)
    assert f"unknown thread '{thread}'" in err
    with sqlite3.connect(store) as connection:
        assert [row[0] for row in connection.execute("select id from actor")] == [other]
        for table in ("snapshot", "entry", "letter", "task", "dead_letter"):
            orphans = f"select count(*) from {table} where actor not in (select n from actor)"
            assert connection.execute(orphans).fetchone() == (0,)
    connection.close()


def test_removing_what_is_not_there_says_so(store, capsys, thread):
    assert remove(store, "nobody") is False
    with pytest.raises(StoreError, match="there is no such file"):
        remove(store.with_name("none.db"), "nobody")


def test_what_another_process_runs_is_read_but_not_deleted(capsys, thread, store):
    ownership = FileLock(store)
    ownership.take()
    try:
        read, _, _ = threads(capsys, "show", thread)
        code, _, err = threads(capsys, "delete", thread, "--yes")
    finally:
        ownership.release()

    assert (read, code) == (0, 1)
    assert str(store) in err


def test_a_start_that_many_ids_have_is_ambiguous(tmp_path, capsys, monkeypatch):
    ids = iter(("aa000001", "aa000002"))
    monkeypatch.setattr("antiphon.threads.service.secrets.token_hex", lambda size: next(ids))
    ask(tmp_path, capsys, "Which cheese?", "Ementaler.")
    ask(tmp_path, capsys, "Which wine?", "Red.")
    code, _, err = threads(capsys, "show", "aa")

    assert code == 2
    assert "'aa' matches 2 threads" in err


@pytest.mark.parametrize("words", [[], ["list"], ["show", "x"], ["delete", "x"]])
def test_without_a_store_it_says_how_to_name_one(capsys, words):
    code, _, err = threads(capsys, *words)

    assert code == 2
    assert "choose another with --store or ANTIPHON_STORE" in err


@pytest.mark.parametrize(
    "words", [["list", "--limit", "0"], ["list", "--all", "--archived"], ["lists"], ["export", "x", "--format", "pdf"]]
)
def test_misuse_exits_with_two(words):
    with pytest.raises(SystemExit) as caught:
        main(["threads", *words])

    assert caught.value.code == 2


def test_a_list_continues_after_the_cursor_of_its_last_page(capsys, thread):
    _, first, hint = threads(capsys, "list", "--limit", "1")
    cursor = json.loads(threads(capsys, "list", "--json")[1])[0]["cursor"]

    assert hint == f"next page: --after {cursor}\n"
    assert first.startswith(thread)
    assert threads(capsys, "list", "--after", cursor) == (0, "no more\n", "")


def test_a_list_is_filtered_by_kind_status_and_owner(capsys, thread):
    assert threads(capsys, "list", "--status", "completed", "--kind", "chat", "--owner", "")[1].startswith(thread)
    for wrong in (("--status", "failed"), ("--kind", "run"), ("--owner", "ann")):
        assert threads(capsys, "list", *wrong)[:2] == (0, "no such conversations\n")


def test_a_text_that_is_no_cursor_is_wrong_usage(capsys, thread):
    code, _, err = threads(capsys, "list", "--after", "x")

    assert code == 2
    assert "'x' is not a cursor of a list" in err


def test_an_empty_id_names_no_thread(capsys, thread):
    code, _, err = threads(capsys, "delete", "--yes", "")

    assert (code, "the id of the thread is empty" in err) == (2, True)
    assert threads(capsys, "show", thread)[0] == 0


def test_an_export_on_a_terminal_has_no_escape_sequences(capsys, thread, monkeypatch):
    assert "\x1b[31m" in threads(capsys, "export", thread)[1]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)

    code, out, _ = threads(capsys, "export", thread)

    assert (code, "\x1b" in out, "of course." in out) == (0, False, True)


def test_an_unknown_price_is_listed_as_unknown(store, capsys):
    teller = Teller([UsageDelta(Usage(90, 10), "unpriced"), TextDelta("Brie.")])
    teller.model = Model("openai:unpriced", "openai", "unpriced")

    async def work():
        async with App(store, models=teller.models) as app:
            chat = await app.chats.create(model="scripted:teller")
            await app.chats.say(chat, "Which cheese?")
            await app.chats.until_idle(chat)

    asyncio.run(work())

    assert "(chat, completed, 1 turn, price unknown; " in threads(capsys, "list")[1]
    assert json.loads(threads(capsys, "list", "--json")[1])[0]["unpriced"] == 1


def test_a_known_part_of_a_cost_is_listed_beside_unknown_prices():
    assert cost_text(0.5, 0) == "$0.50"
    assert cost_text("0.50", 2) == "$0.50 and unknown prices"
