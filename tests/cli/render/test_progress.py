"""Long work says how far it has come, short work says nothing."""

import pytest

from antiphon.cli.render.progress import LONG, Progress


def test_long_work_is_told_in_tenths(capsys):
    with Progress("copying") as progress:
        for done in (1, LONG // 3, LONG // 3 + 1, LONG):
            progress(done, LONG)

    assert capsys.readouterr().err.splitlines() == ["copying: 0 %", "copying: 30 %", "copying: 100 %"]


def test_short_work_is_not_told(capsys):
    with Progress("copying") as progress:
        progress(1, 2)

    assert capsys.readouterr().err == ""


def test_work_of_unknown_length_is_counted(capsys):
    with Progress("importing") as progress:
        for done in range(0, 30 * LONG, 1000):
            progress(done, 0)

    assert capsys.readouterr().err.splitlines()[1:] == ["importing: 100,000", "importing: 200,000"]


@pytest.mark.parametrize("total", [LONG, 0])
def test_a_terminal_is_written_to_in_place(capsys, monkeypatch, total):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with Progress("copying") as progress:
        progress(10 * LONG, total)

    said = capsys.readouterr().err
    assert said.startswith("\rcopying: ")
    assert said.endswith("\n")
