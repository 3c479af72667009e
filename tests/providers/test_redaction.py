"""A key is redacted in every form, and however a text is cut."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antiphon.providers.redaction import MASK, SHORTEST_KEY, PieceRedactor, key_pattern
from tests.fixtures.providers import CANARY

KEYS = (CANARY, "sk-ant-api03-aB3dE5gH7jK9", 'a"b\\c/d+e%f-g', "????>>>>~~~~++//", "aaaaaaaaaaaa")


def escaped(key):
    return "".join(f"\\u{ord(character):04x}" for character in key)


FORMS = {
    "plain": lambda key: key,
    "JSON": lambda key: json.dumps(key)[1:-1],
    "JSON twice": lambda key: json.dumps(json.dumps(key)[1:-1])[1:-1],
    "JSON escapes": escaped,
    "JSON escapes in upper case": lambda key: escaped(key).replace("\\u00", "\\U00").upper().replace("\\U00", "\\u00"),
    "JSON escapes twice": lambda key: json.dumps(escaped(key))[1:-1],
    "URL": lambda key: quote(key, safe=""),
    "URL twice": lambda key: quote(quote(key, safe=""), safe=""),
    "URL escapes": lambda key: "".join(f"%{ord(character):02x}" for character in key),
    "hexadecimal": lambda key: key.encode().hex(),
    "HEXADECIMAL": lambda key: key.encode().hex().upper(),
    "Base64": lambda key: base64.b64encode(key.encode()).decode(),
    "Base64 after one byte": lambda key: base64.b64encode(b":" + key.encode() + b":").decode(),
    "Base64 after two bytes": lambda key: base64.urlsafe_b64encode(b"u:" + key.encode() + b"::").decode(),
    "Bearer in Base64": lambda key: base64.b64encode(b"Bearer " + key.encode()).decode(),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("form", FORMS)
def test_a_key_is_redacted_in_every_form(key, form):
    text = key_pattern(key).hide(f"before {FORMS[form](key)} after")

    assert text.startswith("before ")
    assert text.endswith(" after")
    assert MASK in text
    # In Base64, the characters at both ends belong to the text around the key as well.
    assert len(text) <= len(f"before {MASK} after") + (14 if "Base64" in form else 0)


pieces = st.lists(st.integers(1, 12), min_size=1, max_size=40)


@given(key=st.sampled_from(KEYS), form=st.sampled_from(list(FORMS)), sizes=pieces, around=st.text(max_size=8))
@example(key=CANARY, form="plain", sizes=[1], around="")
@example(key=CANARY, form="JSON escapes", sizes=[1], around="\\")
def test_a_key_is_redacted_however_a_text_is_cut(key, form, sizes, around):
    text = around + FORMS[form](key) + around
    redactor = PieceRedactor(key_pattern(key))
    result = ""
    at = 0
    while at < len(text):
        size = sizes[at % len(sizes)]
        result += redactor.feed(text[at : at + size])
        at += size
    result += redactor.flush()

    assert MASK in result
    assert FORMS[form](key) not in result
    # At most the first three characters, which may be escaped, and in Base64 those at both ends remain.
    assert len(result) <= len(around * 2 + MASK) + 3 * 9 + 14


@given(st.lists(st.text(max_size=10), max_size=20))
@example(["cana", "ry-k", "itten"])
@example(["canary-key-d41d", "8cd98f00b205"])
def test_a_text_without_the_key_is_unchanged(pieces):
    redactor = PieceRedactor(key_pattern(CANARY))

    assert "".join(map(redactor.feed, pieces)) + redactor.flush() == "".join(pieces)


def test_a_text_is_held_back_only_while_it_may_be_the_key():
    redactor = PieceRedactor(key_pattern(CANARY))

    assert [redactor.feed(piece) for piece in ("a can", "ary-", "bird")] == ["a can", "", "ary-bird"]


def test_a_word_is_not_a_key():
    assert key_pattern("k" * (SHORTEST_KEY - 1)) is None
