"""A debate in tmux, which breaks its rows again when it becomes narrower: the drawing leaves nothing behind."""

import pytest

from tests.fixtures.tmux import Tmux, needs_tmux

pytestmark = needs_tmux
BORDERS = ("╭", "╰", "│", "▌")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("ANTIPHON_SERVER", "off")


def test_no_row_of_the_drawing_stays_after_the_width_has_changed():
    with Tmux("debate", "-m", "scripted:debate", "--rounds", "1", "Should cars leave our city?", columns=80) as tmux:
        for turn, columns in (("openings", 60), ("Openings ──", 110)):
            tmux.wait(lambda rows, turn=turn: "speaking" in "".join(rows) and turn in "".join(rows))
            tmux.resize(columns)
        tmux.wait(lambda rows: rows[-1] == "ended with 0")
        lines = tmux.lines

    assert [line for line in lines if line.startswith(BORDERS)] == []
    assert sum("Openings ──" in line for line in lines) == 1
