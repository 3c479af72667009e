"""Secrets and protected paths of a workspace are found, and new protected ones are renamed."""

import asyncio
import os

import pytest

from antiphon.tools.access import READ_ONLY
from antiphon.tools.sandbox import find_sandbox, scan
from antiphon.tools.sandbox.confinement import confines
from antiphon.tools.sandbox.names import is_key, is_secret
from antiphon.tools.sandbox.runner import ShellSettings, run_command
from antiphon.tools.sandbox.scan import move_new_protected, scan_workspace

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


@pytest.mark.parametrize("name", [".env", ".env.local", "id_rsa", "store.p12", ".netrc", ".ssh", "credentials.json"])
def test_names_of_secrets_are_known(name):
    assert is_secret(name)


@pytest.mark.parametrize("name", [".env.example", ".env.sample", "environment", "id_rsa.pub", "notes.txt", ".envy"])
def test_other_names_are_no_secrets(name):
    assert not is_secret(name)


def test_a_pem_file_is_a_key_only_if_it_contains_one(tmp_path):
    (tmp_path / "public.pem").write_text("-----BEGIN CERTIFICATE-----")
    (tmp_path / "private.pem").write_text("-----BEGIN RSA PRIVATE KEY-----")

    assert not is_key(str(tmp_path / "public.pem"), "public.pem")
    assert is_key(str(tmp_path / "private.pem"), "private.pem")


def test_a_pipe_with_the_name_of_a_key_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.pem")

    assert scan_workspace(str(tmp_path)).secrets == ()


def test_secrets_and_protected_paths_are_found_in_subfolders_but_not_in_packages(tmp_path):
    for name in (".env", "app/.env.local", "node_modules/one/.env", ".git/config", "app/Makefile"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    found = scan_workspace(str(tmp_path))

    assert sorted(found.secrets) == [str(tmp_path / ".env"), str(tmp_path / "app/.env.local")]
    assert sorted(found.protected) == sorted(
        str(tmp_path / name) for name in (".env", ".git", "app/.env.local", "app/Makefile")
    )


def test_the_walk_for_secrets_ends_at_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(scan, "MOST_VISITED", 2)
    for name in ("a/b/.env", ".env"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")

    incomplete = scan_workspace(str(tmp_path))

    assert incomplete.secrets == (str(tmp_path / ".env"),)
    assert not incomplete.is_complete
    assert str(tmp_path / "a/b/.env") in scan_workspace(str(tmp_path), secrets=False).protected


def test_no_command_starts_in_a_workspace_that_is_too_large_until_it_is_smaller(tmp_path, monkeypatch):
    (tmp_path / ".env").write_text("secret")
    with monkeypatch.context() as patch:
        patch.setattr(scan, "MOST_VISITED", 0)
        outcome = asyncio.run(run_command(tmp_path, "cat .env", 20_000, ShellSettings(), PLAIN, READ_ONLY))
    is_asked = not confines(tmp_path)
    asyncio.run(run_command(tmp_path, "true", 20_000, ShellSettings(), PLAIN, READ_ONLY))

    assert (outcome.reason, outcome.output, is_asked) == ("failed", "", True)
    assert "use a smaller folder as the workspace" in outcome.problem
    assert confines(tmp_path) == find_sandbox().confines


def test_a_new_protected_path_is_renamed_and_an_old_one_stays(tmp_path):
    (tmp_path / "Makefile").write_text("old")
    before = scan_workspace(str(tmp_path))
    for name in (".envrc", "refused-.envrc"):
        (tmp_path / name).write_text("new")

    assert move_new_protected(str(tmp_path), before) == [".envrc"]
    assert sorted(os.listdir(tmp_path)) == ["Makefile", "refused-.envrc", "refused-2-.envrc"]


def test_the_new_name_is_not_protected_itself(tmp_path):
    before = scan_workspace(str(tmp_path))
    (tmp_path / "rules.mk").write_text("new")
    move_new_protected(str(tmp_path), before)

    assert os.listdir(tmp_path) == ["refused-rules.mk.refused"]


def test_a_protected_path_that_was_moved_is_not_renamed(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / ".envrc").write_text("old")
    before = scan_workspace(str(tmp_path))
    (tmp_path / "a").rename(tmp_path / "b")

    assert move_new_protected(str(tmp_path), before) == []
