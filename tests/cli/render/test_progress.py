"""Long work says how far it has come, short work says nothing."""

import pytest

from antiphon.cli.render.progress import LONG, ByteProgress, Progress


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


def test_elsewhere_quarters_are_told_once(capsys):
    with ByteProgress("downloading", iter([0.0, 1.0, 2.0, 3.0]).__next__) as bar:
        for done in (0, 10_000, 300_000, 310_000, 1_000_000):
            bar(done, 1_000_000)

    assert capsys.readouterr().err.splitlines() == [
        "downloading 0 %  of 1.0 MB  1 s",
        "downloading 25 %  of 1.0 MB  2 s",
        "downloading 100 %  of 1.0 MB  3 s",
    ]


def test_a_terminal_shows_a_bar_in_place(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with ByteProgress("downloading", iter([0.0, 7.0]).__next__) as bar:
        bar(500_000, 1_000_000)

    drawn = "█" * 12 + "░" * 12
    assert capsys.readouterr().err == f"\rdownloading {drawn}  50 %  500.0 kB of 1.0 MB  7 s\x1b[K\n"
