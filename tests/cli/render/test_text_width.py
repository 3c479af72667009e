"""Text is measured in cells and never carries anything that a terminal would obey."""

from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli.render.text_width import break_row, clip, pad, sanitize_line, width, wrap

SIZES = st.integers(min_value=1, max_value=40)


def test_wide_and_combining_characters_count_as_they_are_drawn():
    assert [width(text) for text in ("abc", "漢字", "e\u0301")] == [3, 4, 1]


def test_joiners_within_a_character_are_kept_and_take_no_cell():
    text = "👩\u200d👧 می\u200cخواهم"

    assert sanitize_line(text) == text
    assert width("می\u200cخ") == 3


def test_a_long_text_is_cut_with_an_ellipsis():
    assert (clip("abcdef", 4), clip("漢字漢字", 4), clip("abc", 3), clip("abc", 0)) == ("abc…", "漢…", "abc", "")


def test_a_short_text_is_filled_up():
    assert pad("漢", 4) == "漢  "


def test_a_row_of_a_list_is_broken_between_words_and_indented():
    row = "c6097ecf  run   interrupted  antiphon resume c6097ecf"

    assert break_row(row, 45) == ["c6097ecf  run   interrupted  antiphon resume", "  c6097ecf"]
    assert break_row(f"  {row}", 20) == ["  c6097ecf  run", "    interrupted", "    antiphon resume", "    c6097ecf"]
    assert break_row(row, 60) == [row]


@given(st.text(alphabet="ab \u6f22", max_size=60), SIZES)
def test_no_word_of_a_row_is_broken_or_lost(text, cells):
    lines = break_row(text, cells)

    assert " ".join(lines).split() == text.split()
    assert all(width(line) <= cells or len(line.split()) == 1 for line in lines)


def test_lines_break_between_words():
    assert wrap("one two three", 7) == ["one two", "three"]


def test_a_word_longer_than_a_line_is_broken():
    assert wrap("a abcdefgh b", 3) == ["a", "abc", "def", "gh", "b"]


def test_an_empty_text_has_no_lines():
    assert wrap(" \n ", 5) == []


def test_escapes_and_line_breaks_are_removed():
    assert sanitize_line("a\x1b[31m\nb\u202ec\u2028") == "a [31m b c "


@given(st.text(), SIZES)
def test_a_padded_text_has_exactly_its_width(text, cells):
    assert width(pad(sanitize_line(text), cells)) in (cells, cells - 1)  # half a wide character is no character


@given(st.text(), SIZES)
def test_wrapped_lines_fit_and_lose_nothing(text, cells):
    lines = wrap(text, cells)

    assert all(width(line) <= max(cells, 2) for line in lines)
    assert "".join("".join(lines).split()) == "".join(sanitize_line(text).split())
