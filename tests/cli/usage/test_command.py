"""`antiphon usage` sums the use of replies by day, model, kind and thread, also beside the owner of the store."""

import io
import json

import pytest

from antiphon import App
from antiphon.background_loop import BackgroundLoop, OpenOnLoop
from antiphon.cli.frame import UsageError
from antiphon.cli.main import main
from antiphon.cli.usage.command import DAY_MS, parse_since
from antiphon.cli.usage.table import bars, format_rows
from antiphon.runtime.records import Entry
from antiphon.threads.usage import UsageSum, UsedThread, reply_usages, sum_usage
from tests.fixtures.chats import script

NOW = 1_700_000_000_000


def entry(type, at=NOW, to="chat/reply", **facts):
    return Entry("t", 1, at, to, {"type": type, **facts})


def use(input, output):
    return {"input": input, "output": output}


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store with two chats of one reply each."""
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    model = script(tmp_path, [{"text": "Hi."}, {"usage": {"input": 1200, "output": 4}}])
    for text in ("One", "Two"):
        main(["chat", "-m", model, text])
    return tmp_path / "store.db"


def printed(capsys, *words):
    capsys.readouterr()
    assert main(["usage", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("by", "rows"), [("day", 1), ("model", 1), ("kind", 1), ("thread", 2)])
def test_replies_are_summed(store, by, rows, capsys):
    value = json.loads(printed(capsys, "--by", by, "--json"))

    assert len(value["rows"]) == rows
    assert value["total"] == {"replies": 2, "input": 2400, "output": 8, "costUsd": 0.0, "unpriced": 0}
    assert sum(row["input"] for row in value["rows"]) == 2400


def test_the_table_is_plain_where_there_is_no_terminal(store, capsys):
    lines = printed(capsys, "--by", "kind").splitlines()

    assert lines == [
        "       replies     in  out   cost",
        "chat         2  2,400    8  $0.00",
        "total        2  2,400    8  $0.00",
    ]


def test_threads_have_their_titles_and_are_limited(store, capsys):
    lines = printed(capsys, "--by", "thread", "--limit", "1").splitlines()

    assert len(lines) == 3
    assert lines[1].endswith(("One", "Two"))


def test_it_reads_beside_the_owner_of_the_store(store, capsys):
    with BackgroundLoop() as background, OpenOnLoop(background, App(store)):
        assert "2,400" in printed(capsys)


def test_an_empty_store_and_none_at_all(store, tmp_path, capsys):
    assert main(["usage", "--store", str(tmp_path / "none.db")]) == 2
    assert "store not found" in capsys.readouterr().err
    main(["threads", "delete", "last", "--yes"])
    main(["threads", "delete", "last", "--yes"])

    assert printed(capsys) == "nothing was used since 30d\n"


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("all", 0),
        ("2d", NOW - 2 * DAY_MS),
        ("12h", NOW - DAY_MS // 2),
        ("1w", NOW - 7 * DAY_MS),
        ("1970-01-02", DAY_MS),
    ],
)
def test_a_begin_is_a_span_a_day_or_all(text, since):
    assert parse_since(text, NOW) == since


@pytest.mark.parametrize("text", ["", "d", "-1d", "2026-13-01", "yesterday", "99999999d"])
def test_another_begin_is_refused(text):
    with pytest.raises(UsageError, match="it must be like 7d"):
        parse_since(text, NOW)


def test_a_reply_counts_once_with_its_last_report():
    entries = [
        entry("REQUEST_STARTED"),
        entry("USAGE", usage=use(5, 1), costUsd=0.1),
        entry("COMPLETE", usage=use(6, 3), costUsd=0.2),
    ]

    assert [reply[1:] for reply in reply_usages(entries)] == [(6, 3, 0.2)]


def test_a_reply_that_was_cut_counts_with_what_it_had_used():
    entries = [
        entry("USAGE", usage=use(5, 1), costUsd=0.1),
        entry("REQUEST_STARTED"),
        entry("USAGE", usage=use(7, 2), costUsd=0.3),
        entry("ERROR"),
        entry("ERROR"),
        entry("USAGE", usage=use(1, 1), costUsd=None),
    ]

    assert [reply[1:] for reply in reply_usages(entries)] == [(5, 1, 0.1), (7, 2, 0.3), (1, 1, None)]


def test_replies_belong_to_the_model_that_was_chosen_then_and_to_their_day():
    entries = [
        entry("COMPLETE", NOW - 2 * DAY_MS, usage=use(1, 1), costUsd=1.0),
        entry("use_model", to="chat", model="b:2"),
        entry("COMPLETE", NOW, usage=use(2, 2), costUsd=None),
    ]
    thread = UsedThread("t", "chat", "b:2", {"model": "a:1"}, entries)

    assert sum_usage([thread], "model", 0) == {"a:1": UsageSum(1, 1, 1, 1.0), "b:2": UsageSum(1, 2, 2, 0.0, 1)}
    assert [*sum_usage([thread], "day", 0)] == ["2023-11-12", "2023-11-14"]
    assert [*sum_usage([thread], "model", NOW - DAY_MS)] == ["b:2"]


def test_bars_show_costs_or_tokens_where_there_is_room():
    sums = [UsageSum(cost_usd=2.0), UsageSum(cost_usd=1.0), UsageSum(cost_usd=0.0001), UsageSum()]

    assert bars(sums, 30, 20) == ["██████████", "█████", "▏", ""]
    assert bars([UsageSum(input=4), UsageSum(output=1)], 30, 20) == ["██████████", "██▌"]
    assert bars(sums, 20, 15) == [""] * 4
    assert bars(sums, None, 0) == [""] * 4


def test_no_line_is_wider_than_the_terminal_and_unknown_prices_are_named():
    lines = format_rows({"m" * 30: UsageSum(1, 2, 3, 0.5, 1)}, UsageSum(), {}, 40)

    assert max(map(len, lines)) == 40
    assert "$0.50 + 1 of unknown price" in format_rows({"m": UsageSum(2, 2, 3, 0.5, 1)}, UsageSum(), {}, None)[1]
