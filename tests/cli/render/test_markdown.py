"""Markdown of replies on a terminal: all of its words are shown, however it is written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from antiphon.cli.render.markdown import block_lines
from antiphon.cli.render.markdown_stream import MarkdownStream


def show(text, columns=80):
    """Return the lines that a terminal shows of a reply."""
    console = Console(width=columns, color_system=None)
    blocks = MarkdownStream()
    lines = [line for block in blocks.feed(text) + blocks.end() for line in block_lines(console, block)]
    return ["".join(segment.text for segment in line) for line in lines]


@pytest.mark.parametrize(
    "text",
    ["Use <br> here.", "<div>\nA block\n</div>", "<script>alert(1)</script>", "A Vec<T> of &str.", "<!-- a remark -->"],
)
def test_tags_of_html_are_shown_as_text(text):
    assert "\n".join(show(text)).split() == text.split()


@pytest.mark.parametrize("columns", [20, 40, 200])
@pytest.mark.parametrize("mark", ["> ", "- ", "1. "])
@pytest.mark.parametrize("levels", [5, 15, 25, 60, 150])
def test_deeply_nested_words_are_shown(columns, mark, levels):
    assert "needle" in " ".join(show(mark * levels + "needle", columns))


def test_an_address_in_angle_brackets_is_shown_once():
    assert show("See <https://a.example/x>.") == ["See https://a.example/x."]


def test_a_link_is_shown_with_its_address():
    assert show("See [this](https://a.example/x).") == ["See this (https://a.example/x)."]


@given(st.lists(st.sampled_from(["> ", "- ", "1. ", "  ", "<b>", "word", "\n", "*", "|", "\n\n"]), max_size=40))
def test_the_words_of_a_reply_are_on_the_screen(pieces):
    text = "".join(pieces)

    assert " ".join(show(text)).count("word") >= text.count("word")
