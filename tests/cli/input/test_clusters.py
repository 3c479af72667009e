"""Characters of several code points in the line editor: moved over and deleted as one, and drawn without joining."""

import pytest
from prompt_toolkit.formatted_text import fragment_list_to_text
from prompt_toolkit.layout.processors import TransformationInput
from prompt_toolkit.utils import get_cwidth

from antiphon.cli.input.clusters import UnjoinedText, length_after, length_before

FAMILY = "👩\u200d👩\u200d👧"
WAVE = "👋\U0001f3fd"
HEART = "❤\ufe0f"
GERMANY = "🇩🇪"
FRANCE = "🇫🇷"
ENGLAND = "🏴\U000e0067\U000e0062\U000e007f"
ACCENT = "e\u0301"


@pytest.mark.parametrize(
    "character", ["a", "\n", "漢", ACCENT, FAMILY, WAVE, HEART, GERMANY, ENGLAND, "👩\U0001f3fd\u200d🚀"]
)
def test_a_character_is_taken_whole_from_both_sides(character):
    for text in (f"x{character}", f"漢{character}", f"{FRANCE}{character}", f"\n{character}"):
        assert length_before(text) == len(character)
    for text in (f"{character}x", f"{character}漢", f"{character}{FRANCE}", f"{character}\n"):
        assert length_after(text) == len(character)


def test_no_text_has_no_character():
    assert (length_before(""), length_after("")) == (0, 0)


def test_a_mark_at_the_beginning_of_a_line_does_not_join_the_line_before():
    assert length_before("a\n\u0301") == 1


def draw(text):
    return UnjoinedText().apply_transformation(TransformationInput(None, None, 0, lambda n: n, [("", text)], 80, 24))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        (ACCENT, ACCENT),
        (FAMILY, "👩+👩+👧"),
        (WAVE, "👋+\U0001f3fd"),
        (HEART, "❤"),
        (GERMANY, "DE"),
        (ENGLAND, "🏴"),
    ],
)
def test_nothing_is_drawn_that_a_terminal_may_join(text, expected):
    assert fragment_list_to_text(draw(text).fragments) == expected


def test_the_cursor_is_where_the_text_is_drawn():
    text = f"a{WAVE}{HEART}b"
    drawn = draw(text)
    line = fragment_list_to_text(drawn.fragments)

    places = [drawn.source_to_display(place) for place in range(len(text) + 2)]
    assert places == [0, 1, 2, 4, 5, 5, 6, 7]
    assert [get_cwidth(line[:place]) for place in places[:-1]] == [0, 1, 3, 6, 7, 7, 8]
    assert [drawn.display_to_source(place) for place in range(8)] == [0, 1, 2, 2, 3, 5, 6, 7]
