"""Commands that may write the workspace change neither protected paths nor anything outside."""

import pytest

from antiphon.tools.access import WRITABLE, Access
from tests.attacks.attack import Attack
from tests.attacks.sandbox_world import (
    CONFIGURATIONS,
    OUTSIDE,
    has_worked,
    make_world,
    require_layers,
)

CHANGES = (
    Attack("add a hook", "echo x > .git/hooks/pre-commit && echo WON"),
    Attack("change the settings of git", "echo x >> .git/config && echo WON"),
    Attack("change them through a symlink", "echo x >> linked-config && echo WON"),
    Attack("change them with git", "git config core.pager ./evil && echo WON"),
    Attack("change a Makefile", "echo x >> Makefile && echo WON"),
    Attack("replace a Makefile", "echo x > src/M && mv src/M Makefile && echo WON"),
    Attack("swap a Makefile", "#!py\nopen('src/M', 'w').close()\n"
           "r, e = call(316 if os.uname().machine == 'x86_64' else 276, -100, b'src/M', -100, b'Makefile', 2)\n"
           "print('WON' if r == 0 else e)"),
    Attack("link a Makefile and change the link", "ln Makefile src/linked && echo x >> src/linked && echo WON"),
    Attack("change an agent", "echo x >> .antiphon/agents/one.md && echo WON"),
    Attack("add an agent", "echo x > .antiphon/agents/two.md && echo WON"),
    Attack("change .env", "echo x >> .env && echo WON"),
    Attack("read .env", "cat .env"),
    Attack("exchange .env and read it", "#!py\nopen('src/p', 'w').close()\n"
           "swap = (316 if os.uname().machine == 'x86_64' else 276, -100, b'src/p', -100, b'.env', 2)\n"
           "call(*swap); print(open('src/p').read()); call(*swap)"),
    Attack("change .envrc of a subfolder", "echo x >> sub/.envrc && echo WON"),
    Attack("delete .envrc", "rm -f sub/.envrc && echo WON"),
    Attack("link a file from outside and change it", "ln $OUT/file src/in && echo x >> src/in && echo WON"),
    Attack("write outside through a symlink", "ln -s $OUT src/out && echo x > src/out/through && echo WON"),
    Attack("write outside in a race", "for i in $(seq 200); do ln -sfn $OUT src/r; echo x > src/r/raced; "
           "ln -sfn . src/r; done; [ -e $OUT/raced ] && echo WON"),
    Attack("write Antiphon's store", "echo x >> $PERSON/own/store.db && echo WON"),
    Attack("move the repository away", "mv .git src/git && echo WON"),
    Attack("move .env and read it", "mv .env src/plain && cat src/plain"),
    Attack("change a program of Antiphon", "echo x >> .venv/lib/site/library.py && echo WON"),
    Attack("add a program to those of Antiphon", "echo x > .venv/lib/site/json.py && echo WON"),
    Attack("replace the folder of Antiphon's programs", "mv .venv src/venv && mkdir .venv && echo WON"),
    Attack("change the target of a protected symlink", "echo x >> steps/build.txt && echo WON"),
    Attack("replace the target of a protected symlink", "mv steps src/steps && mkdir steps && echo WON"),
    Attack("replace a folder with a Makefile", "mv one src/one && mv other/one one && echo WON"),
    Attack("rename a private key", "mv keys/deploy.key keys/plain && echo WON && mv keys/plain keys/deploy.key"),
    Attack("make folders of packages of those with secrets", "mv keys node_modules && echo WON"),
    Attack("open a closed folder and read .env", "chmod 700 closed; cat closed/.env"),
    Attack("move a folder out", "mv src $OUT/; [ -e $OUT/file ] && [ -e $OUT/src ] && echo WON"),
)  # fmt: skip
# Their names do not exist, so nothing forbids them; they are renamed when the command has ended.
CREATIONS = (
    Attack("create .envrc", "echo x > src/.envrc"),
    Attack("create a workflow", "mkdir -p src/.github/workflows; echo x > src/.github/workflows/ci.yml"),
    Attack("create a repository", "mkdir src/deep; cd src/deep; mkdir .git; echo x > .git/config"),
    Attack("create a Makefile by a symlink", "ln -s main.py src/Makefile"),
    Attack("create it and pretend it is old", "echo x > src/.bashrc; touch -d 2001-01-01 src/.bashrc"),
    Attack("move a folder with .envrc and make another", "mv sub src/sub2; mkdir sub 2>&1; echo evil > sub/.envrc"),
)
ATTACKS = CHANGES + CREATIONS


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_protected_paths_and_the_outside_stay_as_they_are(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        outputs = world.attack(CHANGES, WRITABLE, bubblewrap=bubblewrap)

        assert {name: output for name, output in outputs.items() if has_worked(output)} == {}
        assert sorted(path.name for path in world.outside.iterdir()) == ["file", "service.sock"]
        assert (world.workspace / ".git" / "config").read_text() == "[core]\n"


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_protected_names_that_a_command_creates_are_renamed(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        world.attack(CREATIONS, WRITABLE, bubblewrap=bubblewrap)

        source = world.workspace / "src"
        assert not [
            name for name in (".envrc", ".github", "deep/.git", "Makefile", ".bashrc") if (source / name).exists()
        ]
        assert (source / "refused-.envrc").read_text() == "x\n"
        assert "evil" not in "".join(path.read_text() for path in world.workspace.glob("**/.envrc"))
        assert "true\n" in [path.read_text() for path in world.workspace.glob("**/.envrc")]


def test_each_works_without_the_sandbox():
    with make_world() as world:
        world.attack(CREATIONS[:-1], OUTSIDE)
        has_created = (world.workspace / "src" / ".github").exists()
        outputs = world.attack(CHANGES, OUTSIDE)

        assert {name: output for name, output in outputs.items() if not has_worked(output)} == {}
        assert has_created


@pytest.mark.parametrize("bubblewrap", [False, True])
def test_protected_paths_can_be_written_if_the_access_says_so(bubblewrap):
    require_layers(bubblewrap, False)
    with make_world() as world:
        access = Access(writes=True, protected=True)
        outcome = world.run("echo x >> Makefile; echo y > src/.envrc; cat .env", access, bubblewrap=bubblewrap)

        assert (world.workspace / "Makefile").read_text() == "all:\nx\n"
        assert (world.workspace / "src" / ".envrc").exists()
        assert not has_worked(outcome["output"])


@pytest.mark.parametrize("bubblewrap", [False, True])
@pytest.mark.parametrize(
    ("command", "access", "denied"),
    [
        ("echo x > src/new", Access(), "write"),
        ("echo x >> Makefile", WRITABLE, "protected"),
        ("echo x > src/new", WRITABLE, None),
        ("false", Access(), None),
    ],
)
def test_a_command_that_could_not_write_says_so(bubblewrap, command, access, denied):
    require_layers(bubblewrap, False)
    with make_world() as world:
        assert world.run(command, access, bubblewrap=bubblewrap)["denied"] == denied
