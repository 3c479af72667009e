"""Commands in a read-only sandbox neither change files nor read what is hidden from them."""

import os
from pathlib import Path

import pytest

from tests.attacks.attack import Attack
from tests.attacks.sandbox_world import CONFIGURATIONS, OUTSIDE, World, has_worked, make_world, require_layers

CHANGES = (
    Attack("create a file in the workspace", "echo x > new && echo WON"),
    Attack("append to a file", "echo x >> notes.txt && echo WON"),
    Attack("truncate a file", "truncate -s 0 src/main.py && echo WON"),
    Attack("create a folder", "mkdir folder && echo WON"),
    Attack("create a symlink", "ln -s /etc made-link && echo WON"),
    Attack("create a hard link", "ln notes.txt hard && echo WON"),
    Attack("create a pipe", "mkfifo pipe && echo WON"),
    Attack("change a mode", "chmod 777 notes.txt && echo WON"),
    Attack("change a mode by its descriptor", "#!py\nos.fchmod(os.open('notes.txt', 0), 0o777); print('WON')"),
    Attack("change times", "touch -d 2001-01-01 notes.txt && echo WON"),
    Attack("set an attribute", "#!py\nos.setxattr('notes.txt', 'user.x', b'1'); print('WON')"),
    Attack("open for writing by /proc/self/fd", "#!py\n"
           "fd = os.open('notes.txt', os.O_PATH); open(f'/proc/self/fd/{fd}', 'a').write('x'); print('WON')"),
    Attack("write outside", "echo x > $OUT/new && echo WON"),
    Attack("overwrite outside", "echo x >> $OUT/file && echo WON"),
    Attack("change a mode outside", "chmod 700 $OUT && echo WON"),
    Attack("change times outside", "touch -d 2001-01-01 $OUT/file && echo WON"),
    Attack("write Antiphon's store", "echo x >> $PERSON/own/store.db && echo WON"),
    Attack("write a program of a tool chain", "echo x >> $PERSON/.cargo/bin/tool && echo WON"),
    Attack("change a mode of a tool chain", "chmod 700 $PERSON/.cargo/bin/tool && echo WON"),
    Attack("swap two folders", "#!py\nimport ctypes\nr, e = call(316 if os.uname().machine == 'x86_64' else 276, -100,"
           " env['WORK'].encode() + b'/src', -100, env['WORK'].encode() + b'/apps', 2)\nprint('WON' if r == 0 else e)"),
    Attack("rename a file", "mv notes.txt renamed && echo WON && mv renamed notes.txt"),
    Attack("delete a file outside", "rm $OUT/file && echo WON"),
    Attack("delete a file", "rm notes.txt && echo WON"),
)  # fmt: skip
# These write successfully to places of the sandbox itself, so what is outside decides.
PLACES = (
    Attack("write to /tmp", "echo x > /tmp/$MARK"),
    Attack("write to /var/tmp", "echo x > /var/tmp/$MARK"),
    Attack("write to /dev/shm", "echo x > /dev/shm/$MARK"),
    Attack("write to the root", "echo x > /$MARK"),
    Attack("write a profile of the home", "echo x >> $PERSON/$MARK"),
)
READS = (
    Attack("read a key of the home", "cat $PERSON/.ssh/id_rsa"),
    Attack("read a file of the home", "cat $PERSON/documents/private.txt"),
    Attack("read a history", "cat $PERSON/.bash_history"),
    Attack("list the home", "ls -a $PERSON/documents | grep -q private && echo WON"),
    Attack("read beside the workspace", "cat $OUT/file"),
    Attack("read through a symlink of the workspace", "cat link"),
    Attack("read through a relative path", "cat ../documents/private.txt"),
    Attack("read through /proc/self/root", "cat /proc/self/root$PERSON/documents/private.txt"),
    Attack("read through /proc/self/cwd", "cat /proc/self/cwd/../documents/private.txt"),
    Attack("read after a change of the folder", "cd $PERSON/documents && cat private.txt"),
    Attack("read credentials of a tool chain", "cat $PERSON/.cargo/credentials.toml"),
    Attack("read .env", "cat .env"),
    Attack("read .env of a subfolder", "cat apps/web/.env.local"),
    Attack("find .env by its content", "grep -r canary . --include=.env"),
    Attack("copy .env", "cp .env $TMPDIR/copy && cat $TMPDIR/copy"),
    Attack("archive .env", "tar cf - .env | tar xfO -"),
    Attack("link .env", "ln .env $TMPDIR/linked; cat $TMPDIR/linked || cp -l .env e && cat e"),
    Attack("read .env with dd", "dd if=.env"),
    Attack("read .env by its descriptor", "#!py\n"
           "fd = os.open('.env', os.O_PATH); print(open(f'/proc/self/fd/{fd}').read())"),
    Attack("map .env into memory", "#!py\n"
           "import mmap; print(mmap.mmap(os.open('.env', os.O_RDONLY), 0, prot=mmap.PROT_READ)[:])"),
    Attack("send .env by sendfile", "#!py\nos.sendfile(1, os.open('.env', os.O_RDONLY), 0, 100)"),
    Attack("source .env", "set -a; . ./.env; echo $KEY"),
    Attack("read a private key", "cat server.pem"),
    Attack("read an SSH key of the workspace", "cat id_ed25519"),
    Attack("read Antiphon's store", "cat $PERSON/own/store.db"),
    Attack("read Antiphon's keys", "cat $PERSON/xdg-config/antiphon/keys.toml"),
    Attack("read Antiphon's copies", "cat $PERSON/xdg-state/antiphon/undo/copy"),
    Attack("read shared memory of /dev/shm", "cat /dev/shm/canary-*"),
)  # fmt: skip
ATTACKS = CHANGES + PLACES + READS


def traces(world: World) -> list[str]:
    """Return the places outside the sandbox to which something was written, and remove it."""
    folders = ("/tmp", "/var/tmp", "/dev/shm", "/", str(world.home))
    written = [path for path in (Path(folder, world.variables["MARK"]) for folder in folders) if path.exists()]
    for path in written:
        path.unlink()
    return [str(path) for path in written]


@pytest.mark.parametrize(("bubblewrap", "is_other"), CONFIGURATIONS)
def test_nothing_is_changed_and_nothing_hidden_is_read(bubblewrap, is_other):
    require_layers(bubblewrap, is_other)
    with make_world(is_other) as world:
        before = contents(world)
        outputs = world.attack(ATTACKS, bubblewrap=bubblewrap)

        assert {name: output for name, output in outputs.items() if has_worked(output)} == {}
        assert traces(world) == []
        assert contents(world) == before


def contents(world):
    """Return the files of a world with their contents and modes."""
    paths = [path for path in sorted(world.folder.rglob("*")) if path.is_file() and path.name != "plan.json"]
    return {str(path): (path.read_bytes(), path.stat().st_mode) for path in paths}


@pytest.mark.parametrize("attacks", [READS, CHANGES], ids=["reads", "changes"])
def test_each_works_without_the_sandbox(attacks):
    with make_world() as world:
        outputs = world.attack(attacks, OUTSIDE)

        assert [name for name, output in outputs.items() if not has_worked(output)] == []


def test_what_is_written_to_temporary_folders_stays_there_without_the_sandbox():
    writable = [attack for attack in PLACES if attack.name != "write to the root" or os.geteuid() == 0]
    with make_world() as world:
        world.attack(writable, OUTSIDE)

        assert len(traces(world)) == len(writable)
