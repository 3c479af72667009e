"""Every command under bad conditions: no traceback, an exit code of the table, and a line if it fails.

One test is one condition, in which all commands run as processes of their own. Those marked `slow` are the rarer ones.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from antiphon.cli.frame import EXIT_CODES
from antiphon.cli.main import COMMANDS
from tests.fixtures.command import antiphon, options_of, parser_of, subparsers

TOPIC = "Should a city close its centre to private cars?"
WORDS = [
    ["chat", "-m", "scripted:demo", "Hello"],
    ["run", "-m", "scripted:agents", "--mode", "auto", "Write"],
    ["runs"],
    ["agents"],
    ["agents", "init"],
    ["trust"],
    ["debate", TOPIC, "-m", "scripted:debate", "--rounds", "1"],
    ["debates"],
    ["ps"],
    ["config"],
    ["config", "set", "model", "scripted:demo"],
    ["keys"],
    ["templates"],
    ["usage"],
    ["completion", "bash"],
    ["help"],
    ["attach"],
    ["resume"],
    ["threads"],
    ["threads", "show", "last"],
    ["threads", "export", "last"],
    ["threads", "delete", "last"],
    ["serve", "--show-settings"],
    ["mcp"],
    ["tokens"],
    ["models"],
    ["db"],
    ["db", "check"],
    ["doctor"],
    ["machines"],
    ["chart", "check", "nothing.json"],
    ["inspect", "nothing:nothing"],
    ["play"],
    ["--help"],
    ["nonsense"],
]
AT_ONCE = 3
ENDLESS = ("serve", "inspect", "mcp")
VALUES = [
    "",
    "-",
    "--",
    "last",
    "0",
    "-1",
    "1e999",
    "nan",
    "ä\x07\x1b[2J",
    "/",
    "/dev/null",
    "..",
    "x" * 5000,
    "{}",
    "a=b",
    "%s%n",
]
PYTHON = [sys.executable, "-m", "antiphon"]


@dataclass(frozen=True)
class Place:
    """A store with a conversation, a home and a folder, each of its own."""

    root: Path
    environment: dict[str, str]

    @property
    def store(self) -> Path:
        return self.root / "store.db"


Prepare = Callable[[Place], None]


def shell(line: str) -> list[str]:
    """A line of bash that runs the command as its arguments."""
    return ["bash", "-c", line, "bash", *PYTHON]


def leave_as_it_is(place: Place) -> None:
    """Change nothing."""


def write_nonsense(place: Place) -> None:
    config = place.root / "home/.config/antiphon"
    for folder in (config, place.root / "home/.local/share/antiphon", place.root / "home/.local/state/antiphon"):
        folder.mkdir(parents=True)
        for name in ("config.toml", "keys.toml", "models.toml", "prices.toml", "trusted.json", "chat_history"):
            (folder / name).write_bytes(b"\xff\xfe[[[ nonsense")
            (folder / name).chmod(0o600)


def make_folders_of_files(place: Place) -> None:
    for name in ("config.toml", "keys.toml", "models.toml", "prices.toml", "trusted.json"):
        (place.root / "home/.config/antiphon" / name).mkdir(parents=True)


def make_store_a_folder(place: Place) -> None:
    place.store.unlink()
    place.store.mkdir()


def make_store_a_text(place: Place) -> None:
    place.store.write_text("hello\n" * 1000)


def cut_store(place: Place) -> None:
    place.store.write_bytes(place.store.read_bytes()[:50_000])


def take_home_away(place: Place) -> None:
    place.environment["HOME"] = "/proc/1/nothing"
    del place.environment["ANTIPHON_STORE"]


def make_user_folders_a_file(place: Place) -> None:
    (place.root / "file").write_text("x")
    place.environment.update({f"XDG_{name}_HOME": str(place.root / "file") for name in ("CONFIG", "DATA", "STATE")})
    del place.environment["ANTIPHON_STORE"]


def speak_ascii(place: Place) -> None:
    place.environment.update(LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="ascii")


def take_temporary_folder_away(place: Place) -> None:
    place.environment["TMPDIR"] = "/nonexistent"


QUICK: dict[str, tuple[list[str], Prepare]] = {
    "closed streams": (shell('exec "$@" <&- >&- 2>&-'), leave_as_it_is),
    "full device": (shell('exec "$@" </dev/null >/dev/full'), leave_as_it_is),
    "closed pipe": (shell('"$@" </dev/null | head -c 1 >/dev/null; exit ${PIPESTATUS[0]}'), leave_as_it_is),
}
RARE: dict[str, tuple[list[str], Prepare]] = {
    "closed input": (shell('exec "$@" <&-'), leave_as_it_is),
    "closed output": (shell('exec "$@" </dev/null >&-'), leave_as_it_is),
    "full device for errors": (shell('exec "$@" </dev/null >/dev/full 2>&1'), leave_as_it_is),
    "pipe that nobody reads": (shell('"$@" </dev/null 2>&1 | true; exit ${PIPESTATUS[0]}'), leave_as_it_is),
    "deleted folder": (shell('mkdir gone; cd gone; rmdir ../gone; exec "$@" </dev/null'), leave_as_it_is),
    "bytes that are no text": (shell("exec \"$@\" $'\\xff\\xfe' </dev/null"), leave_as_it_is),
    "huge argument": (shell('exec "$@" "$(printf "%0130000d" 1)" </dev/null'), leave_as_it_is),
    "no home": (PYTHON, take_home_away),
    "user folders that are a file": (PYTHON, make_user_folders_a_file),
    "files of nonsense": (PYTHON, write_nonsense),
    "folders in place of files": (PYTHON, make_folders_of_files),
    "store that is a folder": (PYTHON, make_store_a_folder),
    "store that is a text": (PYTHON, make_store_a_text),
    "store that was cut": (PYTHON, cut_store),
    "ASCII": (PYTHON, speak_ascii),
    "no temporary folder": (PYTHON, take_temporary_folder_away),
}


@pytest.fixture(scope="module")
def seed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a conversation."""
    folder = tmp_path_factory.mktemp("seed")
    path = folder / "store.db"
    environment = {**os.environ, "ANTIPHON_SERVER": "off", "HOME": str(folder)}
    assert antiphon("chat", "-m", "scripted:demo", "Hello", "--store", path, env=environment).returncode == 0
    return path


def make_place(root: Path, seed: Path) -> Place:
    for name in ("home", "run", "work"):
        (root / name).mkdir(parents=True, mode=0o700)
    shutil.copy(seed, root / "store.db")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "ANTIPHON_"))}
    places = {"HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run")}
    return Place(root, {**kept, **places, "ANTIPHON_SERVER": "off", "ANTIPHON_STORE": str(root / "store.db")})


def problem_of(words: list[str], command: list[str], prepare: Prepare, place: Place, *, is_told: bool) -> str | None:
    """What is wrong with the end of a command, or None."""
    prepare(place)
    ended = subprocess.run(
        [*command, *words],
        env=place.environment,
        cwd=place.root / "work",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    notes = ended.stderr.decode("utf-8", "replace")
    is_silent = is_told and ended.returncode not in (0, 1) and not notes
    is_broken = any(sign in notes for sign in ("Traceback", "ignored in", "unexpected error"))
    if ended.returncode in EXIT_CODES and not is_silent and not is_broken:
        return None
    return f"{' '.join(words)}: {ended.returncode}: {notes[-300:]}"


def check(seed: Path, tmp_path: Path, command: list[str], prepare: Prepare) -> None:
    is_told = "2>" not in " ".join(command)

    def run(number: int) -> str | None:
        place = make_place(tmp_path / str(number), seed)
        return problem_of(WORDS[number], command, prepare, place, is_told=is_told)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        problems = [problem for problem in pool.map(run, range(len(WORDS))) if problem is not None]

    assert problems == []


def random_words(random: Random) -> list[str]:
    """A command, or one of its subcommands, with some of its options, in any order and with any values."""
    name = random.choice([name for name in COMMANDS if name not in ENDLESS])
    parser = parser_of(name)
    words = [name]
    with suppress(ValueError):  # it has no subcommands
        sub, parser = random.choice(list(subparsers(parser).items()))
        words.append(sub)
    for option in random.sample(sorted(options_of(parser)), k=min(3, len(options_of(parser)))):
        words += [option] + ([random.choice(VALUES)] if random.random() < 0.7 else [])
    return [*words, *random.choices(VALUES, k=random.randrange(3))]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(5))
def test_no_options_break_a_command(seed: Path, tmp_path: Path, number: int) -> None:
    random = Random(number)
    lines = [random_words(random) for _ in range(20)]

    def run(place: int) -> str | None:
        made = make_place(tmp_path / str(place), seed)
        return problem_of(lines[place], PYTHON, leave_as_it_is, made, is_told=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert [problem for problem in pool.map(run, range(len(lines))) if problem is not None] == []


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) <= {words[0] for words in WORDS}


@pytest.mark.parametrize("condition", QUICK)
def test_no_command_breaks_under(seed: Path, tmp_path: Path, condition: str) -> None:
    check(seed, tmp_path, *QUICK[condition])


@pytest.mark.slow
@pytest.mark.parametrize("condition", RARE)
def test_no_command_breaks_under_rare(seed: Path, tmp_path: Path, condition: str) -> None:
    check(seed, tmp_path, *RARE[condition])
