"""Attacks by the settings of a repository that git reads: programs that ordinary commands of git would run."""

import asyncio
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from antiphon.tools import programs
from antiphon.tools.access import WRITABLE, Access
from antiphon.tools.git_settings import git_environment, program_settings
from antiphon.tools.sandbox.runner import ShellSettings, run_command
from tests.attacks.attack import Attack

PLAIN = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C"}
SETUP = """
git init -q -b main . && git config user.email poet@example.com && git config user.name Poet
printf 'a\\nb\\nc\\n' > f.txt && git add . && git commit -qm one
git checkout -qb other && printf 'A\\nb\\nc\\n' > f.txt && git commit -qam two
git checkout -q main && printf 'a\\nb\\nC\\n' > f.txt && git commit -qam three
printf 'a\\nb\\nD\\n' > f.txt
"""
CREDENTIAL = r"printf 'protocol=https\nhost=x\n\n' | git credential fill"


@dataclass(frozen=True, slots=True)
class GitAttack:
    """A setting whose value runs a program, the command of git that runs it, and attributes of files."""

    key: str
    value: str
    command: str
    attributes: str = ""
    still_works: bool = True
    """The command succeeds without the program."""


SETTINGS = (
    GitAttack("core.fsmonitor", "{touch}; false", "git status"),
    GitAttack("alias.st", "!{touch}", "git st", still_works=False),
    GitAttack("filter.x.clean", "{touch}; cat", "git diff", "*.txt filter=x"),
    GitAttack("filter.x.smudge", "{touch}; cat", "git checkout f.txt", "*.txt filter=x"),
    GitAttack("filter.x.process", "{touch}; false", "git checkout f.txt", "*.txt filter=x"),
    GitAttack("diff.x.textconv", "{touch}; cat", "git diff", "*.txt diff=x"),
    GitAttack("diff.x.command", "{touch}; true", "git diff", "*.txt diff=x"),
    GitAttack("diff.external", "{touch}; true", "git diff"),
    GitAttack("merge.x.driver", "{touch}; true", "git checkout -q f.txt; git merge -m m other", "*.txt merge=x"),
    GitAttack("core.pager", "{touch}; cat", "script -qc 'git log' /dev/null"),
    GitAttack("pager.log", "{touch}; cat", "script -qc 'git log' /dev/null"),
    GitAttack("core.editor", "{touch}; true", "git commit -a --amend"),
    GitAttack("sequence.editor", "{touch}; true", "git checkout -q f.txt; git rebase -i HEAD~1"),
    GitAttack("core.sshCommand", "{touch}; false", "git ls-remote ssh://127.0.0.1:1/x", still_works=False),
    GitAttack("core.gitProxy", "{program}", "git ls-remote git://127.0.0.1:1/x", still_works=False),
    GitAttack("core.askPass", "{program}", CREDENTIAL, still_works=False),
    GitAttack("credential.helper", "!{touch}", CREDENTIAL, still_works=False),
    GitAttack("credential.https://x.helper", "!{touch}", CREDENTIAL, still_works=False),
    GitAttack("gpg.program", "{program}", "git commit --allow-empty -S -m x", still_works=False),
    GitAttack("remote.o.uploadpack", "{touch}; git-upload-pack", "git ls-remote o", still_works=False),
    GitAttack("remote.o.receivepack", "{touch}; git-receive-pack", "git push o HEAD:new", still_works=False),
    GitAttack("core.hooksPath", "{hooks}", "git commit --allow-empty -m x"),
    GitAttack("tar.x.command", "{touch}; cat", "git archive --format=x HEAD"),
    GitAttack("trailer.s.cmd", "{touch}", "git interpret-trailers --trailer s=1 < /dev/null"),
    GitAttack("difftool.x.cmd", "{touch}", "git difftool -y --tool=x"),
    GitAttack("include.path", "{include}", "git st", still_works=False),
)
ATTACKS = (
    *(Attack(f"the setting {attack.key}", attack.value) for attack in SETTINGS),
    Attack("a hook in .git/hooks", "pre-commit"),
    Attack("an embedded bare repository", "core.fsmonitor"),
    Attack("a repository below the workspace", "alias.st", works_unprotected=False),
    Attack("a filter whose name has a quote and a sign", "filter.a'b=c.clean"),
    Attack("settings that are a FIFO", "mkfifo .git/config", works_unprotected=False),
    Attack("settings that are /dev/zero", "/dev/zero", works_unprotected=False),
    Attack("a git and a bash in a folder of PATH", "bin/git", works_unprotected=False),
)


class Repository:
    """A repository with two branches and a change, and a file that an attack leaves behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.trace = folder / "trace"
        self.program = self._script(folder / "program")
        self.hooks = folder / "hooks"
        self.hooks.mkdir()
        self._script(self.hooks / "pre-commit")
        self.include = folder / "included"
        self.include.write_text(f'[alias]\n\tst = "!touch {self.trace}"\n')
        self.run(SETUP)
        self.run(f"git config remote.o.url {self.folder}/.git")

    def _script(self, path: Path) -> Path:
        path.write_text(f"#!/bin/sh\ntouch {self.trace}\n")
        path.chmod(0o755)
        return path

    def set(self, attack: GitAttack) -> None:
        """Make the setting of an attack."""
        names = {"program": self.program, "hooks": self.hooks, "include": self.include}
        value = attack.value.format(touch=f"touch {self.trace}", **names)
        self.run(f'git config {attack.key} "$VALUE"', {"VALUE": value})
        (self.folder / ".git" / "info").mkdir(exist_ok=True)
        (self.folder / ".git" / "info" / "attributes").write_text(f"{attack.attributes}\n")

    def run(self, command: str, variables: dict[str, str] | None = None, below: str = ".") -> int:
        """Run a command, and return its exit code."""
        environment = {**PLAIN, **(variables or {})}
        where = self.folder / below
        words = ["bash", "-c", command]
        return subprocess.run(words, cwd=where, env=environment, capture_output=True, timeout=30).returncode

    def is_attacked(self) -> bool:
        """Return whether the program of the attack has run, and forget it."""
        has_run = self.trace.exists()
        self.trace.unlink(missing_ok=True)
        return has_run


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


@pytest.mark.parametrize("attack", SETTINGS, ids=lambda attack: attack.key)
def test_a_setting_runs_its_program_only_without_the_protection(repository, attack):
    repository.set(attack)

    shutil.copytree(repository.folder, repository.folder.with_name("unprotected"), symlinks=True)

    code = repository.run(attack.command, git_environment(repository.folder))

    assert not repository.is_attacked()
    assert code == 0 or not attack.still_works
    repository.run(attack.command, below="../unprotected")
    assert repository.is_attacked()


def test_a_hook_of_the_repository_does_not_run(repository):
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(repository.program)

    assert repository.run("git commit -qam x", git_environment(repository.folder)) == 0
    assert not repository.is_attacked()
    repository.run("git commit --allow-empty -qm x")
    assert repository.is_attacked()


def test_an_embedded_bare_repository_is_refused(repository):
    repository.run("git clone -q --bare . bare && git -C bare config core.bare false")
    repository.run(
        f"git -C bare config core.worktree .. ; git -C bare config core.fsmonitor 'touch {repository.trace}'"
    )

    assert repository.run("git status", git_environment(repository.folder), below="bare") == 128
    assert not repository.is_attacked()
    repository.run("git status", below="bare")
    assert repository.is_attacked()


@pytest.mark.parametrize("below", ["below", "a/repository/five/levels/below"])
def test_a_repository_below_the_workspace_is_listed_too(repository, below):
    repository.run(f"git init -q {below} && git -C {below} config alias.st '!touch {repository.trace}'")

    repository.run("git st", git_environment(repository.folder), below=below)

    assert not repository.is_attacked()


def test_a_name_with_quotes_and_newlines_is_overridden(repository):
    with (repository.folder / ".git" / "config").open("a") as config:
        config.write(f'[filter "a\'b=c"]\n\tclean = touch {repository.trace}; cat\n')
    (repository.folder / ".gitattributes").write_text("*.txt filter=a'b=c\n")

    assert repository.run("git diff", git_environment(repository.folder)) == 0
    assert not repository.is_attacked()
    repository.run("git diff")
    assert repository.is_attacked()


@pytest.mark.parametrize("kind", ["fifo", "zero", "garbage", "name"])
def test_git_finds_no_repository_where_its_settings_cannot_be_listed(repository, kind):
    config = repository.folder / ".git" / "config"
    config.unlink()
    match kind:
        case "fifo":
            os.mkfifo(config)
        case "zero":
            config.symlink_to("/dev/zero")
        case "garbage":
            config.write_text("[alias\n")
        case _:
            config.write_text(f'[diff "{"x" * 2_000}"]\n\tcommand = true\n')

    variables = git_environment(repository.folder)

    assert repository.run("git status", variables) == 128


def test_an_ordinary_repository_works_as_before(repository):
    variables = git_environment(repository.folder)
    words = [
        "git status", "git diff", "git log -p", "git stash", "git stash pop", "git commit -qam x", "git tag v1",
        "git merge -m m other", "git clone -q . ../copy", "git show HEAD", "git blame f.txt", "git grep b",
        "git -C ../copy fetch", "git worktree add -q ../tree", "git branch --list", "git rebase HEAD~1",
    ]  # fmt: skip

    assert [(command, repository.run(command, variables)) for command in words] == [(command, 0) for command in words]


def test_settings_that_run_programs_are_listed_for_people(repository):
    repository.set(SETTINGS[0])
    repository.set(SETTINGS[1])

    assert list(program_settings(repository.folder)) == ["alias.st", "core.fsmonitor"]


def test_a_folder_outside_of_any_repository_needs_no_repository(tmp_path):
    assert "GIT_DIR" not in git_environment(tmp_path)


def test_git_finds_no_repository_where_the_system_has_no_git(repository, monkeypatch):
    monkeypatch.setattr(programs, "SYSTEM_PATH", str(repository.folder))

    assert git_environment(repository.folder)["GIT_DIR"] == "/dev/null"


def test_no_program_of_the_workspace_is_run_outside_the_sandbox(repository, monkeypatch):
    (repository.folder / "bin").mkdir()
    for name in ("git", "bash", "true"):
        shutil.copy(repository.program, repository.folder / "bin" / name)
    path = f"{repository.folder / 'bin'}:bin:{os.environ['PATH']}"
    monkeypatch.setenv("PATH", path)

    asyncio.run(run_command(repository.folder, "echo", 20_000, ShellSettings(), {**PLAIN, "PATH": path}, WRITABLE))
    asyncio.run(run_command(repository.folder, "echo", 20_000, ShellSettings(), PLAIN, Access(outside=True)))

    assert not repository.is_attacked()


def test_commands_of_agents_have_these_variables(repository):
    repository.set(SETTINGS[0])
    settings = ShellSettings(environment={"GIT_EDITOR": "ed"})

    work = run_command(repository.folder, "git status; echo $GIT_EDITOR", 20_000, settings, PLAIN, WRITABLE)
    outcome = asyncio.run(work)

    assert outcome.output.endswith("\ned\n")
    assert not repository.is_attacked()
