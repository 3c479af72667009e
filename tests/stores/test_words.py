"""Words of texts, and searches for them."""

import sqlite3
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.stores.words import Search, matching_line, parse_search, storable, words_of

texts = st.text(st.characters() | st.sampled_from("ab1 É\u0301ßﬁ今天한가がガ\ud800\0_-\n"), max_size=12)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Green TEA, please", "green tea please"),
        ("CRÈME Bru\u0302lée", "creme brulee"),
        ("it's foo_bar-baz 3.5", "it s foo bar baz 3 5"),
        ("今天weather好", "今 天 weather 好"),
        ("한국어 が", "한 국 어 が"),
        ("ﬁne Straße ½", "fine strasse 1 2"),
        ("\ud800\0 ... 🦜", ""),
    ],
)
def test_words_are_folded_and_each_chinese_character_is_one(text: str, words: str) -> None:
    assert words_of(text) == words


def test_a_search_has_beginnings_and_runs_of_characters() -> None:
    assert parse_search("Tea 天气 a tea") == Search(("天 气", "a"), ("tea",))


def test_only_beginnings_that_are_longer_than_the_indexed_ones_are_shortened() -> None:
    assert parse_search("te tea 天气").shorten() is None
    assert parse_search("te teapot 天气").shorten() == Search(("天 气",), ("te", "tea"))


def test_the_line_is_the_first_with_all_words_or_else_with_one() -> None:
    text = "one\n  two\n\nthree two"
    assert matching_line(parse_search("two three"), text) == "three two"
    assert matching_line(parse_search("one three"), text) == "one"
    assert matching_line(parse_search("tw"), text) == "two"


def test_every_character_is_folded_to_one_that_stays_as_it_is() -> None:
    """Also capitals among the forms that Unicode has for one character."""
    folded = {character: words_of(character) for character in map(chr, range(sys.maxunicode + 1))}
    assert [character for character, words in folded.items() if words_of(words) != words] == []
    assert (folded["𝔄"], folded["Ⓐ"], folded["É"], folded["ﬁ"]) == ("a", "a", "e", "fi")


@given(texts)
def test_every_text_is_found_by_each_of_its_words(text: str) -> None:
    words = words_of(text)
    for word in words.split():
        assert parse_search(word).matches(words)


@given(texts, texts)
def test_sqlite_finds_what_matches_and_nothing_else(text: str, searched: str) -> None:
    search = parse_search(searched)
    if search.is_empty:
        return
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table index_word using fts5 (words, content = '', tokenize = 'ascii')")
    connection.execute("insert into index_word (rowid, words) values (1, ?)", (words_of(storable(text)),))
    found = connection.execute("select rowid from index_word where index_word match ?", (search.to_fts5(),)).fetchall()
    connection.close()
    assert (found != []) == search.matches(words_of(text))
