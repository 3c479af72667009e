"""Commands with a slash, typed by a person that the test plays; the rest is the whole stack."""

import argparse
import asyncio
import io
import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from antiphon import BlockingApp
from antiphon.cli.chat.composition import ChatRequest
from antiphon.cli.chat.reply_stats import metrics_line
from antiphon.cli.chat.session import open_chat
from antiphon.cli.chat.slash_commands import COMMANDS, run_slash_command
from antiphon.cli.chat.terminal import Terminal
from antiphon.cli.default_model import ModelChoice
from antiphon.cli.input.lines import Interrupted
from antiphon.cli.input.signals import Signals
from antiphon.cli.render.plain import PlainView
from antiphon.tools.mcp.config import load_servers
from tests.fixtures.chats import ECHO, echo_server, script
from tests.fixtures.screen import Screen


class ScriptedLines:
    """Types what it was told to, and then leaves."""

    def __init__(self, lines):
        self._lines = iter(lines)

    async def message(self, prompt):
        return await self.ask(prompt)

    async def ask(self, prompt):
        try:
            line = next(self._lines)
        except StopIteration:
            raise EOFError from None
        if line is Interrupted:
            raise Interrupted
        return line

    async def edit(self, text, suffix):
        return await self.ask("")

    def use_keys(self, keys):
        return keys == "vi"

    def hide(self):
        return nullcontext()

    def set_aside(self):
        pass


@pytest.fixture
def typed(tmp_path):
    """What is shown when these lines are typed."""
    model = script(tmp_path, [{"text": "First."}], [{"text": "Second."}], [{"text": "Third."}])

    def run(*lines, model=model, **given):
        shown = io.StringIO()
        unset = dict.fromkeys(("system", "mcp", "thread", "model", "max_tool_rounds", "max_cost", "max_time"))
        options = argparse.Namespace(**{**unset, "store": tmp_path / "store.db", "mode": "ask", "last": False, **given})
        options.no_store = False
        options.request = ChatRequest(None)
        options.servers = load_servers(options.mcp) if options.mcp is not None else ()

        async def hold():
            async with open_chat(options, ModelChoice(model), PlainView(shown)) as client:
                await Terminal(client, ScriptedLines(lines), Signals()).run(run_slash_command)

        asyncio.run(hold())
        return shown.getvalue()

    return run


def test_help_lists_every_command(typed):
    shown = typed("/help")

    assert [each.usage for each in COMMANDS.values() if each.usage not in shown or each.help not in shown] == []


@pytest.mark.parametrize(
    "line",
    [
        "/fork",
        "/branches",
        "/rewind",
        "/checkpoint",
        "/cost",
        "/retry",
        "/resume",
        "/tree",
        "/redo",
        "/show",
        "/history",
    ],
)
def test_before_anything_was_said_it_says_so(typed, line):
    assert "no messages yet; type a message first" in typed(line)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/frok", "unknown command /frok; did you mean /fork?"),
        ("/xyzzy", "unknown command /xyzzy; /help lists all commands"),
        ("/fork a 1 2", "usage: /fork [NAME] [TURN|MESSAGE]"),
        ("/fork a b", "'b' is neither a turn nor a message; usage: /fork [NAME] [TURN|MESSAGE]"),
        ("/fork x 9", "there is no turn 9; the branch has 1"),
        ("/fork main", "there is a branch 'main' already"),
        ("/switch", "usage: /switch BRANCH"),
        ("/switch x", "there is no branch 'x'"),
        ("/rewind 5", "cannot rewind 5 turns, the branch has 1"),
        ("/checkpoint m2", "'m2' is the name of a message or a number of turns; choose another name"),
        ("/checkpoint 1", "'1' is the name of a message or a number of turns; choose another name"),
        ("/rewind nowhere", "there is no checkpoint 'nowhere'"),
        ("/merge x", "there is no other open branch"),
        ("/merge", "usage: /merge BRANCH"),
        ("/model nonsense", "'nonsense' is not a model reference"),
        ("/redo", "there is no rewind to take back here; /tree shows every place to go to"),
        ("/tree none", "usage: /tree [all]"),
        ("/show 7", "there is no turn 7; the branch has 1"),
        ("/show m9", "there is no message 'm9'; /tree all shows them"),
        ("/history none", "usage: /history [N]"),
        ("/history 0", "usage: /history [N]"),
        ("/export t.pdf", "t.pdf: the name must end in .md, .html, .json"),
        ("/export", "usage: /export FILE"),
        ("/fork 'half", "there is a branch"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(typed, line, problem):
    if line == "/fork 'half":
        assert "on 'half, after turn 1" in typed("Hello", line)
        return
    assert problem in typed("Hello", line)


def test_the_same_question_is_asked_again(typed):
    shown = typed("Hello", "/retry", "/branches")

    assert shown.count("First.\n6 tokens in") == 2
    assert "* main: 1 turn · First." in shown


def test_another_model_answers_from_now_on_also_before_the_first_message(typed):
    shown = typed("/model", "/model scripted:chat", "Hello", "/model scripted:demo", "/new", "Hello again")

    assert "model: scripted:chat" in shown
    assert "I am a script that plays a gardener" in shown
    assert "model: scripted:demo" in shown
    assert "new conversation" in shown


def test_places_are_marked_and_gone_back_to_by_the_start_of_their_id(typed):
    shown = typed(
        "One", "/checkpoints", "/checkpoint", "/checkpoints", "Two", "/checkpoint named", "Three", "/rewind named"
    )

    assert "no checkpoints; create one with /checkpoint" in shown
    assert re.search(r"^c[0-9a-f]{16}  -  on main, turn 1$", shown, re.MULTILINE)
    assert shown.rstrip().endswith("* main: 2 turns · Second.")


def test_a_message_is_found_although_a_program_has_named_a_checkpoint_like_it(typed, tmp_path):
    typed("One", "Two")
    with BlockingApp(tmp_path / "store.db") as app:
        app.threads.perform(app.library.latest(1)[0].id, "checkpoint", name="m2")

    assert "on main, after turn 1" in typed("/rewind m2", last=True)


def test_conflicts_are_shown_and_decided_one_by_one(typed):
    same = ("Hello", "One", "/fork b 0", "One", "/switch main")
    shown = typed(*same, "/merge b", "x", "t", "y", "/branches")

    assert "conflict x1: question: one" in shown
    assert "  ours: One → Second.\n  theirs: One → First.\n" in shown
    assert shown.count("on main, after turn 2") == 2
    assert "b: 1 turn, forked after turn 0, merged into main" in shown


@pytest.mark.parametrize("ending", ["c", Interrupted])
def test_a_merge_that_is_not_wanted_changes_nothing(typed, ending):
    shown = typed("One", "/fork b 0", "Two", "/switch main", "/merge b", ending, "/branches")

    assert "merge cancelled" in shown
    assert "merged into" not in shown


def test_what_was_used_is_told(typed):
    assert re.search(r"1 reply · \d+ tokens in, \d+ out · \$0.00 · ", typed("Hello", "/cost"))


def test_requests_of_unknown_price_are_not_called_replies():
    """A proposal of a merge is a request without a reply."""
    metrics = {"replies": 5, "inputTokens": 600, "outputTokens": 300, "costUsd": 0.0, "unpriced": 6}

    line = metrics_line({**metrics, "durationMs": 900.0, "slowestMs": 200.0})

    assert line.startswith("5 replies · 600 tokens in, 300 out · $0.00 (price of 6 requests unknown) · ")


@pytest.mark.parametrize("suffix", ["md", "html", "json"])
def test_it_is_exported_into_a_new_file_only(typed, tmp_path, suffix):
    target = tmp_path / f"told.{suffix}"
    shown = typed("Hello", f"/export '{target}'", f"/export '{target}'")

    assert f"exported to {target}" in shown
    assert "not overwritten" in shown
    assert "First." in Path(target).read_text(encoding="utf-8")


def test_leaving_at_a_question_denies_and_stops(typed, tmp_path):
    (tmp_path / "other").mkdir()
    asking = script(tmp_path / "other", [{"tool": ECHO, "arguments": {"name": "x"}}])
    shown = typed("File it", Interrupted, "/branches", model=asking, mcp=Path(echo_server(tmp_path)))

    assert "permission denied; reply stopped" in shown
    assert "* main: 1 turn" in shown


def test_leaving_at_a_limit_stops_the_reply(typed, tmp_path):
    (tmp_path / "other").mkdir()
    calling = script(tmp_path / "other", [{"tool": "file", "arguments": {"name": "x"}}])
    shown = typed("File it", Interrupted, "/branches", model=calling, max_tool_rounds=2)

    assert shown.count("← file not called: There is no tool 'file'.") == 2
    assert "reply stopped at its limit" in shown


@pytest.mark.parametrize(
    ("settings", "answer", "again"),
    [
        ({"max_tool_rounds": 5}, "y", "limit reached: 10 tool rounds for this message"),
        ({"max_tool_rounds": 5}, "6", "limit reached: 6 tool rounds for this message"),
    ],
)
def test_a_higher_limit_is_taken_and_there_is_a_warning_before_it(typed, tmp_path, settings, answer, again):
    (tmp_path / "other").mkdir()
    calling = script(tmp_path / "other", [{"tool": "file", "arguments": {"name": "x"}}])
    shown = typed("File it", answer, "n", model=calling, **settings)

    assert "4 tool rounds of 5 tool rounds for this message" in shown
    assert again in shown


def test_quitting_ends_it(typed):
    assert "First." not in typed("/quit", "Hello")


FORKED = ("One", "/fork b", "Two", "/switch main", "Three")


@pytest.mark.requirement("S2-59")
def test_a_merge_by_consensus_shows_the_proposal_and_asks(typed):
    shown = typed(*FORKED, "/merge b consensus", "x", "y", "/branches")

    assert "asking the model for a proposal; Ctrl-C stops it\nproposal for b and main:\n" in shown
    assert "on main, after turn 2" in shown
    assert "b: 2 turns, forked after turn 1, merged into main" in shown


@pytest.mark.requirement("S2-59")
def test_a_proposal_is_requested_again_and_replaced_by_own_words(typed):
    shown = typed(*FORKED, "/merge b consensus", "r", "w", "", "Our own words.", "y", "/branches")

    assert shown.count("asking the model for a proposal") == 2
    assert "Our own words." in shown.partition("on main, after turn 2")[2]


@pytest.mark.requirement("S2-59")
@pytest.mark.parametrize("ending", ["c", Interrupted])
def test_a_proposal_that_is_not_wanted_changes_nothing(typed, ending):
    shown = typed(*FORKED, "/merge b consensus", ending, "/branches")

    assert "merge cancelled" in shown
    assert "merged into" not in shown


@pytest.mark.requirement("S2-59")
def test_a_model_that_fails_leaves_the_other_ways(typed, tmp_path):
    steps = [{"error": "1002", "message": "overloaded"}]
    model = script(tmp_path, [{"text": "First."}], [{"text": "Second."}], [{"text": "Third."}])
    shown = typed(*FORKED, model=model)
    script(tmp_path, steps)
    shown = typed("/merge b consensus", "y", "w", "Mine.", "y", "/branches", last=True, model=model)

    assert "no proposal: " in shown
    assert "Mine." in shown


@pytest.mark.requirement("S2-25")
def test_what_was_left_behind_is_listed_and_entered_again(typed):
    shown = typed("One", "Two", "/rewind", "Three", "/branches", "/rewind m4", "/fork back m6", "/branches")

    assert "  m4: left behind, on main, after turn 1 · Second." in shown
    assert "on main, after turn 2" in shown
    assert "* " in shown.rpartition("on back, after turn 2")[2]


@pytest.mark.requirement("S2-21")
def test_a_merged_branch_is_switched_to_again(typed):
    shown = typed(*FORKED, "/merge b", "y", "/switch b", "/branches")

    assert "on b, after turn 2" in shown
    assert "merged into" not in shown.rpartition("on b, after turn 2")[2]


def test_a_closed_branch_makes_room_and_is_opened_again(typed):
    shown = typed(*FORKED, "/switch main", "/close b", "/branches", "/switch b")

    assert "b is closed; /switch b opens it again" in shown
    assert "on b, after turn" in shown.rpartition("b is closed")[2]


def plan(path, action, **payload):
    """Plan a merge or a fork of the last chat in another process."""
    with BlockingApp(path) as app:
        app.threads.perform(app.library.latest()[0].id, action, **payload)


def test_a_planned_merge_is_continued_in_another_process(typed, tmp_path):
    typed(*FORKED)
    plan(tmp_path / "store.db", "merge", source="b")
    shown = typed("No", "/merge b", "/merge", "y", last=True)

    assert "a merge is planned; finish or cancel it first, in antiphon chat, with /merge" in shown
    assert "confirm_merge" not in shown
    assert "a merge of b is planned; /merge without a branch continues it" in shown
    assert "on main, after turn 3" in shown


@pytest.mark.requirement("S2-25")
def test_the_tree_is_drawn_and_its_places_are_entered(typed):
    shown = typed("One", "/checkpoint mark", "Two", "/rewind", "Three", "/tree", "/rewind m4", "/tree")
    first, _, second = shown.partition("on main, after turn 2\n")

    assert "├─○ m4 (left behind) Two\n◉ m6 (current: main) Three\ngo to a message with /rewind ID" in first
    assert "├─○ m6 (left behind) Three\n◉ m4 (current: main) Two\n" in second
    assert "● m2 (checkpoint mark) One\n" in second


@pytest.mark.parametrize(
    ("lines", "summary"),
    [
        (("/rewind m2",), "* idea: 1 turn, forked after turn 1"),
        (("/rewind 2",), "* idea: 0 turns, forked after turn 0"),
        (("/rewind m2", "Other", "/branches"), "*   idea: 2 turns, forked after turn 1"),
    ],
)
def test_a_branch_that_was_rewound_behind_its_fork_leaves_its_parent_there(typed, lines, summary):
    assert summary in typed("One", "Two", "/fork idea", *lines)


def test_a_rewind_is_taken_back(typed):
    shown = typed("One", "Two", "/rewind", "/rewind", "/redo", "/redo")

    assert "on main, after turn 2\nthere is no rewind to take back here" in shown


def test_turns_and_messages_are_printed_again(typed):
    shown = typed("One", "Two", "/show", "/show 1", "/show m1")

    assert re.findall(r"^### (You|Model) [^\n]*\n\n(\S+)", shown, re.MULTILINE) == [
        ("You", "Two"),
        ("Model", "Second."),
        ("You", "One"),
        ("Model", "First."),
        ("You", "One"),
    ]


def test_words_of_the_user_are_printed_as_they_were_typed_and_thinking_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")
    model = script(tmp_path, [{"thinking": "Let me see."}, {"text": "Yes.\n\n```\nunclosed"}], [{"text": "Again."}])
    with Screen("chat", "-m", model, columns=80, lines=50) as screen:
        for number, message in enumerate(("/usr/bin\n# two\n<b>", "Once more")):
            screen.wait(lambda number=number: screen.count("tokens in") == number and screen.rows[-1:] == ["> "])
            screen.paste(message)
            screen.press(b"\r")
        screen.wait(lambda: screen.count("tokens in") == 2 and screen.rows[-1:] == ["> "])
        screen.type("/history")
        screen.until_shown("You · ")
        screen.wait(lambda: screen.count("Again.") == 2 and screen.rows[-1:] == ["> "])
        rows = screen.all_rows
        screen.press(b"\x04")
        screen.end()

    text = "\n".join(rows).partition("You · ")[2]
    assert "\n/usr/bin\n# two\n<b>\n" in text
    assert "\nThinking: Let me see.\n" in text
    assert text.index("unclosed") < text.index("You · ") < text.index("Once more")


def test_the_last_turns_are_printed_and_the_others_are_named(typed):
    shown = typed("One", "Two", "Three", "/history 2")

    assert "turns 1 to 1 are not shown; show them with: /history 3" in shown
    assert shown.count("### You") == 2


def test_the_whole_history_is_printed_without_a_remark(typed):
    shown = typed("One", "Two", "/history")

    assert "not shown" not in shown
    assert shown.count("### You") == 2


def test_permissions_are_listed_and_taken_back_by_their_ids(typed, tmp_path):
    overrides = [{"decision": "allow", "pattern": pattern} for pattern in ("shell(ls*)", "fetch")]
    with BlockingApp(tmp_path / "store.db") as app:
        model = script(tmp_path, [{"text": "First."}])
        thread = app.threads.create("chat", model=model, consent={"mode": "ask", "overrides": overrides})
        app.threads.say(thread, "Hi")
        app.threads.until_idle(thread).wait()
        (first, second) = app.threads.permissions(thread)
    shown = typed(
        "/permissions", f"/revoke {first.id[:6]}", "/permissions", "/revoke all", "/permissions", thread=thread
    )

    assert f"{first.id}  shell(ls*)\n{second.id}  fetch\ntake one back with: /revoke {first.id}\n" in shown
    assert "no longer allowed without a question: shell(ls*)\n" in shown
    assert shown.index(f"/revoke {second.id}") < shown.index("no longer allowed without a question: fetch")
    assert "nothing is allowed beyond single calls\n" in shown


def test_a_permission_that_a_chat_does_not_have_is_not_taken_back(typed):
    shown = typed("Hi", "/permissions", "/revoke", "/revoke 12")

    assert "nothing is allowed beyond single calls\n" in shown
    assert "usage: /revoke PERMISSION, or all; /permissions lists them" in shown
    assert "there is no permission to take back" in shown
