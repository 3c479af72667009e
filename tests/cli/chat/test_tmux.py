"""A chat in tmux, which breaks its rows again when it becomes narrower: nothing is left behind, a paste is whole."""

import pytest

from tests.fixtures.chats import script
from tests.fixtures.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
WORDS = [f"word{number}" for number in range(60)]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")


def at_prompt(rows):
    return rows[-1].rstrip() == ">"


def test_rows_of_a_reply_that_tmux_breaks_again_are_overwritten(tmp_path):
    steps = [{"text": " ".join(WORDS) + " "}, {"delay_ms": 2500}, {"text": "end."}]
    with Tmux("chat", "-m", script(tmp_path, steps), columns=110) as tmux:
        tmux.wait(at_prompt)
        tmux.keys("Hello", "Enter")
        tmux.wait(lambda rows: "word59" in "".join(rows[-3:]))
        tmux.resize(57)
        tmux.wait(lambda rows: at_prompt(rows) and "tokens in" in "".join(rows))
        lines = tmux.lines

    assert [word for line in lines for word in line.split() if word.startswith("word")] == WORDS


@pytest.mark.parametrize("kind", ["prose", "marks", "list", "code"])
def test_each_word_of_a_growing_reply_is_there_once_however_the_width_changes(tmp_path, kind):
    words = [f"w{number}" for number in range(240)]
    steps = [step for word in growing(kind, words) for step in ({"text": word}, {"delay_ms": 12})]
    with Tmux("chat", "-m", script(tmp_path, steps), columns=120) as tmux:
        tmux.wait(at_prompt)
        tmux.keys("Hello", "Enter")
        for place, columns in ((40, 60), (70, 100), (100, 40), (130, 120), (160, 50)):
            tmux.wait(lambda rows, place=place: any(word in "".join(rows) for word in words[place : place + 40]))
            tmux.resize(columns)
        tmux.wait(lambda rows: at_prompt(rows) and "first token" in " ".join(rows))
        lines = tmux.lines

    assert [word for line in lines for word in line.split() if word in words] == words


def growing(kind, words):
    """The pieces of a reply of one growing block."""
    starts = {"prose": "", "marks": "**an open mark ", "list": "", "code": "```python\n"}
    yield starts[kind]
    for number, word in enumerate(words):
        if kind == "list" and number % 12 == 0:
            yield f"{chr(10) * bool(number)}- "
        elif kind == "code" and number and number % 30 == 0:
            yield "\n"
        yield f"{word} "
    yield {"code": "\n```\n"}.get(kind, "")


def test_a_prompt_that_tmux_breaks_again_is_overwritten(tmp_path):
    with Tmux("chat", "-m", script(tmp_path, [{"text": "Yes."}]), columns=110) as tmux:
        tmux.wait(at_prompt)
        tmux.keys(" ".join(WORDS[:14]))
        tmux.wait(lambda rows: rows[-1].endswith("word13"))
        for columns in (50, 110, 43):
            tmux.resize(columns)
            rows = tmux.wait(lambda rows, columns=columns: rows[-1].endswith("word13"[-3:]) and _fits(rows, columns))

    text = "".join(row.strip("> ") + " " * row.endswith(" ") for row in rows[-3:])
    assert "".join(rows).count("word0") == 1
    assert text.replace(" ", "") == "".join(WORDS[:14])


def _fits(rows, columns):
    return any(row.startswith("> word0") and len(row) <= columns for row in rows)


def test_a_paste_of_many_lines_is_one_message(tmp_path):
    target = tmp_path / "export.md"
    with Tmux("chat", "-m", script(tmp_path, [{"text": "Yes."}])) as tmux:
        tmux.wait(at_prompt)
        tmux.paste("/usr/bin\n" + "\n".join(WORDS))
        tmux.wait(lambda rows: rows[-1].endswith("word59"))
        tmux.keys("Enter")
        tmux.wait(lambda rows: at_prompt(rows) and "Yes." in rows)
        tmux.keys(f"/export {target}", "Enter")
        tmux.wait(lambda rows: "exported to" in "".join(rows))
        tmux.keys("C-d")
        tmux.wait(lambda rows: rows[-1] == "ended with 0")

    assert "/usr/bin\n" + "\n".join(WORDS) in target.read_text()
