"""Lines of a growing paragraph are printed for good when words that follow cannot change them."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from antiphon.cli.render.markdown import ReplyMarkdown, render_lines
from antiphon.cli.render.paragraphs import KEPT, finished_lines

WORDS = ("word", "long-word", "**bold**", "**two", "words**", "`code`", "`a", "b`", "[link](x)", "[a", "b](y)", "2 * 3")


def render(text, columns=24):
    console = Console(file=io.StringIO(), width=columns, color_system=None)
    return render_lines(console, ReplyMarkdown(text), columns)


def texts(lines):
    return ["".join(segment.text for segment in line) for line in lines]


def test_all_lines_but_the_last_are_finished():
    text = "word " * 40
    length, lines = finished_lines(text, render)

    assert texts(lines) == texts(render(text))[:-KEPT]
    assert texts(lines) + texts(render(text[length:])) == texts(render(text))


@given(st.lists(st.sampled_from(WORDS), min_size=20, max_size=40), st.lists(st.sampled_from(WORDS), max_size=20))
def test_what_follows_changes_no_finished_line(words, more):
    text = " ".join(words)
    length, lines = finished_lines(text, render)
    whole = f"{text} {' '.join(more)}"

    assert texts(render(whole))[: len(lines)] == texts(lines)
    assert texts(lines) + texts(render(whole[length:])) == texts(render(whole))


@pytest.mark.parametrize(
    "start", ["- ", "1. ", "> ", "# ", "```\n", "    ", "**", "`", "[", "| a | b |\n|---|---|\n| "]
)
def test_other_blocks_and_open_marks_have_no_finished_lines(start):
    assert finished_lines(start + "word " * 40, render) == (0, [])


def test_a_paragraph_is_not_cut_where_the_rest_would_be_a_list():
    text = "- ".join(["word word word word wor "] * 8)
    length, _ = finished_lines(text, render)

    assert not text[length:].startswith("-")
