"""`antiphon debate` in a real terminal: columns that fill, and keys that pause, resume, interject, judge and stop."""

import pytest

from tests.fixtures.debate_scripts import TOPIC, debaters, prices
from tests.fixtures.screen import Screen

CUT, ENTER, ESCAPE = b"\x03", b"\r", b"\x1b"
WAITING = 'steps = [{text = "It begins"}, {delay_ms = 600000}, {text = "never"}]\n'


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTIPHON_STORE", str(tmp_path / "store.db"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ANTIPHON_PRICES", raising=False)


def slow(folder, *, first=""):
    """Debaters who begin and never end, unless some replies are put before."""
    path = folder / "slow.toml"
    path.write_text(f"{first}[[replies]]\n{WAITING}")
    return f"scripted:{path}"


@pytest.mark.requirement("S4-109")
def test_debaters_speak_side_by_side_and_the_verdict_is_a_table(tmp_path):
    words = ("debate", TOPIC, "-m", debaters(tmp_path, 5), "--rounds", 2, "--limit", 1, "--warn", 0.001)
    with Screen(*words, "--prices", prices(tmp_path), columns=110) as screen:
        openings = screen.until("◉ openings ── ○ round 1 ── ○ closing ── ○ verdict")
        screen.until("┊")
        screen.until("stops at $1.00")
        screen.until("╭─ Ada · for")
        beside = screen.until("╮╭─ Bruno · against")
        screen.until("p pause · i interject · q stop")
        screen.until("warning: $0.00")
        screen.until("Openings ──")
        screen.until("● openings ── ◉ round 1")
        screen.until("health 10.0 of 10")
        screen.until("Ada wins by 7 points")
        table = screen.until("● verdict")
        shown, code = screen.end()

    assert code == 0
    assert TOPIC in openings
    assert "\n" not in beside
    assert "overall    82 ████" in table
    assert "antiphon debates show" in shown
    assert screen.raw.count("\x1b[?25h") >= screen.raw.count("\x1b[?25l")


def test_in_a_narrow_terminal_they_stand_below_each_other(tmp_path):
    with Screen("debate", TOPIC, "-m", slow(tmp_path), columns=50) as screen:
        screen.until("╭─ Ada · for")
        between = screen.until("╭─ Bruno · against")
        screen.until("It begins▌")
        screen.press(b"q")
        _, code = screen.end()

    assert "\n" in between
    assert "╮╭" not in screen.raw
    assert code == 130


@pytest.mark.requirement("S4-45", "S4-46", "S4-B10")
def test_p_pauses_and_r_resumes(tmp_path):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path, 40), "--rounds", 1, columns=110) as screen:
        screen.until("speaking …")
        screen.press(b"p")
        screen.until("\npaused")
        hint = screen.until("Ctrl-C leave it as it is")
        screen.press(b"j")  # nothing was said: no judge can decide, so the key does nothing
        screen.press(b"r")
        screen.until("speaking …")
        screen.press(b"q")
        _, code = screen.end()

    assert "r resume" in hint
    assert "j judge now" not in hint
    assert code == 130


def test_what_is_left_paused_can_be_resumed_later(tmp_path):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path, 20), "--rounds", 1, columns=110) as screen:
        screen.until("◉ round 1")
        screen.press(b"p")
        screen.until("\npaused")
        screen.until("Ctrl-C leave it as it is")
        screen.press(CUT)
        shown, code = screen.end()
    with Screen("debate", "--resume", "last", columns=110) as screen:
        screen.until("(resumed)")
        again = screen.until("◉ round 1")
        screen.until("Ada wins")
        _, done = screen.end()

    assert (code, done) == (130, 0)
    assert "--resume" in shown
    assert "We are opening it." in again


@pytest.mark.requirement("S4-B11")
def test_j_has_the_judge_decide_what_was_said(tmp_path):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path, 20), "--rounds", 5, columns=110) as screen:
        screen.until("j judge now")
        screen.press(b"j")
        screen.until("wins by")
        screen.until("● openings ── ○ round 1")
        _, code = screen.end()

    assert code == 0


def test_i_types_a_line_that_the_debaters_hear(tmp_path):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path, 20), "--rounds", 1, columns=110) as screen:
        screen.until("i interject")
        screen.press(b"i")
        screen.until("say: ▌")
        screen.press(b"dropped")
        screen.until("say: dropped▌")
        screen.press(ESCAPE)
        screen.until("i interject")
        screen.press(b"i")
        screen.until("say: ▌")
        screen.press("What about bügs\x7f?".encode())
        screen.until("say: What about büg?▌")
        screen.press(ENTER)
        screen.until("» What about büg?")
        screen.until("wins by")
        _, code = screen.end()
    with Screen("debates", "show", "last", columns=110) as screen:
        shown, _ = screen.end()

    assert code == 0
    assert "> From the audience: What about büg?" in shown
    assert "dropped" not in shown


@pytest.mark.requirement("S4-74")
def test_q_stops_and_the_judge_still_decides(tmp_path):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path, 20), "--rounds", 5, columns=110) as screen:
        screen.until("◉ round 1")
        screen.press(b"q")
        screen.until("wins by")
        _, code = screen.end()

    assert code == 0


@pytest.mark.requirement("S4-B25")
def test_l_pays_more_for_a_debate_that_stands_still(tmp_path):
    words = ("debate", TOPIC, "-m", debaters(tmp_path, 1), "--rounds", 1, "--limit", 0.11, "--max-tokens", 7000)
    with Screen(*words, "--prices", prices(tmp_path), columns=110) as screen:
        screen.until("cost limit reached; the next call may cost")
        screen.until("l raise the limit")
        screen.press(b"l")
        screen.until("new limit in USD: ▌")
        screen.press(b"a lot")
        screen.press(ENTER)
        screen.until("amount in USD, not 'a lot'")
        screen.until("l raise the limit")
        screen.press(b"l")
        screen.until("new limit in USD: ▌")
        screen.press(b"3")
        screen.press(ENTER)
        screen.until("wins by")
        _, code = screen.end()

    assert code == 0


@pytest.mark.requirement("S4-49", "S4-81", "S4-B9")
def test_r_tries_again_what_failed(tmp_path):
    path = tmp_path / "debate-0.toml"
    model = debaters(tmp_path)
    good = path.read_text()
    path.write_text('[[replies]]\nsteps = [{error = "1002", message = "too busy"}]\n')
    with Screen("debate", TOPIC, "-m", model, "--rounds", 1, columns=110) as screen:
        screen.until("too busy")
        screen.until("r retry")
        path.write_text(good)
        screen.press(b"r")
        screen.until("wins by")
        _, code = screen.end()

    assert code == 0


def test_control_c_in_the_openings_ends_them_for_good(tmp_path):
    with Screen("debate", TOPIC, "-m", slow(tmp_path), columns=110) as screen:
        screen.until("It begins▌")
        screen.press(CUT)
        shown, code = screen.end()

    assert code == 130
    assert "stopping; press Ctrl-C again to leave at once" in shown
    assert "^C" not in shown


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("PYTHONIOENCODING", "ascii")])
def test_a_terminal_that_cannot_be_drawn_on_gets_plain_text(tmp_path, name, value):
    with Screen("debate", TOPIC, "-m", debaters(tmp_path), "--rounds", 1, **{name: value}) as screen:
        screen.until("### Ada (for)")
        screen.until("Ada wins by 7 points")
        _, code = screen.end()

    assert code == 0
    assert "\x1b" not in screen.raw
