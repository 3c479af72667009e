"""Markdown is cut into blocks as it arrives, however it is chopped, and at a cost that grows with its length only."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.cli.render.markdown_stream import LONGEST_FENCE, MarkdownStream

PAGE = """# A title
Some words
on two lines.

1. One

   goes on
2. Two

```python
a = 1

b = 2
```
After it.

- item
  ```
  code

  more
  ```
- last
"""
EXPECTED = [
    "# A title",
    "Some words\non two lines.",
    "1. One\n\n   goes on\n2. Two",
    "```python\na = 1\n\nb = 2\n```",
    "After it.",
    "- item\n  ```\n  code\n\n  more\n  ```\n- last",
]


def cut(pieces):
    blocks = MarkdownStream()
    found = [block for piece in pieces for block in blocks.feed(piece)]
    return [block.text for block in found + blocks.end()]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_blocks_are_the_same_however_the_text_is_chopped(size):
    assert cut([PAGE[at : at + size] for at in range(0, len(PAGE), size)]) == EXPECTED


@given(st.lists(st.text(alphabet="a \n`-#1.", max_size=12)))
def test_no_word_is_lost_or_told_twice(pieces):
    text = "".join(pieces)

    assert "".join("".join(cut(pieces)).split()).replace("`", "") == "".join(text.split()).replace("`", "")


def test_a_long_fence_is_given_in_pieces_that_are_fences_themselves():
    code = "\n".join(f"line {number}" for number in range(3 * LONGEST_FENCE))
    found = cut([f"```py\n{code}\n```\n"])

    assert len(found) > 2
    assert all(block.startswith("```py\n") and block.endswith("\n```") for block in found)
    assert "\n".join(block.removeprefix("```py\n").removesuffix("\n```") for block in found) == code


def test_what_grows_is_known_by_its_end():
    blocks = MarkdownStream()
    blocks.feed("one\ntwo\nthr")
    blocks.feed("ee")

    assert blocks.growing(100) == "one\ntwo\nthree"
    assert blocks.growing(7) == "o\nthree"
    assert not blocks.is_code
    blocks.feed("\n```\nx")
    assert blocks.is_code


def test_the_cost_grows_with_the_length_of_the_text():
    def seconds(length):
        blocks, start = MarkdownStream(), time.process_time()
        for _ in range(length):
            blocks.feed("word ")
        blocks.end()
        return time.process_time() - start

    seconds(1000)
    assert min(seconds(40_000) for _ in range(3)) < 40 * min(seconds(4_000) for _ in range(3))
