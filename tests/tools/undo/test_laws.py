"""Laws of undo: after any changes by tools, an undo gives the tree back, and a redo the changes."""

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.tools.context import CURRENT, Context
from antiphon.tools.undo.recorders import record_command
from tests.fixtures.mcp_tools import run
from tests.fixtures.undo import THREAD, UndoBench, picture

NAMES = ("a", "b", "line\nbreak", os.fsdecode(b"\xff\xfe"), ".hidden")
FOLDERS = ("", "d/", "d/e/")
paths = st.builds(lambda folder, name: folder + name, st.sampled_from(FOLDERS), st.sampled_from([*NAMES, "d", "e"]))
texts = st.sampled_from(["", "one", "two", "one two", "x" * 400_000])
modes = st.sampled_from([0o600, 0o644, 0o755, 0o400, 0o700])


def write(folder, path, text, mode):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def append(folder, path, text, mode):
    with (folder / path).open("a") as file:
        file.write(text)


def remove(folder, path, text, mode):
    target = folder / path
    shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()


def make_folder(folder, path, text, mode):
    (folder / path).mkdir(parents=True)


def move(folder, path, text, mode):
    (folder / path).rename(folder / "d" / "moved")


def link(folder, path, text, mode):
    (folder / path).symlink_to(f"../{text[:10]}")


def hard_link(folder, path, text, mode):
    (folder / "d" / "hard").hardlink_to(folder / path)


def change_mode(folder, path, text, mode):
    if not (folder / path).is_symlink():
        (folder / path).chmod(mode if (folder / path).is_file() else mode | 0o700)


def make_pipe(folder, path, text, mode):
    os.mkfifo(folder / path)


def touch(folder, path, text, mode):
    os.utime(folder / path, (1, 1))


changes = st.sampled_from([write, append, remove, make_folder, move, link, hard_link, change_mode, make_pipe, touch])
steps = st.tuples(changes, paths, texts, modes)
commands = st.lists(steps, min_size=1, max_size=5)
file_calls = st.tuples(st.sampled_from(["a", "d/b", "n/m/o"]), texts)


def perform(folder, command):
    for change, path, text, mode in command:
        # Opening a pipe would wait for its other end.
        if change in (write, append) and (folder / path).is_fifo():
            continue
        # A command that fails in the middle has changed something, too.
        with suppress(OSError, shutil.Error):
            change(folder, path, text, mode)


def record(bench, command):
    async def call():
        CURRENT.set(Context(thread=THREAD))
        async with record_command(bench.undo, bench.workspace, "a command", None):
            perform(bench.work, command)

    run(call())


@settings(max_examples=60)
@given(commands, st.lists(st.one_of(commands, file_calls), max_size=5))
def test_an_undo_gives_the_tree_back_and_a_redo_the_changes(start, calls):
    with tempfile.TemporaryDirectory() as name, UndoBench(Path(name)) as bench:
        perform(bench.work, start)
        before = picture(bench.work)
        for call in calls:
            if isinstance(call, tuple):
                bench.write(*call)
            else:
                record(bench, call)
        after = picture(bench.work)

        assert not bench.undo.undo(THREAD).problems
        assert picture(bench.work) == before
        if bench.undo.calls(THREAD)[-1:] and bench.undo.calls(THREAD)[-1].tool == "undo":
            assert not bench.undo.undo(THREAD, redo=True).problems
            assert picture(bench.work) == after


@settings(max_examples=40)
@given(
    st.sets(st.sampled_from(["a/x", "a/y", "b/x", "b/c/x", "d"]), min_size=1), st.lists(st.sets(st.sampled_from("ab")))
)
def test_one_redo_takes_back_any_number_of_undos_that_were_partial(files, obstacles):
    with tempfile.TemporaryDirectory() as name, UndoBench(Path(name)) as bench:
        for path in sorted(files):
            bench.write(path, path)
        after = picture(bench.work)
        for folders in obstacles:
            blocked = [bench.work / folder / "theirs" for folder in folders if (bench.work / folder).is_dir()]
            for path in blocked:
                path.touch()
            bench.undo.undo(THREAD)
            for path in blocked:
                path.unlink()

        if obstacles:
            bench.undo.undo(THREAD, redo=True)

        assert picture(bench.work) == after


@settings(max_examples=30)
@given(commands, commands)
def test_a_plan_changes_nothing(start, command):
    with tempfile.TemporaryDirectory() as name, UndoBench(Path(name)) as bench:
        perform(bench.work, start)
        record(bench, command)
        after = picture(bench.work)

        bench.undo.plan(THREAD)

        assert picture(bench.work) == after


@settings(max_examples=30)
@given(commands, paths, commands)
def test_no_undo_deletes_what_was_in_a_skipped_folder_that_was_moved(start, path, command):
    def move_packages(folder, *_):
        (folder / "node_modules").rename(folder / path)

    with tempfile.TemporaryDirectory() as name, UndoBench(Path(name)) as bench:
        perform(bench.work, start)
        (bench.work / "node_modules").mkdir()
        (bench.work / "node_modules" / "only").write_text("the only copy")
        record(bench, [(move_packages, "", "", 0)])
        record(bench, [step for step in command if step[0] in (write, append, make_folder, touch)])

        bench.undo.undo(THREAD, force=True)

        # A symlink may have led it out of the workspace, where nothing is undone.
        assert [file.read_text() for file in Path(name).rglob("only")] == ["the only copy"]
