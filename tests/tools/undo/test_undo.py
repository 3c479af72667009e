"""What tools changed in a workspace is undone exactly, and changes of others are never overwritten."""

import os

import pytest

from antiphon.tools import ChangedSince, UndoError, UndoSettings
from antiphon.tools.access import READ_ONLY
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.files import file_functions
from antiphon.tools.functions import FunctionToolbox
from antiphon.tools.undo.folder import undo_problem
from antiphon.tools.undo.recorders import record_command
from antiphon.tools.undo.scan import SETTLED_NS, Stamp
from tests.fixtures.mcp_tools import run
from tests.fixtures.undo import THREAD, UndoBench, picture


@pytest.fixture
def bench(tmp_path):
    with UndoBench(tmp_path) as bench:
        yield bench


def test_a_written_file_gets_its_content_and_mode_back(bench):
    (bench.work / "a.sh").write_text("old")
    (bench.work / "a.sh").chmod(0o750)
    before = picture(bench.work)

    bench.write("a.sh", "new")
    bench("edit_file", path="a.sh", old="new", new="newer")
    bench.undo.undo(THREAD)

    assert picture(bench.work) == before


def test_a_created_file_is_deleted_with_its_folders(bench):
    bench.write("one/two/three.txt", "new")

    assert bench.actions() == {"one": "delete", "one/two": "delete", "one/two/three.txt": "delete"}
    assert bench.undo.undo(THREAD).problems == []
    assert picture(bench.work) == {}


def test_a_folder_with_files_of_others_is_kept(bench):
    bench.write("one/mine.txt", "new")
    (bench.work / "one" / "theirs.txt").write_text("kept")

    plan = bench.undo.undo(THREAD)

    assert list(picture(bench.work)) == ["one", "one/theirs.txt"]
    assert plan.problems == ["'one' could not be restored: Directory not empty"]


@pytest.mark.parametrize(
    "command",
    [
        "rm -r docs",
        "mv a.txt b.txt",
        "echo more >> a.txt",
        "chmod 600 a.txt; chmod 700 docs",
        "ln -sf /etc/passwd link; rm a.txt; ln -s docs a.txt",
        "rm -r docs; echo file > docs",
        "rm link; mkdir link; touch link/x",
        "mkdir -p new/empty; mkfifo pipe; rmdir empty",
        "touch -d 2001-01-01 a.txt; printf 'two' > a.txt; touch -d 2001-01-01 a.txt",
        "mv docs other; mkdir docs; mv other docs/inner",
        "printf x > $'new\\nline'; printf x > $'\\xff\\xfe'; rm 'b c'",
        "echo changed > .git/HEAD; rm -r .git/refs",
        "cp a.txt c.txt; cp c.txt a.txt",
        "chmod 500 docs; chmod 400 docs/a.md",
    ],
)
def test_changes_of_a_command_are_undone(bench, command):
    (bench.work / "a.txt").write_text("one")
    (bench.work / "b c").write_text("two")
    (bench.work / "docs").mkdir(mode=0o755)
    (bench.work / "docs" / "a.md").write_text("three")
    (bench.work / "empty").mkdir()
    (bench.work / "link").symlink_to("a.txt")
    (bench.work / ".git" / "refs").mkdir(parents=True)
    (bench.work / ".git" / "HEAD").write_text("ref")
    before = picture(bench.work)

    bench.shell(command)
    plan = bench.undo.undo(THREAD)

    assert picture(bench.work) == before
    assert plan.problems == []


def test_all_calls_of_a_thread_are_undone_and_no_others(bench):
    bench.write("a", "1")
    bench.shell("echo 2 > a; echo 2 > b")
    bench("write_file", thread="another", path="c", content="3")
    bench("write_file", thread=None, path="d", content="4")

    bench.undo.undo(THREAD)

    assert list(picture(bench.work)) == ["c", "d"]


def test_a_command_that_cannot_write_is_not_recorded(bench):
    async def call():
        CURRENT.set(Context(thread=THREAD))
        async with record_command(bench.undo, bench.workspace, "ls", READ_ONLY):
            pass

    run(call())

    assert bench.undo.calls(THREAD) == []
    assert not bench.undo.folder.exists()


def test_a_file_that_others_changed_is_not_overwritten(bench):
    bench.write("a", "1")
    bench.write("b", "1")
    (bench.work / "a").write_text("mine")
    before = picture(bench.work)

    with pytest.raises(ChangedSince, match=r"'a': it was changed since; nothing was undone") as error:
        bench.undo.undo(THREAD)

    assert error.value.paths == ("a",)
    assert picture(bench.work) == before


def test_force_overwrites_what_others_changed_and_keeps_a_copy(bench):
    bench.write("a", "1")
    (bench.work / "a").write_text("mine")

    bench.undo.undo(THREAD, force=True)
    assert picture(bench.work) == {}
    bench.undo.undo(THREAD, redo=True)

    assert (bench.work / "a").read_text() == "mine"


def test_a_change_by_others_between_two_calls_is_noticed(bench):
    bench.write("a", "1")
    (bench.work / "a").write_text("mine")
    bench.write("a", "2")

    with pytest.raises(ChangedSince, match="changed by others between two calls"):
        bench.undo.undo(THREAD)


def test_a_change_of_mode_by_others_is_noticed(bench):
    bench.write("a", "1")
    (bench.work / "a").chmod(0o600)

    with pytest.raises(ChangedSince):
        bench.undo.undo(THREAD)


def test_an_undo_can_be_taken_back_once(bench):
    (bench.work / "a").write_text("old")
    bench.shell("echo new > a; mkdir b; ln -s a c")
    after = picture(bench.work)

    bench.undo.undo(THREAD)
    bench.undo.undo(THREAD, redo=True)
    assert picture(bench.work) == after
    with pytest.raises(UndoError, match="no undo to take back"):
        bench.undo.plan(THREAD, redo=True)
    bench.undo.undo(THREAD)

    assert (bench.work / "a").read_text() == "old"
    assert bench.actions() == {}


def test_one_redo_takes_back_an_undo_that_took_two_attempts(bench):
    bench.write("one/mine.txt", "new")
    after = picture(bench.work)
    (bench.work / "one" / "theirs.txt").write_text("in the way")
    assert len(bench.undo.undo(THREAD).problems) == 1
    (bench.work / "one" / "theirs.txt").unlink()
    assert [step.path for step in bench.undo.undo(THREAD).steps] == ["one"]

    plan = bench.undo.undo(THREAD, redo=True)

    assert [step.path for step in plan.steps] == ["one", "one/mine.txt"]
    assert picture(bench.work) == after


def test_a_redo_that_took_back_a_part_is_completed_by_another_one(bench):
    (bench.work / "one").mkdir()
    (bench.work / "one" / "mine.txt").write_text("old")
    bench.shell("rm -r one")
    bench.undo.undo(THREAD)
    (bench.work / "one" / "theirs.txt").write_text("in the way")
    assert len(bench.undo.undo(THREAD, redo=True).problems) == 1
    (bench.work / "one" / "theirs.txt").unlink()

    plan = bench.undo.undo(THREAD, redo=True)

    assert ([step.path for step in plan.steps], picture(bench.work)) == (["one"], {})


def test_a_redo_gives_back_what_a_forced_undo_has_overwritten(bench):
    bench.write("a", "by the tool")
    bench.undo.undo(THREAD)
    (bench.work / "a").write_text("by a person")
    bench.undo.undo(THREAD, force=True)

    bench.undo.undo(THREAD, redo=True)

    assert (bench.work / "a").read_text() == "by a person"


def test_a_redo_takes_back_the_undo_in_all_workspaces_of_a_thread(bench, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with UndoBench(tmp_path / "elsewhere") as elsewhere:
        box = FunctionToolbox(file_functions(elsewhere.workspace, undo=bench.undo))
        bench.write("a", "new")
        bench.box = box
        bench.write("b", "new")
        bench.undo.undo(THREAD)

        bench.undo.undo(THREAD, redo=True)

        assert (list(picture(bench.work)), list(picture(elsewhere.work))) == (["a"], ["b"])


def test_records_are_read_by_another_process(bench, tmp_path):
    bench.write("a", "1")
    bench.undo.close()

    with UndoBench(tmp_path) as later:
        assert later.actions() == {"a": "delete"}


def test_a_log_in_use_by_another_process_is_refused(bench, tmp_path):
    bench.write("a", "1")

    with UndoBench(tmp_path) as later, pytest.raises(UndoError, match="another process is working in this thread"):
        later.undo.plan(THREAD)


def test_unchanged_files_are_copied_once_and_dropped_in_the_end(bench):
    (bench.work / "a").write_text("one")
    (bench.work / "b").write_text("two")
    bench.shell("echo more >> a")
    bench.shell("echo more >> a")
    copies = bench.log_folder() / "copies"
    assert {path.read_text() for path in copies.iterdir()} == {"one", "two", "onemore\n"}

    bench.undo.close()

    assert {path.read_text() for path in copies.iterdir()} == {"one", "onemore\n"}


def test_records_and_copies_are_private_and_outside_of_the_workspace(bench):
    (bench.work / "a").write_text("secret")
    bench.write("a", "1")
    paths = [bench.undo.folder, *bench.undo.folder.rglob("*")]

    assert {oct(path.stat().st_mode & 0o777) for path in paths} == {"0o700", "0o600"}
    assert list(picture(bench.work)) == ["a"]


def test_a_folder_of_copies_inside_of_the_workspace_is_not_used(tmp_path):
    with UndoBench(tmp_path) as bench:
        bench.undo.folder = bench.work / ".undo"
        bench.write("a", "1")

        assert "inside the workspace" in bench.undo.problem(bench.workspace)
        assert list(picture(bench.work)) == ["a"]


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (UndoSettings(most_files=2), "the workspace has more than 2 files"),
        (UndoSettings(most_bytes=2 * 1024 * 1024), "the files of the workspace have more than 2 MiB"),
    ],
)
def test_commands_of_a_large_workspace_are_not_recorded_and_this_is_said(tmp_path, settings, reason):
    with UndoBench(tmp_path, settings) as bench:
        for name in "abc":
            (bench.work / name).write_bytes(bytes(1024 * 1024))
        assert bench.undo.problem(bench.workspace) == reason
        bench.shell("rm a")
        bench.write("b", "file tools are recorded")

        plan = bench.undo.plan(THREAD)

    assert plan.problems == [f"shell 'rm a': undo is off for commands: {reason}"]
    assert [step.path for step in plan.steps] == ["b"]


def test_a_workspace_within_the_limits_has_no_problem(bench):
    assert bench.undo.problem(bench.workspace) is None
    assert undo_problem(bench.workspace) is None


def test_files_created_beyond_the_limit_are_left_and_this_is_said(tmp_path):
    with UndoBench(tmp_path, UndoSettings(most_files=1)) as bench:
        (bench.work / "a").write_text("old")
        bench.shell("echo new > a; for i in $(seq 20); do touch n$i; done")

        plan = bench.undo.undo(THREAD)

    assert (bench.work / "a").read_text() == "old"
    assert "created files were not recorded: the workspace has more than 10 files" in plan.problems[0]


def test_skipped_folders_are_left_alone_and_named(bench):
    (bench.work / "node_modules").mkdir()
    (bench.work / "node_modules" / "x").write_text("1")
    bench.shell("rm -r node_modules; mkdir .venv; touch .venv/y a")

    plan = bench.undo.undo(THREAD)

    assert list(picture(bench.work)) == [".venv", ".venv/y"]
    assert "node_modules was deleted or replaced, and had not been copied" in plan.problems[0]
    assert ".venv was created, and is left alone" in plan.problems[0]


def test_a_store_in_the_workspace_is_never_recorded(tmp_path):
    with UndoBench(tmp_path) as bench:
        bench.undo.exclude(bench.work / "antiphon.db")
        bench.shell("touch antiphon.db antiphon.db-wal other")

        assert list(bench.actions()) == ["other"]


def test_copies_beyond_the_limit_of_a_thread_are_not_made_and_this_is_said(tmp_path):
    with UndoBench(tmp_path, UndoSettings(most_thread_bytes=10)) as bench:
        (bench.work / "a").write_text("more than ten characters")
        bench.write("a", "new")

        plan = bench.undo.plan(THREAD)

    assert plan.steps == []
    assert plan.problems[-1] == "'a' is not restored: there is no copy of it"


def test_old_and_large_logs_are_deleted_but_not_those_in_use(tmp_path):
    settings = UndoSettings(most_days=1, most_total_bytes=10_000)
    with UndoBench(tmp_path, settings) as bench:
        for number, thread in enumerate(["old", "large", "new"]):
            (bench.work / "a").write_text(str(number) * (100 if thread == "old" else 6_000))
            bench("write_file", thread=thread, path="a", content="x")
        bench.undo.close()
        os.utime(bench.undo._path("old") / "records", (0, 0))
        os.utime(bench.undo._path("large") / "records", (os.path.getmtime(tmp_path) - 100,) * 2)

        bench.undo.prune()

        assert [bool(bench.undo.calls(thread)) for thread in ("old", "large", "new")] == [False, False, True]


def test_deleting_a_thread_deletes_its_copies(bench):
    bench.write("a", "1")

    bench.undo.delete(THREAD)

    assert list(bench.undo.folder.iterdir()) == []
    assert bench.undo.plan(THREAD).steps == ()


def test_a_large_file_is_copied_too(bench):
    (bench.work / "large").write_bytes(os.urandom(3_000_000))
    before = picture(bench.work)

    bench.shell("truncate -s 1000 large")
    bench.undo.undo(THREAD)

    assert picture(bench.work) == before


def test_a_file_that_has_just_changed_is_read_again(bench):
    (bench.work / "new").write_text("1")
    (bench.work / "folder").mkdir()
    bench.shell("true")
    (tree,) = bench.undo.log(THREAD, bench.workspace).trees.values()
    stamp = Stamp(0o100644, 1, 1, 1_000, 1)

    assert SETTLED_NS >= 10_000_000  # the coarsest clock of a kernel ticks a hundred times a second
    assert stamp.is_settled(1_000 + SETTLED_NS + 1)
    assert not stamp.is_settled(1_000 + SETTLED_NS - 1)
    assert tree.states.keys() == {"folder", "new"}
