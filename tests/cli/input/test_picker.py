"""A row is chosen by the arrow keys and by words that it has."""

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from antiphon.cli.input.picker import Picker

ROWS = ["aaa  chat  Roses", "bbb  run  Tulips and roses", "ccc  debate  Cars"]
UP, DOWN, ENTER, ESCAPE, CUT = "\x1b[A", "\x1b[B", "\r", "\x1b", "\x03"


@pytest.mark.parametrize(
    ("keys", "number"),
    [
        (ENTER, 0),
        (DOWN + ENTER, 1),
        (DOWN * 9 + ENTER, 2),
        (DOWN + UP * 3 + ENTER, 0),
        ("cars" + ENTER, 2),
        ("ROSES run" + ENTER, 1),
        ("roses" + DOWN + ENTER, 1),
        (DOWN * 2 + "roses" + ENTER, 0),
        ("xyz" + ENTER + "\x7f" * 3 + ENTER, 0),
        (ESCAPE, None),
        (DOWN + CUT, None),
    ],
)
def test_a_row_is_chosen_by_keys(keys, number):
    with create_pipe_input() as pipe:
        pipe.send_text(keys)

        assert Picker(ROWS).run(input=pipe, output=DummyOutput()) == number
