"""The policy of a command names what it can read, and hides credentials and our own data."""

import os
import sys

import pytest

from antiphon.tools.access import READ_ONLY, WRITABLE, Access
from antiphon.tools.sandbox import policy as policy_module
from antiphon.tools.sandbox.bubblewrap import bubblewrap_options
from antiphon.tools.sandbox.landlock import READ, READ_FOLDER, WRITE, path_rules, scope_rules
from antiphon.tools.sandbox.policy import PACKAGE, make_policy, own_program_folders, tool_chain_variables
from antiphon.tools.sandbox.scan import SensitivePaths, scan_workspace
from antiphon.tools.sandbox.seatbelt import seatbelt_profile


def workspace_policy(folder, access=READ_ONLY, environment=None, **options):
    """Return the policy of a folder whose home is its parent."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {"HOME": str(folder.parent), "PATH": "/usr/bin", **(environment or {})}
    return make_policy(str(folder), access, scan_workspace(str(folder)), environment, **options)


def rules_of(policy):
    return {path: rights for rights, paths in path_rules(policy, 7)["rules"] for path in paths}


def test_of_the_home_only_tool_chains_are_readable(tmp_path):
    for name in (".cargo", ".ssh", "documents"):
        (tmp_path / name).mkdir()
    policy = workspace_policy(tmp_path / "work")

    assert [path for path in policy.readable if path.startswith(str(tmp_path))] == [str(tmp_path / ".cargo")]


def test_programs_of_path_are_readable_with_what_is_beside_them(tmp_path):
    for name in ("tools/bin", "tools/lib", "tools/secrets"):
        (tmp_path / name).mkdir(parents=True)
    policy = workspace_policy(tmp_path / "work", environment={"PATH": f"{tmp_path}/tools/bin"})

    assert [path for path in policy.readable if path.startswith(str(tmp_path))] == [
        str(tmp_path / "tools/bin"),
        str(tmp_path / "tools/lib"),
    ]


def test_a_home_in_path_is_not_readable(tmp_path):
    policy = workspace_policy(tmp_path / "work", environment={"PATH": f"{tmp_path}:/:{tmp_path.parent}"})

    assert not [path for path in policy.readable if str(tmp_path).startswith(path)]


def test_a_home_below_a_folder_of_the_system_is_not_readable_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_module, "SYSTEM", ("/usr", str(tmp_path)))

    assert str(tmp_path) not in workspace_policy(tmp_path / "home" / "work").readable


def test_our_own_data_and_hidden_paths_are_hidden(tmp_path):
    for name in ("config/antiphon", "keys"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "store.db").write_text("")
    environment = {"ANTIPHON_STORE": str(tmp_path / "store.db"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    policy = workspace_policy(tmp_path / "work", environment=environment, hidden=["~/keys"])

    assert {str(tmp_path / name) for name in ("config/antiphon", "keys", "store.db")} <= policy.hidden


def test_the_repository_of_a_worktree_is_readable_only_if_it_names_the_worktree(tmp_path):
    work = tmp_path / "work"
    tree = tmp_path / "main" / ".git" / "worktrees" / "work"
    for folder in (work, tree):
        folder.mkdir(parents=True)
    (work / ".git").write_text(f"gitdir: {tree}\n")
    (tree / "commondir").write_text("../..\n")
    believed = []
    for back in (str(tmp_path / "other"), str(work / ".git")):
        (tree / "gitdir").write_text(f"{back}\n")
        believed.append(str(tmp_path / "main" / ".git") in workspace_policy(work).readable)

    assert believed == [False, True]


def test_beside_a_secret_every_path_has_its_own_rule(tmp_path):
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    for name in (".env", "notes.txt"):
        (work / name).write_text("")
    rules = rules_of(workspace_policy(work))

    assert rules[str(work)] == READ_FOLDER
    assert rules[str(work / "notes.txt")] == READ
    assert rules[str(work / "src")] == READ
    assert str(work / ".env") not in rules


def test_a_protected_path_of_a_writable_workspace_is_read_only(tmp_path):
    work = tmp_path / "work"
    for name in ("src", ".git"):
        (work / name).mkdir(parents=True)
    rules = rules_of(workspace_policy(work, WRITABLE))

    assert rules[str(work / "src")] == READ | WRITE
    assert rules[str(work / ".git")] == READ
    assert not rules[str(work)] & WRITE


@pytest.mark.parametrize("access", [WRITABLE, Access(writes=True, protected=True)])
def test_the_programs_that_run_antiphon_are_read_only_and_cannot_be_moved(tmp_path, monkeypatch, access):
    work = tmp_path / "work"
    for name in ("own/lib/python", "own/bin"):
        (work / name).mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(work / "own"))
    monkeypatch.setattr(sys, "path", [str(work), str(work / "own/lib/python")])
    policy = workspace_policy(work, access)

    assert policy.read_only == {str(work / name) for name in ("own/bin", "own/lib", "own/lib/python")}
    assert policy.pinned == {str(work / "own")}
    assert not rules_of(policy)[str(work)] & WRITE


def test_the_package_and_the_interpreter_are_programs_that_run_antiphon():
    folders = own_program_folders()

    assert os.path.realpath(PACKAGE) in folders
    assert os.path.dirname(os.path.realpath(sys.executable)) in folders


def test_a_folder_is_not_pinned_inside_a_read_only_one(tmp_path):
    work = tmp_path / "work"
    (work / "app/.github/deep").mkdir(parents=True)
    (work / "app/.github/deep/.env").write_text("")
    scan = SensitivePaths((str(work / "app/.github/deep/.env"),), {str(work / "app/.github"): 1})

    assert make_policy(str(work), WRITABLE, scan, {"HOME": str(tmp_path)}).pinned == {str(work / "app")}


def test_very_many_folders_are_not_pinned_unless_secrets_or_own_programs_are_in_them(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_module, "MOST_PINNED", 1)
    work = tmp_path / "work"
    for name in ("one/Makefile", "two/Makefile", "three/id_rsa"):
        (work / name).parent.mkdir(parents=True)
        (work / name).write_text("")

    assert workspace_policy(work, WRITABLE).pinned == {str(work / "three")}


def test_a_workspace_without_exceptions_has_one_rule(tmp_path):
    assert rules_of(workspace_policy(tmp_path / "work", WRITABLE))[str(tmp_path / "work")] == READ | WRITE


def test_in_namespaces_landlock_restricts_only_writing(tmp_path):
    policy = workspace_policy(tmp_path / "work")

    ruleset = scope_rules(policy, 7)

    assert ruleset is not None
    assert ruleset["rights"] & READ == 0
    assert str(tmp_path / "work") not in ruleset["rules"][0][1]
    assert scope_rules(policy, 0) is None


def test_bubblewrap_masks_secrets_and_binds_protected_paths_read_only(tmp_path):
    work = tmp_path / "work"
    for name in (".git", ".ssh"):
        (work / name).mkdir(parents=True)
    (work / ".env").write_text("")
    words = " ".join(bubblewrap_options(workspace_policy(work, WRITABLE), "/nowhere/supervisor.py"))

    assert f"--bind {work} {work} " in words
    assert f"--ro-bind {work}/.git {work}/.git" in words
    assert f"--ro-bind /dev/null {work}/.env" in words
    assert f"--tmpfs {work}/.ssh --remount-ro {work}/.ssh" in words
    assert "--unshare-net" in words
    assert words.index(f"--bind {work} ") < words.index(f"{work}/.git")


def test_bubblewrap_shares_the_network_only_if_the_access_says_so(tmp_path):
    policy = workspace_policy(tmp_path / "work", Access(network=True))

    assert "--unshare-net" not in bubblewrap_options(policy, "/nowhere/supervisor.py")


def test_the_profile_of_macos_denies_by_default_and_hides_secrets_last(tmp_path):
    (tmp_path / 'a"b').mkdir()
    (tmp_path / 'a"b' / ".env").write_text("")
    profile = seatbelt_profile(workspace_policy(tmp_path / 'a"b', WRITABLE), "/s.py", "/private/tmp")
    lines = profile.splitlines()
    folder = str(tmp_path / 'a"b').replace('"', '\\"')

    assert lines[1] == "(deny default)"
    assert f'(allow file-write* (subpath "{folder}"))' in lines
    assert f'(deny file-read* file-write* (subpath "{folder}/.env"))' == lines[-1]
    assert "network" not in profile


def test_the_profile_of_macos_allows_a_network_and_keeps_a_workspace_read_only(tmp_path):
    work = os.path.realpath(tmp_path / "work")
    profile = seatbelt_profile(workspace_policy(tmp_path / "work", Access(network=True)), "/s.py", "/private/tmp")

    assert "(allow network-outbound (remote ip))" in profile
    assert f'(allow file-write* (subpath "{work}"))' not in profile
    assert f'(allow file-read* (subpath "{work}"))' in profile


def test_tool_chains_are_named_by_variables_if_path_uses_the_home(tmp_path):
    (tmp_path / ".cargo" / "bin").mkdir(parents=True)

    assert tool_chain_variables({"HOME": str(tmp_path), "PATH": f"{tmp_path}/.cargo/bin"}) == {
        "CARGO_HOME": str(tmp_path / ".cargo")
    }
    assert tool_chain_variables({"HOME": str(tmp_path), "PATH": "/usr/bin"}) == {}


def test_a_policy_without_a_scan_protects_nothing_in_the_workspace(tmp_path):
    policy = make_policy(str(tmp_path), WRITABLE, SensitivePaths(), {"HOME": str(tmp_path.parent)})

    assert policy.read_only == frozenset()
