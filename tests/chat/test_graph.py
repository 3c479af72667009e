"""The graph of a chat: every place of it has a row, and the current branch is the trunk."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.chat.graph import chat_graph
from antiphon.chat.lineage import forward_end
from antiphon.threads.export.graph import GraphBlock, GraphRow, graph_lines, graph_svg
from tests.fixtures.conversations import Talk, law
from tests.paths import DOCS


def answered(talk, *questions):
    for question in questions:
        talk.says(question).reply(f"On {question}.")
    return talk


def lines_of(talk, **wanted):
    return graph_lines(chat_graph(talk.context, **wanted))


def forked(talk, name, **place):
    return talk.do("fork", name=name, **place).do("confirm_fork")


def test_a_turn_is_one_row_with_the_id_of_its_last_message():
    talk = answered(Talk(model="scripted"), "One", "Two")

    assert lines_of(talk) == ["● m2 One", "◉ m4 (current: main) Two"]


def test_the_current_branch_is_the_column_at_the_left():
    talk = answered(forked(answered(Talk(model="scripted"), "One", "Two"), "idea", turn=1), "Three", "Four")

    assert lines_of(talk) == [
        "● m2 One",
        "├─● m4 (main) Two",
        "● m6 Three",
        "◉ m8 (current: idea) Four",
    ]


@pytest.mark.requirement("S2-25")
def test_a_rewound_turn_is_left_behind_in_the_graph():
    talk = answered(answered(Talk(model="scripted"), "One", "Two").do("rewind", turns=1), "Three")

    assert lines_of(talk) == ["● m2 One", "├─○ m4 (left behind) Two", "◉ m6 (current: main) Three"]


def test_an_answer_that_was_replaced_has_a_row():
    talk = answered(Talk(model="scripted"), "One").do("retry").reply("Better.")

    assert lines_of(talk) == ["● m1 One", "├─○ m2 (left behind) On One.", "◉ m3 (current: main) Better."]


def test_checkpoints_are_named_and_one_at_the_beginning_has_a_row():
    talk = (
        answered(Talk(model="scripted"), "One")
        .do("checkpoint", name="mark")
        .do("rewind", turns=1)
        .do("checkpoint", name="zero")
    )

    assert lines_of(talk) == ["◉ beginning (current: main; checkpoint zero)", "○ m2 (checkpoint mark; left behind) One"]


@pytest.mark.requirement("S2-21")
def test_a_merge_joins_the_head_of_the_branch_that_was_merged():
    talk = answered(forked(answered(Talk(model="scripted"), "One"), "idea"), "Idea").do("switch", branch="main")
    talk = answered(talk, "Two").do("merge", source="idea").do("confirm_merge")
    rows = chat_graph(talk.context)

    assert graph_lines(rows) == [
        "● m2 One",
        "├─● m4 (idea, merged into main) Idea",
        "● m6 Two",
        "◉ m8 (current: main; merged from idea) Idea",
    ]
    assert rows[3].joins == 1


def test_a_closed_branch_is_marked_as_closed():
    talk = (
        answered(forked(answered(Talk(model="scripted"), "One"), "idea"), "Idea")
        .do("switch", branch="main")
        .do("close", branch="idea")
    )

    assert "● m4 (idea, closed) Idea" in lines_of(talk)


def test_a_long_stretch_is_a_gap_unless_all_is_wanted():
    talk = answered(Talk(model="scripted"), *(f"Q{number}" for number in range(1, 8)))

    assert lines_of(talk) == ["● m2 Q1", "⋮ 5 turns, m4 to m12", "◉ m14 (current: main) Q7"]
    assert len(lines_of(talk, is_complete=True)) == 7


def test_a_chat_without_messages_has_a_beginning():
    assert lines_of(Talk()) == ["◉ beginning (current: main)"]


def test_a_long_question_is_shortened_and_one_without_words_is_named_by_its_role():
    talk = Talk().do("message", parts=[{"type": "image", "mediaType": "image/png", "data": "aa=="}])

    assert "[user]" in lines_of(talk)[0]
    assert lines_of(answered(Talk(model="scripted"), "word " * 50))[0].endswith("…")


def test_words_of_a_conversation_are_inert_in_the_picture():
    svg = graph_svg(GraphBlock("<b>", [GraphRow("<script>alert(1)</script>", None, 0)]))

    assert "<script>" not in svg
    assert "<title>&lt;b&gt;</title>" in svg


def test_a_rewind_is_taken_back_by_the_message_it_came_from():
    talk = answered(Talk(model="scripted"), "One", "Two", "Three").do("rewind", turns=2).do("rewind", turns=1)

    assert forward_end(talk.context) == "m6"
    assert forward_end(talk.do("rewind", message="m6").context) is None


def test_a_rewind_is_taken_back_on_its_own_branch():
    talk = answered(forked(answered(Talk(model="scripted"), "One", "Two"), "idea"), "Idea").do("switch", branch="main")
    talk.do("rewind", turns=1)

    assert forward_end(talk.context) == "m4"
    assert forward_end(talk.do("switch", branch="idea").do("rewind", turns=1).context) == "m6"


def test_a_rewind_behind_the_fork_of_an_empty_branch_leads_back_to_the_fork():
    talk = forked(answered(Talk(model="scripted"), "One", "Two"), "idea").do("rewind", turns=2)

    assert forward_end(talk.context) == "m4"


def test_what_follows_on_other_branches_is_not_a_rewind():
    talk = answered(forked(answered(Talk(model="scripted"), "One"), "idea"), "Idea").do("switch", branch="main")

    assert forward_end(talk.context) is None


def test_the_page_on_the_terminal_shows_a_graph_as_it_is():
    talk = answered(Talk(model="scripted"), "What is a monad?").do("checkpoint", name="mark")
    talk = answered(forked(answered(talk, "And in Haskell?"), "idea", turn=1), "And in Python?", "Shorter, please")
    talk.do("rewind", turns=1).do("switch", branch="main").do("merge", source="idea").do("confirm_merge")

    assert "\n".join(["```text", *lines_of(talk), "```"]) in (DOCS / "chat.md").read_text(encoding="utf-8")


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 9)),
        st.tuples(st.just("rewind"), st.integers(1, 3)),
        st.tuples(st.just("fork"), st.integers(0, 3)),
        st.tuples(st.just("switch"), st.integers(0, 3)),
        st.tuples(st.just("merge"), st.integers(0, 3)),
        st.tuples(st.just("retry"), st.just(0)),
        st.tuples(st.just("checkpoint"), st.just(0)),
    ),
    max_size=25,
)


def play(talk, step, number):
    names = [*talk.context["branches"], *talk.context["closed"]]
    match step:
        case "say":
            answered(talk, f"Q{number}")
        case "rewind":
            talk.do("rewind", turns=number)
        case "fork":
            forked(talk, f"b{len(names)}", turn=number)
        case "switch":
            talk.do("switch", branch=names[number % len(names)])
        case "merge":
            talk.do("merge", source=names[number % len(names)], strategy="interleave").do("confirm_merge")
            talk.do("cancel_merge")
        case "retry":
            talk.do("retry")
            if talk.context.get("reply"):
                talk.reply("Again.")
        case "checkpoint":
            talk.do("checkpoint")


@law
@given(STEPS)
def test_every_head_and_checkpoint_has_a_row_and_lines_never_cross(steps):
    talk = Talk(model="scripted", maxBranches=20)
    for step, number in steps:
        play(talk, step, number)
    chat = talk.context
    rows = chat_graph(chat, is_complete=True)
    heads = {branch["head"] for branch in (*chat["branches"].values(), *chat["closed"].values())}
    heads |= {checkpoint["head"] for checkpoint in chat["checkpoints"].values()}
    ids = {re.match(r"m\d+|beginning", row.text)[0] for row in rows}

    assert {head or "beginning" for head in heads} <= ids
    assert sum(row.kind == "current" for row in rows) == 1
    for number, row in enumerate(rows):
        assert row.parent is None if number == 0 else row.parent < number
        # Between a row and its parent, only rows further to the right: no line crosses another.
        if row.parent is not None:
            between = rows[row.parent + 1 : number]
            assert all(other.column > rows[row.parent].column for other in between)
