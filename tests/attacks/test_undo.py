"""Attacks on undo: a command or a changed workspace that would make an undo write elsewhere, or lose something."""

import os

import pytest

from antiphon.tools import ChangedSince, UndoError
from antiphon.tools.access import READ_ONLY
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.undo.recorders import record_command
from tests.attacks.attack import Attack
from tests.fixtures.mcp_tools import run
from tests.fixtures.undo import THREAD, UndoBench, picture

DELETE_COPIES = Attack("a command deletes the copies", "rm -rf ../undo")
CHANGE_COPIES = Attack("a command changes the copies", "for f in ../undo/*/copies/*; do echo evil > $f; done")
CHANGE_RECORDS = Attack("a command edits the records", "sed -i 's/a.txt/b.txt/' ../undo/*/records")
SWAP_FOLDER = Attack("a folder is swapped for a symlink that leads out", "rm -r docs; ln -s ../outside docs")
SWAP_FILE = Attack("a file is swapped for a symlink that leads out", "rm a.txt; ln -s ../outside/victim a.txt")
SWAP_LATER = Attack("a folder is swapped for a symlink after the run", "mv docs gone; ln -s ../outside docs")
SWAP_WORKSPACE = Attack("the workspace is swapped for a symlink", "mv work gone; ln -s outside work")
HARD_LINK = Attack("a file is a hard link to one outside", "ln -f ../outside/victim a.txt; echo more >> new.txt")
HIDE_TIME = Attack("a command gives a changed file its former size and time", "printf eno > a.txt; touch -r docs a.txt")
PIPE = Attack("a pipe would make the comparison wait for ever", "rm a.txt; mkfifo a.txt", works_unprotected=False)
ODD_NAMES = Attack("names with newlines, escapes and invalid bytes", "touch $'x\\ny' $'\\e[2J' $'\\xff' -- '-rf'")
DEEP = Attack("folders too deep to be walked", "d=x/x/x/x/x/x/x/x/x/x; mkdir -p $d/$d/$d/$d/$d/$d/$d/$d/$d/$d/$d")
MANY = Attack("more files than can be compared", "seq 200 | xargs touch; echo more > a.txt")
GIT_HOOK = Attack("a command writes a hook of git", "echo evil > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit")
MOVE_SKIPPED = Attack("a folder that is not copied is moved, so that an undo deletes it", "mv node_modules x")
RENAME_SKIPPED = Attack("the same, with a new folder in its place", "mv node_modules docs/x; mkdir node_modules")
OBJECTS = Attack("a command deletes the objects of git", "find .git/objects -type f -delete", works_unprotected=False)
ATTACKS = (
    DELETE_COPIES, CHANGE_COPIES, CHANGE_RECORDS, SWAP_FOLDER, SWAP_FILE, SWAP_LATER, SWAP_WORKSPACE, HARD_LINK,
    HIDE_TIME, PIPE, ODD_NAMES, DEEP, MANY, GIT_HOOK, MOVE_SKIPPED, RENAME_SKIPPED, OBJECTS,
)  # fmt: skip


@pytest.fixture
def bench(tmp_path):
    """A workspace beside a folder with a victim; commands are not confined."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim").write_text("victim")
    with UndoBench(tmp_path) as bench:
        (bench.work / "docs").mkdir()
        (bench.work / "docs" / "victim").write_text("doc")
        (bench.work / "a.txt").write_text("one")
        (bench.work / ".git" / "hooks").mkdir(parents=True)
        yield bench
    assert picture(outside) == {"victim": ("file", 0o644, b"victim")}


@pytest.mark.parametrize("attack", [DELETE_COPIES, CHANGE_COPIES, CHANGE_RECORDS], ids=lambda attack: attack.name)
def test_lost_copies_and_records_are_noticed_before_anything_is_changed(bench, tmp_path, attack):
    bench.shell("echo two > a.txt; echo two > docs/victim")
    bench.undo.close()
    bench("shell", thread=None, command=attack.payload)
    before = picture(bench.work)

    with UndoBench(tmp_path) as later:
        if attack is DELETE_COPIES:
            assert later.undo.undo(THREAD).steps == ()
        else:
            with pytest.raises(UndoError, match="nothing was undone"):
                later.undo.undo(THREAD)

    assert picture(bench.work) == before


@pytest.mark.parametrize(
    "attack", [SWAP_FOLDER, SWAP_FILE, HIDE_TIME, PIPE, ODD_NAMES, GIT_HOOK], ids=lambda attack: attack.name
)
def test_what_a_command_disguises_is_undone(bench, attack):
    before = picture(bench.work)
    bench.shell(attack.payload)
    assert picture(bench.work) != before

    assert not bench.undo.undo(THREAD).problems
    assert picture(bench.work) == before


@pytest.mark.parametrize("force", [False, True])
def test_an_undo_does_not_follow_a_symlink_that_came_later(bench, force):
    bench.write("docs/victim", "changed")
    bench("shell", thread=None, command=SWAP_LATER.payload)

    if force:
        plan = bench.undo.undo(THREAD, force=True)
        assert plan.problems == ["'docs/victim' could not be restored: its folder does not exist any more"]
        assert plan.steps == []
    else:
        with pytest.raises(ChangedSince):
            bench.undo.undo(THREAD)


def test_an_undo_does_not_follow_a_workspace_that_is_a_symlink_now(bench, tmp_path):
    bench.write("victim", "changed")
    bench.undo.close()
    os.rename(bench.work, tmp_path / "gone")
    os.symlink("outside", bench.work)

    with pytest.raises(UndoError, match="the workspace was replaced by a symlink; nothing was undone"):
        bench.undo.undo(THREAD, force=True)


def test_a_hard_link_to_a_file_outside_is_cut_and_not_written_through(bench):
    before = picture(bench.work)
    bench.shell(HARD_LINK.payload)

    bench.undo.undo(THREAD)

    assert picture(bench.work) == before


@pytest.mark.parametrize("attack", [DEEP, MANY], ids=lambda attack: attack.name)
def test_what_cannot_be_compared_is_said(tmp_path, attack, bench):
    object.__setattr__(bench.undo.settings, "most_files", 20)
    bench.shell(attack.payload)

    plan = bench.undo.undo(THREAD)

    assert "created files were not recorded" in plan.problems[0]
    assert (bench.work / "a.txt").read_text() == "one"


@pytest.mark.parametrize("attack", [MOVE_SKIPPED, RENAME_SKIPPED], ids=lambda attack: attack.name)
@pytest.mark.parametrize("force", [False, True])
def test_a_moved_folder_that_was_not_copied_is_not_deleted(bench, attack, force):
    (bench.work / "node_modules" / "inner").mkdir(parents=True)
    (bench.work / "node_modules" / "inner" / "only").write_text("the only copy")
    bench.shell(f"{attack.payload}; echo two > a.txt")

    plan = bench.undo.undo(THREAD, force=force)

    assert [path.read_text() for path in bench.work.rglob("only")] == ["the only copy"]
    assert "node_modules was moved to" in plan.problems[0]
    assert (bench.work / "a.txt").read_text() == "one"


def test_a_new_folder_with_the_inode_of_a_deleted_one_is_undone(bench):
    (bench.work / "node_modules").mkdir()
    bench.shell("rmdir node_modules; mkdir new; echo two > new/file")

    bench.undo.undo(THREAD)

    assert not (bench.work / "new").exists()


def test_deleted_objects_of_git_are_said(bench):
    (bench.work / ".git" / "objects" / "ab").mkdir(parents=True)
    (bench.work / ".git" / "objects" / "ab" / "cdef").write_text("object")
    bench.shell(OBJECTS.payload)

    problem = "objects of version control in .git/objects were deleted, and had not been copied"
    assert problem in bench.undo.plan(THREAD).problems[0]


def test_objects_that_git_packs_are_no_problem(bench):
    (bench.work / ".git" / "objects" / "ab").mkdir(parents=True)
    (bench.work / ".git" / "objects" / "ab" / "cdef").write_text("object")
    bench.shell("rm .git/objects/ab/cdef; mkdir .git/objects/pack; touch .git/objects/pack/pack-1.pack")

    assert not bench.undo.plan(THREAD).problems


def test_a_command_that_may_not_write_costs_no_copies(bench):
    async def call():
        CURRENT.set(Context(thread=THREAD))
        async with record_command(bench.undo, bench.workspace, "cat a.txt", READ_ONLY):
            pass

    run(call())

    assert not bench.undo.folder.exists()


def test_each_attack_has_a_name_of_its_own():
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS) >= 8
