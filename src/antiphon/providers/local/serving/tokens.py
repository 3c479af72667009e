"""Texts as tokens and back: byte pairs, merged by rank, as the weights were taught."""

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

# Digits stand alone; words take one space before them with them.
WORDS = re.compile(r"\d|'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
CONTROL = 3
UNMERGEABLE = 1 << 30


class Tokens:
    """The vocabulary of some weights."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._texts: list[str] = settings["tokenizer.ggml.tokens"]
        self._ids = {text: id for id, text in enumerate(self._texts)}
        merges = enumerate(settings["tokenizer.ggml.merges"])
        self._ranks = {tuple(merge.split(" ", 1)): rank for rank, merge in merges}
        self._letters = _letters()
        self._bytes = {letter: byte for byte, letter in self._letters.items()}
        kinds = zip(self._texts, settings["tokenizer.ggml.token_type"], strict=True)
        self._control = {text for text, kind in kinds if kind == CONTROL}
        self._split = re.compile(f"({'|'.join(map(re.escape, self._control))})")
        self._known: dict[str, list[int]] = {}
        self.end: int = settings["tokenizer.ggml.eos_token_id"]

    def encode(self, text: str, *, control: bool = False) -> list[int]:
        """The tokens of a text; only our own frame may hold control tokens, never what somebody wrote."""
        found: list[int] = []
        for part in self._split.split(text) if control else [text]:
            if control and part in self._control:
                found.append(self._ids[part])
                continue
            for word in WORDS.findall(part):
                found += self._merged("".join(self._letters[byte] for byte in word.encode()))
        return found

    def decode(self, id: int) -> bytes:
        """What a token stands for, which may be half a character."""
        return bytes(self._bytes.get(letter, ord("?")) for letter in self._texts[id])

    def _merged(self, word: str) -> list[int]:
        if word not in self._known:
            parts = list(word)
            while len(parts) > 1:
                pairs = enumerate(pairwise(parts))
                rank, place = min((self._ranks.get(pair, UNMERGEABLE), place) for place, pair in pairs)
                if rank == UNMERGEABLE:
                    break
                parts[place : place + 2] = [parts[place] + parts[place + 1]]
            self._known[word] = [self._ids[part] for part in parts]
        return self._known[word]


def _letters() -> dict[int, str]:
    """A visible letter for every byte, as the vocabulary is written in."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    return {byte: chr(byte) for byte in visible} | {byte: chr(256 + place) for place, byte in enumerate(others)}
