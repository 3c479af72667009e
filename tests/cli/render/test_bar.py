"""Bytes that arrive are shown as a bar on a terminal, and in quarters elsewhere."""

from antiphon.cli.render.bar import Bar


def test_elsewhere_quarters_are_told_once(capsys):
    with Bar("downloading", iter([0.0, 1.0, 2.0, 3.0]).__next__) as bar:
        for done in (0, 10_000, 300_000, 310_000, 1_000_000):
            bar(done, 1_000_000)

    assert capsys.readouterr().err.splitlines() == [
        "downloading 0 %  of 1.0 MB  1 s",
        "downloading 25 %  of 1.0 MB  2 s",
        "downloading 100 %  of 1.0 MB  3 s",
    ]


def test_a_terminal_shows_a_bar_in_place(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with Bar("downloading", iter([0.0, 7.0]).__next__) as bar:
        bar(500_000, 1_000_000)

    drawn = "█" * 12 + "░" * 12
    assert capsys.readouterr().err == f"\rdownloading {drawn}  50 %  500.0 kB of 1.0 MB  7 s\x1b[K\n"
