"""JSON written along a schema is valid and fits it, whatever the model would like to say."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.json_schema import Checker
from antiphon.providers.local.serving.outline import values
from antiphon.providers.local.wire import bounded
from tests.providers.local.child import FirstOf


class Wild(FirstOf):
    """A pen that would write anything, of which only what fits is taken."""

    def __init__(self, wishes):
        super().__init__()
        self.wishes = list(wishes)

    def choose(self, texts):
        wish = self.wishes.pop() if self.wishes else ""
        return self.say(texts[len(wish) % len(texts)])

    def grow(self, fits, ends):
        text = ""
        while self.wishes:
            piece = self.wishes.pop()
            if piece and piece[0] not in ends and fits(text + piece):
                text += piece
                yield self.say(piece)


leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "maxLength": 3},
        {"type": "integer"},
        {"type": "integer", "minimum": 3, "maximum": 5},
        {"type": "number"},
        {"type": "integer", "minimum": 1000},
        {"type": "boolean"},
        {"type": "null"},
        {"type": ["string", "null"]},
        {"enum": ["a", 1, None]},
        {"const": {"x": [1]}},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"$ref": "#/$defs/name"},
    ]
)
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from("abc"), inner).map(
            lambda found: {"type": "object", "properties": found, "required": list(found)}
        ),
        inner.map(lambda item: {"type": "array", "items": item, "minItems": 1, "maxItems": 3}),
    ),
    max_leaves=6,
)
wishes = st.lists(
    st.sampled_from(['"', "\\", "\n", " 4", "12", "-", ".5", "é", ",", ", ", "]", "word", ""]), max_size=40
)


@given(schemas, wishes)
def test_whatever_is_wished_for_the_value_fits(schema, wished):
    root = bounded({**schema, "$defs": {"name": {"type": "string", "maxLength": 4}}})

    value = json.loads("".join(values(root, root, Wild(wished))))

    assert Checker(root).problems(value) == []


def test_a_full_pen_stops_in_the_middle():
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}

    assert "".join(values(schema, schema, FirstOf(3))) == '{"a": "Zürich'


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "array", "maxItems": 0}])
def test_a_schema_that_says_little_gives_something(schema):
    json.loads("".join(values(schema, schema, FirstOf())))
