"""Charts as Markdown tables and as text."""

from antiphon.chart.draw.tables import to_table, to_text
from tests.chart.draw.test_ladder import PLAYER, relaxed


def test_a_table_has_a_row_for_each_transition_and_for_each_state_without_one() -> None:
    rows = to_table(relaxed(PLAYER)).splitlines()

    assert rows[2:] == [
        "| sound.on | MUTE | isLoud(level: 3) | sound.off |  |",
        "| sound.off | MUTE |  | sound.on |  |",
        "| sound.off | LEAVE |  | film.stopped |  |",
        "| film.playing | STOP |  | film.stopped |  |",
        "| film.stopped |  |  |  |  |",
    ]


def test_a_table_escapes_bars() -> None:
    assert "| a\\|b |" in to_table(relaxed({"initial": "a|b", "states": {"a|b": {}}}))


def test_text_marks_active_states_and_shows_rows_below_their_state() -> None:
    machine = relaxed(PLAYER)
    active = machine.resolve_state({"sound": "off", "film": "playing"}).nodes

    assert to_text(machine, active=active, inside=machine.root.states["sound"]).splitlines() == [
        "▶ sound",
        "  ● on",
        "      MUTE [isLoud(level: 3)] → off",
        "  ▶ off",
        "      MUTE → on",
        "      LEAVE → stopped",
    ]


def test_lines_of_text_fit_the_width() -> None:
    actions = [f"action{number}" for number in range(20)]
    machine = relaxed({"initial": "a", "states": {"a": {"entry": actions}}})

    assert max(map(len, to_text(machine, width=40).splitlines())) <= 40
