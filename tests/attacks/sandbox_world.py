"""A world to attack: a workspace, a home with secrets, processes and sockets of the user or of another one."""

import atexit
import ctypes
import json
import os
import platform
import pty
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from antiphon.tools.access import READ_ONLY, Access
from antiphon.tools.sandbox import find_sandbox
from antiphon.tools.sandbox.landlock import FULL_VERSION
from antiphon.tools.sandbox.seccomp import MACHINES
from antiphon.tools.sandbox.system_calls import NUMBERS
from tests.attacks.attack import Attack
from tests.paths import PACKAGE

CANARY = "canary-2f1d5a07b1c94d6e"
NOBODY = 65534
REQUIRED = os.environ.get("ANTIPHON_REQUIRE_SANDBOX") == "1"
FOLDER = Path(__file__).parent
IPC_CREATE = 0o1000
SHARED_BYTES = 4_096
OUTSIDE = Access(outside=True)
# Layers and user of each run of the attacks.
CONFIGURATIONS = [
    pytest.param(
        bubblewrap, is_other, id=f"{'bubblewrap' if bubblewrap else 'landlock'}-{'other user' if is_other else 'user'}"
    )
    for bubblewrap in (False, True)
    for is_other in (False, True)
]


def require(condition: bool, problem: str) -> None:
    """Skip the test, or let it fail where the sandbox is required."""
    if condition:
        return
    if REQUIRED:
        pytest.fail(f"ANTIPHON_REQUIRE_SANDBOX is set, but {problem}")
    pytest.skip(problem)


def require_layers(bubblewrap: bool, is_other: bool) -> None:
    """Skip or fail if this machine does not have the layers or the users for a run."""
    sandbox = find_sandbox()
    require(sandbox.confines, "; ".join(sandbox.problems))
    require(bubblewrap is False or sandbox.program is not None, "bubblewrap does not work here")
    if not bubblewrap and sandbox.landlock < FULL_VERSION:
        pytest.skip("the kernel's Landlock is too old, and a kernel cannot be installed; bubblewrap confines here")
    if is_other:
        if os.geteuid() != 0:
            pytest.skip("only the superuser can run as another user")
        require(interpreter(NOBODY) is not None, "no Python of this machine can be run by another user")


@cache
def interpreter(user: int) -> str | None:
    """Return a Python that a user can run."""
    for program in (os.path.realpath(sys.executable), "/usr/bin/python3", "/usr/local/bin/python3"):
        words = [program, "-I", "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
        try:
            if subprocess.run(words, user=user, group=user, extra_groups=[], cwd="/").returncode == 0:
                return program
        except OSError:
            continue
    return None


@cache
def package_copy() -> str:
    """Return a folder with a copy of the package that every user can read."""
    folder = Path(tempfile.mkdtemp(prefix="attacks-package-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(PACKAGE, folder / "antiphon", ignore=shutil.ignore_patterns("__pycache__"))
    folder.chmod(0o755)
    return str(folder)


@dataclass
class World:
    """Folders of a world, and the variables that attacks get."""

    folder: Path
    user: int
    group: int
    variables: dict[str, str]

    @property
    def identity(self) -> dict[str, Any]:
        """Options of a process that runs as the user of this world."""
        if self.user == os.geteuid():
            return {}
        return {"user": self.user, "group": self.group, "extra_groups": []}

    @property
    def workspace(self) -> Path:
        return self.folder / "home" / "workspace"

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    def run(self, command: str, access: Access = READ_ONLY, time_ms: int = 60_000, **settings: Any) -> dict[str, Any]:
        """Run a command in the sandbox as the user of this world."""
        program = sys.executable if self.user == os.geteuid() else interpreter(self.user)
        assert program is not None
        path = f"{os.path.dirname(os.path.realpath(program))}:/usr/local/bin:/usr/bin:/bin"
        environment = {
            "PATH": path, "HOME": str(self.home), "ANTIPHON_STORE": str(self.home / "own" / "store.db"),
            "XDG_CONFIG_HOME": str(self.home / "xdg-config"), "XDG_STATE_HOME": str(self.home / "xdg-state"),
            "XDG_DATA_HOME": str(self.home / "xdg-data"),
        }  # fmt: skip
        task = {
            "folder": str(self.workspace), "command": command, "timeMs": time_ms, "access": access.to_json(),
            "environment": environment,
            "settings": {"most_characters": 2_000_000, "environment": self.variables, **settings},
        }  # fmt: skip
        done = subprocess.run(
            [program, "-B", str(FOLDER / "sandbox_runner.py")] if self.user == os.geteuid() else
            [program, "-B", f"{package_copy()}/sandbox_runner.py"],
            input=json.dumps(task), capture_output=True, text=True, cwd="/",
            env={"PATH": path, "PYTHONPATH": f"{package_copy()}:{self.workspace}/.venv/lib/site"}, **self.identity,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        outcome: dict[str, Any] = json.loads(done.stdout)
        return outcome

    def attack(self, attacks: Sequence[Attack], access: Access = READ_ONLY, **settings: Any) -> dict[str, str]:
        """Make attacks in one sandbox; return what each printed."""
        column = MACHINES[platform.machine()][1]
        numbers = {name: pair[column] for name, pair in NUMBERS.items() if pair[column] is not None}
        plan = {"attacks": {each.name: each.payload for each in attacks}, "numbers": numbers}
        (self.workspace / "tool" / "plan.json").write_text(json.dumps(plan))
        outcome = self.run("python3 -B tool/driver.py", access, **settings)
        outputs: dict[str, str] = {}
        for line in outcome["output"].splitlines():
            outputs |= json.loads(line)
        assert list(outputs) == [each.name for each in attacks], outcome
        return outputs


def has_worked(output: str) -> bool:
    """Whether an attack has printed that it worked, or a secret."""
    return "WON" in output or CANARY in output


@contextmanager
def make_world(is_other: bool = False) -> Iterator[World]:
    """Give a world, with the processes and sockets of its owner."""
    user = NOBODY if is_other else os.geteuid()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="world-", dir="/var/tmp")))
        shutil.copy(FOLDER / "sandbox_runner.py", package_copy())
        world = World(folder, user, NOBODY if is_other else os.getegid(), {})
        _write_files(world)
        world.variables.update(_open_objects(world, stack))
        for path in (folder, *folder.rglob("*")):
            os.chown(path, user, world.group, follow_symlinks=False)
        yield world


def _write_files(world: World) -> None:
    texts = {
        "outside/file": f"{CANARY} outside\n",
        "home/documents/private.txt": f"{CANARY}\n",
        "home/.ssh/id_rsa": f"{CANARY}\n",
        "home/.bash_history": f"{CANARY}\n",
        "home/.bashrc": "",
        "home/own/store.db": f"{CANARY}\n",
        "home/xdg-config/antiphon/keys.toml": f"{CANARY}\n",
        "home/xdg-state/antiphon/undo/copy": f"{CANARY}\n",
        "home/.cargo/bin/tool": "",
        "home/.cargo/credentials.toml": f"{CANARY}\n",
        "home/workspace/notes.txt": "notes\n",
        "home/workspace/src/main.py": "print()\n",
        "home/workspace/.env": f"KEY={CANARY}\n",
        "home/workspace/.env.example": "KEY=\n",
        "home/workspace/apps/web/.env.local": f"KEY={CANARY}\n",
        "home/workspace/server.pem": f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n",
        "home/workspace/id_ed25519": f"{CANARY}\n",
        "home/workspace/Makefile": "all:\n",
        "home/workspace/.git/config": "[core]\n",
        "home/workspace/.git/HEAD": "ref: refs/heads/main\n",
        "home/workspace/.git/hooks/README": "",
        "home/workspace/.git/objects/info/alternates": "",
        "home/workspace/.git/refs/heads/README": "",
        "home/workspace/.antiphon/agents/one.md": "limits\n",
        "home/workspace/sub/.envrc": "true\n",
        "home/workspace/keys/deploy.key": f"-----BEGIN PRIVATE KEY-----\n{CANARY}\n",
        "home/workspace/closed/.env": f"{CANARY}\n",
        "home/workspace/steps/build.txt": "all:\n",
        "home/workspace/one/Makefile": "one:\n",
        "home/workspace/other/one/Makefile": "other:\n",
        "home/workspace/.venv/lib/site/library.py": "",
        "home/workspace/tool/driver.py": (FOLDER / "sandbox_driver.py").read_text(),
    }
    for name, text in texts.items():
        path = world.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (world.workspace / "link").symlink_to(world.home / ".ssh" / "id_rsa")
    (world.workspace / "linked-config").symlink_to(".git/config")
    (world.workspace / "closed").chmod(0)
    (world.workspace / "justfile").symlink_to("steps/build.txt")
    (world.workspace / "noxfile.py").symlink_to("nowhere")
    world.folder.chmod(0o755)


def _open_objects(world: World, stack: ExitStack) -> dict[str, str]:
    """Start a process with a secret, and open sockets, a terminal and shared memory of another process."""
    victim = subprocess.Popen(
        [f"sleep-{CANARY}", "1000"], executable=shutil.which("sleep"),
        env={"CANARY": CANARY}, cwd=world.outside, **world.identity,
    )  # fmt: skip
    stack.callback(victim.wait)
    stack.callback(victim.kill)
    tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    udp.bind(("127.0.0.1", 0))
    name = f"antiphon-attack-{os.getpid()}-{id(world)}"
    addresses = {
        "abstract": ("\0" + name, socket.SOCK_STREAM),
        "path": (str(world.outside / "service.sock"), socket.SOCK_STREAM),
        "inside": (str(world.workspace / "service.sock"), socket.SOCK_STREAM),
        "datagram": (str(world.workspace / "datagram.sock"), socket.SOCK_DGRAM),
    }
    for address, kind in addresses.values():
        service = stack.enter_context(socket.socket(socket.AF_UNIX, kind))
        service.bind(address)
        if kind == socket.SOCK_STREAM:
            service.listen()
    controller, terminal = pty.openpty()
    stack.callback(os.close, terminal)
    stack.callback(os.close, controller)
    os.chown(os.ttyname(terminal), world.user, -1)
    return {
        "VICTIM": str(victim.pid), "TCP": str(tcp.getsockname()[1]), "UDP": str(udp.getsockname()[1]),
        "ABSTRACT": name, "OUT": str(world.outside), "PERSON": str(world.home), "WORK": str(world.workspace),
        "TERMINAL": os.ttyname(terminal), "MARK": name, "SHARED": str(_shared_memory(world, stack)),
    }  # fmt: skip


def _shared_memory(world: World, stack: ExitStack) -> int:
    """Return the number of a segment with a secret, and put a secret into /dev/shm."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    segment = int(libc.shmget(0, ctypes.c_size_t(SHARED_BYTES), IPC_CREATE | 0o666))
    address = libc.shmat(segment, None, 0)
    ctypes.memmove(address, CANARY.encode(), len(CANARY))
    stack.callback(libc.shmctl, segment, 0, None)
    stack.callback(libc.shmdt, ctypes.c_void_p(address))
    file = Path("/dev/shm") / f"canary-{world.folder.name}"
    file.write_text(CANARY)
    os.chown(file, world.user, -1)
    stack.callback(file.unlink)
    return segment
