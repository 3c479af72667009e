"""What is shown of a reply: finished Markdown for good, the rest redrawn, and nothing that a terminal obeys."""

import asyncio
import io
import logging

import pyte
import pytest
from rich.console import Console

from antiphon.chat.attempts import Attempt
from antiphon.cli.chat.printer import ReplyPrinter
from antiphon.cli.chat.reply_stats import ReplyStats
from antiphon.cli.render.calls import format_arguments
from antiphon.cli.render.plain import NullView, PlainView, TextView, can_draw
from antiphon.cli.render.refresh import auto_refresh
from antiphon.cli.render.rich import RichView
from antiphon.cli.render.text_width import sanitize_lines
from antiphon.threads.activity import Activity


class Clock:
    """Time that passes when it is told to."""

    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


class Written(io.StringIO):
    """What was written, and how often."""

    times = 0

    def write(self, text):
        self.times += 1
        return super().write(text)


def on_a_console(columns=40, **options):
    written, clock = Written(), Clock()
    console = Console(file=written, force_terminal=True, width=columns, height=10, color_system=None, highlight=False)
    return written, clock, RichView(console, now=clock, **options)


def lasting(written, columns=200):
    """What is on the screen at last."""
    screen = pyte.Screen(columns, 1000)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(written.getvalue())
    return "\n".join(line.rstrip() for line in screen.display).rstrip().split("\n")


def happening(kind, at=0, **facts):
    return Activity(1, at, kind, facts)


def test_finished_blocks_stay_and_are_written_once():
    written, clock, view = on_a_console()
    view.begin()
    for piece in ("First ", "paragraph.\n\n", "Second", " paragraph."):
        clock.at += 1
        view.text(piece)
    view.end()

    assert lasting(written) == ["First paragraph.", "", "Second paragraph."]


def test_it_is_redrawn_ten_times_a_second_at_most():
    written, clock, view = on_a_console()
    view.begin()
    before = written.times
    for _ in range(1000):
        clock.at += 0.001
        view.text("word ")

    assert 8 <= written.times - before <= 11
    view.end()


@pytest.mark.parametrize("piece", ["word ", "code = 1\n"])
def test_finished_lines_are_written_once_while_their_block_grows(piece):
    written, clock, view = on_a_console()
    view.begin()
    if piece.endswith("\n"):
        view.text("```python\n")
    for number in range(60):
        clock.at += 1
        view.text(f"{number:03} {piece}")
    view.end()

    numbers = [word for word in " ".join(lasting(written)).split() if len(word) == 3 and word.isdigit()]
    assert numbers == [f"{number:03}" for number in range(60)]
    assert written.getvalue().count("002") < 10


def test_what_is_redrawn_stays_small_however_long_the_block():
    written, clock, view = on_a_console()
    view.begin()
    view.text("word " * 20_000)
    before = len(written.getvalue())
    clock.at += 1
    view.refresh()

    assert len(written.getvalue()) - before < 2_000
    view.end()


def test_on_a_narrow_terminal_no_line_is_too_long():
    written, _, view = on_a_console(columns=40)
    view.begin()
    view.text("A paragraph with more than forty characters in it, and a list:\n\n- of one item that is long as well\n")
    view.line("a note that is also much longer than forty characters can be")
    view.end()

    assert max(len(line) for line in lasting(written)) <= 40


def test_a_thought_is_folded_unless_it_is_wanted():
    written, _, view = on_a_console()
    shown, _, wanted = on_a_console(show_thinking=True)
    for each in (view, wanted):
        each.begin()
        each.thinking("Secret thoughts.\n\n")
        each.end_thinking(2.1)
        each.end()

    assert "thought for 2.1 s" in written.getvalue()
    assert "Secret" not in written.getvalue()
    assert "Secret thoughts." in shown.getvalue()


@pytest.mark.parametrize("make", [lambda file: RichView(Console(file=file, width=80, color_system=None)), PlainView])
def test_no_view_lets_a_model_control_the_terminal(make):
    written = io.StringIO()
    view = make(written)
    view.begin()
    view.text("a\x1b]0;evil\x07b [link](https://x.example)\n\n`\x9b2J`\n")
    view.line("tool\x1b[2J \u202e", "tool")
    view.thinking("\x1b[2J")
    view.markdown("\x1b[2J")
    view.end()

    shown = written.getvalue()
    assert not any(character in shown for character in "\x07\x9b\u202e")
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_lines_tabs_and_joined_emoji_survive():
    assert sanitize_lines("a\tb\n👩\u200d🚀\r\x00") == "a\tb\n👩\u200d🚀"


def test_plain_text_ends_with_a_line_of_its_own_before_notes():
    out, notes = io.StringIO(), io.StringIO()
    view = PlainView(out, notes)
    view.text("words")
    view.end_thinking(1.0)
    view.line("note")
    view.text("more\n")
    view.end()

    assert (out.getvalue(), notes.getvalue()) == ("words\nmore\n", "thought for 1.0 s\nnote\n")


def test_all_views_can_be_shown_to():
    views: list[TextView] = [NullView(), PlainView(io.StringIO()), on_a_console()[2]]
    for view in views:
        view.begin()
        view.text("x")
        view.thinking("x")
        view.end_thinking(1)
        view.line("x")
        view.markdown("x")
        view.refresh()
        view.end()


@pytest.mark.parametrize(("term", "smart"), [("xterm", True), ("dumb", False), ("", False)])
def test_a_terminal_is_drawn_on_if_it_can_be(term, smart):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    assert can_draw(Terminal(), {"TERM": term}) is smart
    assert not can_draw(io.StringIO(), {"TERM": term})


def told(*happened, attempt=None):
    out = io.StringIO()
    printer = ReplyPrinter(PlainView(out))
    for one in happened:
        printer.print(one, attempt)
    return out.getvalue(), printer.stats


def test_a_tool_is_told_with_its_arguments_its_time_and_how_it_ended():
    text, _ = told(
        happening("tool_called", id="c1", name="file", input={"name": "letter", "copies": 2}),
        happening("replied", 1000, usage={}, costUsd=0.0),
        happening("tool_ended", 3500, call=0, failed=False, result={"callId": "c1", "parts": [{"text": "filed"}]}),
        happening("tool_ended", 4000, call=0, failed=True, result={"message": "lost"}),
        happening("tool_ended", 4000, call=7, failed=True, result=None),
    )

    assert text.splitlines() == [
        '→ file(name="letter", copies=2)',
        "← file ok in 2.5 s: filed",
        "← file failed in 3.0 s: lost",
        "← call 7 failed in 3.0 s",
    ]


def test_a_retry_is_told_with_when_and_why_and_a_failure_with_what_to_do():
    text, stats = told(
        happening("retrying", message="overloaded", code="1002"),
        happening("reply_failed", error={"message": "overloaded", "code": "1002", "recoverable": True}),
        happening("reply_failed", error={"message": "no key", "code": "2001", "recoverable": False}),
        attempt=Attempt(2, 4, 1800),
    )

    assert text.splitlines() == [
        "attempt 2 of 4 in 1.8 s: overloaded",
        "failed: overloaded (1002); try again with /retry",
        "failed: no key (2001)",
    ]
    assert stats.error["code"] == "2001"


def test_a_failure_without_another_attempt_is_told_once():
    text, _ = told(happening("retrying", message="overloaded", code="1002"))

    assert text == ""


def test_a_thought_is_timed_by_the_journal():
    text, _ = told(happening("thinking", 1000, text="Hm"), happening("usage", 2000), happening("text", 3100, text="So"))

    assert text.splitlines()[0] == "thought for 2.1 s"


def test_the_line_at_the_end_has_tokens_cost_and_times():
    stats = ReplyStats()
    for one in (
        happening("status", 1000, status="running"),
        happening("text", 1400, text="Hi"),
        happening("replied", 2000, usage={"input": 1200, "output": 5}, costUsd=0.012),
        happening("status", 3000, status="completed"),
    ):
        stats.add(one)

    assert stats.line() == "1,200 tokens in, 5 out · $0.0120 · 2.0 s · first token after 0.4 s"


def test_a_reply_that_was_cut_costs_what_it_had_used_and_an_unknown_price_is_said():
    stats = ReplyStats()
    stats.add(happening("usage", usage={"input": 10, "output": 2}, costUsd=None))
    stats.add(happening("status", status="stopped"))

    assert (stats.tokens_in, stats.tokens_out, stats.cost_text) == (10, 2, "price unknown")
    assert format_arguments({"text": "x" * 100}).endswith("…")
    assert (format_arguments(None), format_arguments("raw")) == ("", "raw")


def test_a_warning_of_the_package_takes_the_place_of_what_is_drawn(capsys):
    written, _, view = on_a_console()

    async def work():
        async with auto_refresh(view):
            logging.getLogger("antiphon.providers").warning("no price is known")
            await asyncio.sleep(0)

    asyncio.run(work())

    assert lasting(written) == ["no price is known"]
    assert capsys.readouterr().err == ""
