"""Words of texts, and searches for them: the same for every store.

1. A text is folded: no difference of case, of accents, or of the forms that Unicode has for one character.
2. Its words are runs of letters and digits. Every Chinese, Japanese or Korean character is a word of its own.
3. A search finds texts that have all its words. A word of two letters or more finds words that begin with it; a run of
   Chinese, Japanese or Korean characters is found as it stands.
4. There is no other syntax: everything else in a search is ignored.

A text is indexed as its words, separated by spaces, so that the tokenizer of a database has nothing to decide.
"""

import re
import unicodedata
from typing import NamedTuple

# Kana, ideographs and their extensions, Hangul.
CJK = "\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
WORD = re.compile(f"[{CJK}]|[^\\W_{CJK}]+")
RUN = re.compile(f"[{CJK}]+|[^\\W_{CJK}]+")
IS_CJK = re.compile(f"[{CJK}]")
ACCENTS = re.compile("[\u0300-\u036f]")
LEAST_PREFIX = 2
LONGEST_PREFIX = 3  # longer ones are not indexed as such


class Search(NamedTuple):
    """Words to search for."""

    phrases: tuple[str, ...]  # words that are found as they stand, separated by spaces
    prefixes: tuple[str, ...]  # beginnings of words

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to search for."""
        return not (self.phrases or self.prefixes)

    def matches(self, words: str) -> bool:
        """Return whether a text, as its words, has everything that is searched for."""
        spaced = f" {words} "
        return all(f" {phrase} " in spaced for phrase in self.phrases) and all(
            f" {prefix}" in spaced for prefix in self.prefixes
        )

    def to_fts5(self) -> str:
        """Return the search in the syntax of FTS5."""
        quoted = [f'"{phrase}"' for phrase in self.phrases] + [f'"{prefix}"*' for prefix in self.prefixes]
        return " ".join(quoted)

    def shorten(self) -> "Search | None":
        """Return a search that finds more, by beginnings that are indexed; None if all of them are."""
        if all(len(prefix) <= LONGEST_PREFIX for prefix in self.prefixes):
            return None
        return self._replace(prefixes=tuple(prefix[:LONGEST_PREFIX] for prefix in self.prefixes))


def words_of(text: str) -> str:
    """Return the words of a text, separated by spaces."""
    return " ".join(WORD.findall(_fold(text)))


def parse_search(text: str) -> Search:
    """Return what a person has typed as a search."""
    phrases: list[str] = []
    prefixes: list[str] = []
    for run in RUN.findall(_fold(text)):
        if IS_CJK.match(run):
            phrases.append(" ".join(run))
        elif len(run) < LEAST_PREFIX:
            phrases.append(run)
        else:
            prefixes.append(run)
    return Search(tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(prefixes)))


def matching_line(search: Search, text: str) -> str:
    """Return the first line of a text that has all words of a search, or else the first that has one of them."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    searches = (search, *(_single(search)))
    for wanted in searches:
        for line in lines:
            if wanted.matches(words_of(line)):
                return line
    return lines[0] if lines else ""


def storable(text: str) -> str:
    """Return a text without lone surrogates, which no database stores."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _single(search: Search) -> list[Search]:
    phrases = [Search((phrase,), ()) for phrase in search.phrases]
    return phrases + [Search((), (prefix,)) for prefix in search.prefixes]


def _fold(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    # Compatibility forms have capitals too: the letter in a circle becomes the letter, then a small one.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", folded).casefold())
    return unicodedata.normalize("NFC", ACCENTS.sub("", plain))
