"""No path leaves a workspace: not by dots, not by symlinks, not by being quick."""

import os
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.tools.errors import ToolCallError, ToolsError
from antiphon.tools.workspace import MAX_SYMLINKS, Workspace

SECRET = b"outside"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret").write_bytes(SECRET)
    inside = tmp_path / "inside"
    (inside / "sub" / "deep").mkdir(parents=True)
    (inside / "file").write_bytes(b"inside")
    (inside / "sub" / "file").write_bytes(b"inside")
    return inside


@pytest.fixture
def workspace(folder):
    with Workspace(folder) as opened:
        yield opened


def read(workspace, path):
    return workspace.read(path, most=1_000)


@pytest.mark.parametrize("path", ["file", "./file", "sub/../file", "sub//file", "sub/deep/../../file", "sub/./file"])
def test_a_path_that_stays_inside_is_read(workspace, path):
    assert read(workspace, path) == b"inside"


def test_the_whole_path_of_a_file_inside_is_understood(workspace, folder):
    assert read(workspace, f"{folder}/sub/file") == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "sub/../../secret",
        "sub/deep/../../../secret",
        "/etc/passwd",
        "//etc/passwd",
        "..",
        "../inside/file",
    ],
)
def test_a_path_that_leads_out_is_refused(workspace, path):
    with pytest.raises(ToolCallError):
        read(workspace, path)
    with pytest.raises(ToolCallError):
        workspace.replace(path, b"changed")


def test_a_folder_whose_name_begins_alike_is_not_inside(workspace, folder):
    beside = folder.with_name("inside-out")
    beside.mkdir()
    (beside / "file").write_bytes(SECRET)

    with pytest.raises(ToolCallError):
        read(workspace, f"{beside}/file")


@pytest.mark.parametrize("target", ["../secret", "sub/../../secret", "/etc/passwd", "../../secret", "/proc/self/root"])
def test_a_symlink_that_leads_out_is_refused(workspace, folder, target):
    (folder / "sub" / "link").symlink_to(target if target != "../secret" else "../../secret")

    with pytest.raises(ToolCallError):
        read(workspace, "sub/link")
    with pytest.raises(ToolCallError):
        workspace.replace("sub/link", b"changed")
    with pytest.raises(ToolCallError):
        workspace.replace("sub/link/new", b"changed")
    assert (folder.parent / "secret").read_bytes() == SECRET


def test_a_symlink_that_stays_inside_is_followed(workspace, folder):
    (folder / "sub" / "up").symlink_to("../file")
    (folder / "whole").symlink_to(folder / "sub")

    assert read(workspace, "sub/up") == b"inside"
    assert read(workspace, "whole/file") == b"inside"


def test_writing_through_a_symlink_inside_changes_its_target(workspace, folder):
    (folder / "link").symlink_to("sub/file")

    workspace.replace("link", b"new")

    assert (folder / "sub" / "file").read_bytes() == b"new"
    assert (folder / "link").is_symlink()


def test_symlinks_in_a_circle_are_refused(workspace, folder):
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")

    with pytest.raises(ToolCallError, match="too many symlinks"):
        read(workspace, "a")
    assert MAX_SYMLINKS == 40


def test_a_pipe_is_refused_and_nobody_waits_for_it(workspace, folder):
    os.mkfifo(folder / "pipe")

    with pytest.raises(ToolCallError, match="not a regular file"):
        read(workspace, "pipe")
    with pytest.raises(ToolCallError, match="not a regular file"):
        workspace.replace("pipe", b"")


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".GIT/config", "sub/.git", ".hg/hgrc"])
def test_nothing_is_written_into_version_control(workspace, folder, path):
    (folder / ".git").mkdir()

    with pytest.raises(ToolCallError, match="version control"):
        workspace.replace(path, b"echo")


def test_version_control_behind_a_symlink_is_known_too(workspace, folder):
    (folder / ".git" / "hooks").mkdir(parents=True)
    (folder / "innocent").symlink_to(".git/hooks")

    with pytest.raises(ToolCallError, match="version control"):
        workspace.replace("innocent/pre-commit", b"echo")


def test_a_file_is_replaced_at_once_and_keeps_its_mode(workspace, folder):
    (folder / "file").chmod(0o750)
    before = os.open(folder / "file", os.O_RDONLY)

    assert workspace.replace("file", b"new")

    assert (folder / "file").stat().st_mode & 0o777 == 0o750
    assert os.read(before, 100) == b"inside"
    assert sorted(os.listdir(folder)) == ["file", "sub"]
    os.close(before)


def test_folders_on_the_way_are_made(workspace, folder):
    assert not workspace.replace("x/y/z", b"new")
    assert (folder / "x" / "y" / "z").read_bytes() == b"new"


def test_too_much_is_refused(workspace, folder):
    (folder / "big").write_bytes(b"x" * 2_000)

    with pytest.raises(ToolCallError, match="2,000 bytes"):
        read(workspace, "big")


@pytest.mark.parametrize("path", ["nothing", "nothing/at/all", "file/inner", "a\0b", "x" * 5_000, "\ud800"])
def test_what_is_no_file_is_refused_in_words(workspace, path):
    with pytest.raises(ToolCallError):
        read(workspace, path)


def test_a_folder_that_is_none_cannot_be_a_workspace(tmp_path):
    with pytest.raises(ToolsError, match="cannot be a workspace"):
        Workspace(tmp_path / "nothing")


def test_a_closed_workspace_refuses(folder):
    workspace = Workspace(folder)
    workspace.close()
    workspace.close()

    with pytest.raises(ToolCallError, match="closed"):
        read(workspace, "file")


NAMES = st.sampled_from(["..", ".", "", "sub", "deep", "file", "out", "up", "root", "self", "secret", "new", "~", "\\"])
PATHS = st.one_of(st.lists(NAMES, max_size=9).map("/".join), st.text(max_size=30))


@settings(max_examples=400, deadline=None)
@given(path=PATHS, absolute=st.booleans(), writes=st.booleans())
def test_no_path_whatever_leaves_the_workspace(tmp_path_factory, path, absolute, writes):
    """Whatever the path, what is outside is neither read nor changed."""
    place = tmp_path_factory.mktemp("place", numbered=True)
    (place / "secret").write_bytes(SECRET)
    inside = place / "inside"
    (inside / "sub" / "deep").mkdir(parents=True)
    for name, target in {"out": "..", "up": "sub/deep/../..", "root": "/", "self": "."}.items():
        (inside / name).symlink_to(target)
    (inside / "sub" / "out").symlink_to("../../secret")
    with Workspace(inside) as workspace:
        try:
            if writes:
                workspace.replace(f"/{path}" if absolute else path, b"written")
            else:
                assert read(workspace, f"/{path}" if absolute else path) != SECRET
        except ToolCallError:
            pass

    assert sorted(os.listdir(place)) == ["inside", "secret"]
    assert (place / "secret").read_bytes() == SECRET


@pytest.fixture
def swapped(tmp_path):
    """A folder beside an outside one, in which a thread runs `swap` over and over; what is outside stays as it was."""
    outside = tmp_path / "outside"
    inside = tmp_path / "inside"
    (inside / "real").mkdir(parents=True)
    outside.mkdir()
    (outside / "file").write_bytes(SECRET)
    (inside / "real" / "file").write_bytes(b"inside")
    over = threading.Event()

    def begin(swap):
        def work():
            while not over.is_set():
                swap(inside, outside)

        thread = threading.Thread(target=work)
        thread.start()
        begin.thread = thread
        return inside

    yield begin
    over.set()
    begin.thread.join()
    assert os.listdir(outside) == ["file"]
    assert (outside / "file").read_bytes() == SECRET


def outcomes(inside, act):
    """What happened how often, in some thousand tries, and as many more until both have been seen."""
    counts = {"inside": 0, "refused": 0}
    with Workspace(inside) as workspace:
        for number in range(300_000):
            if number > 3_000 and min(counts.values()) > 0:
                break
            try:
                act(workspace)
                counts["inside"] += 1
            except ToolCallError:
                counts["refused"] += 1
    return counts


def test_a_folder_that_becomes_a_symlink_again_and_again_lets_nothing_be_read(swapped):
    def swap(inside, outside):
        os.rename(inside / "real", inside / "aside")
        os.symlink(outside, inside / "real")
        os.unlink(inside / "real")
        os.rename(inside / "aside", inside / "real")

    def act(workspace):
        assert read(workspace, "real/file") == b"inside"

    assert min(outcomes(swapped(swap), act).values()) > 0


def test_a_symlink_that_changes_its_target_again_and_again_lets_nothing_be_written(swapped):
    def swap(inside, outside):
        for target in (outside, "real"):
            os.symlink(target, inside / "next")
            os.replace(inside / "next", inside / "place")

    def act(workspace):
        if workspace.kind("place") == "folder":
            workspace.replace("place/new", b"x")

    assert min(outcomes(swapped(swap), act).values()) > 0
