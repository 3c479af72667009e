"""Commands run in the workspace within their limits, know no secrets, and leave nothing behind."""

import asyncio
import json
import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.messages import ToolCall
from antiphon.tools.access import READ_ONLY, WRITABLE, Access
from antiphon.tools.context import CURRENT, Context
from antiphon.tools.git_settings import git_environment
from antiphon.tools.sandbox import Sandbox, confinement
from antiphon.tools.sandbox.runner import OutputBuffer, ShellSettings, run_command
from antiphon.tools.shell import shell_function
from antiphon.tools.workspace import Workspace
from tests.attacks.sandbox_world import require_layers
from tests.fixtures.mcp_tools import run
from tests.fixtures.processes import processes_in
from tests.fixtures.workspace_tools import CANARY, OURS, Workbench

LIMITS = {"grace_ms": 200, "most_processes": 20, "most_characters": 1_000, "most_output_bytes": 1_000_000, "cpu_s": 2}
# Without bubblewrap, so that the numbers of processes are those of this machine.
QUICK = ShellSettings(**LIMITS, bubblewrap=False)


@pytest.fixture
def bench(tmp_path):
    with Workbench(tmp_path, shell=QUICK) as bench:
        yield bench


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def ends(pid):
    """Whether a process that is no child of ours ends, waited for as long as it takes within reason."""
    try:
        watch = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    ready = select.select([watch], [], [], 20)[0]
    os.close(watch)
    return bool(ready)


def pids(folder):
    return [int(word) for word in (folder / "pids").read_text().split()]


def test_a_command_gives_its_output_and_its_errors_in_order(bench):
    assert bench("shell", command="echo one; echo two >&2; echo three") == "one\ntwo\nthree\n"
    assert bench("shell", command="true") == "[no output]"


def test_a_command_runs_in_the_workspace(bench, tmp_path):
    assert bench("shell", command="pwd") == f"{tmp_path}\n"


def test_the_exit_code_is_told_and_is_no_error_of_the_tool(bench):
    assert bench("shell", command="echo x; exit 3") == "x\n[exit code 3]"
    assert bench("shell", command="kill -9 $$") == "[ended by SIGKILL]"


def test_the_input_is_empty(bench):
    assert bench("shell", command="cat; read line || echo none") == "none\n"


def test_no_secret_is_in_the_environment(bench):
    names = {line.partition("=")[0] for line in bench("shell", command="env | grep -v ^GIT_").splitlines()}
    git = set(bench("shell", command="env | grep -o '^GIT_[A-Z_]*' | sort -u").split())

    assert names <= {"PATH", "LANG", "TERM", "HOME", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}
    assert git <= {name.rstrip("0123456789") for name in git_environment(bench.workspace.folder)}
    assert CANARY not in bench("shell", command="env; set; true")


def test_no_secret_of_another_process_can_be_read(bench):
    """The environment of whoever started all this is refused by the kernel, where it can."""
    lives = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env={"CANARY": CANARY})
    try:
        outcome = run(
            run_command(bench.workspace.folder, f"cat /proc/{lives.pid}/environ", 5_000, QUICK, OURS, WRITABLE)
        )
    finally:
        lives.communicate(b"\n")

    assert not outcome.confined or CANARY not in outcome.output


def test_nothing_is_written_outside_where_the_kernel_can_refuse_it(bench, tmp_path):
    beside = tmp_path.parent / f"{tmp_path.name}-beside"
    beside.mkdir()
    (beside / "file").write_text("old")
    command = f"echo new > {beside}/file; touch {beside}/more; rm {beside}/file; echo x > inside; echo y > $TMPDIR/z"

    outcome = run(run_command(tmp_path, command, 5_000, QUICK, OURS, WRITABLE))

    assert (tmp_path / "inside").read_text() == "x\n"
    if outcome.confined:
        assert os.listdir(beside) == ["file"]
        assert (beside / "file").read_text() == "old"


def test_what_is_hidden_cannot_be_read_where_the_kernel_can_refuse_it(tmp_path):
    for name in ("work", "keys", "else"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(f"{name}\n")
    settings = ShellSettings(readable=[str(tmp_path)], hidden=[str(tmp_path / "keys")])

    outcome = run(run_command(tmp_path / "work", "cat file ../keys/file ../else/file", 5_000, settings, OURS, WRITABLE))

    if outcome.confined:
        assert "work\n" in outcome.output
        assert "else\n" in outcome.output
        assert "keys\n" not in outcome.output


@pytest.mark.parametrize(("access", "denied"), [(READ_ONLY, "write"), (WRITABLE, None), (None, None)])
def test_the_access_of_a_call_wins_and_what_it_denied_is_set_on_its_context(tmp_path, access, denied):
    require_layers(True, False)

    async def call(box):
        context = Context(access=access)
        CURRENT.set(context)
        result = await box.call(ToolCall("1", "shell", json.dumps({"command": "echo x > made"})))
        return context.denied, result.parts[0].text

    with Workbench(tmp_path) as bench:
        context_denied, text = run(call(bench.box))

    assert context_denied == denied
    assert (tmp_path / "made").exists() is (denied is None)
    assert ("[the workspace was read-only for this command]" in text) is (denied == "write")


def test_a_protected_file_that_a_command_made_is_named_in_the_result(tmp_path):
    require_layers(True, False)
    with Workbench(tmp_path) as bench:
        text = bench("shell", command="echo x > .envrc")

    assert text == "['.envrc' is protected; it was renamed to refused-…]"
    assert (tmp_path / "refused-.envrc").exists()


def test_a_sandbox_that_cannot_be_set_up_starts_no_command(tmp_path, monkeypatch):
    require_layers(True, False)
    monkeypatch.setattr(confinement, "bubblewrap_options", lambda policy, supervisor: ["--no-such-option"])
    with Workbench(tmp_path) as bench:
        text = bench.refused("shell", command="touch made")

    assert "the sandbox could not be set up" in text
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("layers", [{"landlock": {"rights": 1 << 60, "network": 0, "scopes": 0}}, {"filter": "00"}])
def test_a_layer_that_fails_starts_no_command(tmp_path, monkeypatch, layers):
    require_layers(False, False)
    empty = {"landlock": None, "filter": None, "capabilities": None}
    monkeypatch.setattr(confinement, "_layers", lambda policy, sandbox: {**empty, **layers})
    with Workbench(tmp_path, shell=QUICK) as bench:
        text = bench.refused("shell", command="touch made")

    assert "the sandbox could not be set up" in text
    assert not (tmp_path / "made").exists()


def test_a_command_has_a_home_of_its_own_that_is_gone_afterwards(bench):
    home = bench("shell", command="echo x > $HOME/y; echo $HOME").strip()

    assert not os.path.exists(home)


def test_a_command_that_takes_too_long_is_stopped_and_its_words_are_kept(bench):
    assert bench.refused("shell", command="echo started; sleep 1000", timeout_ms=200) == (
        "started\n[stopped: the command took longer than 0.2 s]"
    )


@pytest.mark.requirement("S1-107")
def test_a_command_that_is_asked_to_end_has_time_to_do_so(bench, tmp_path):
    """First a signal that can be heard, then some time."""
    error_text = bench.refused(
        "shell", command="trap 'echo bye; exit' TERM; while :; do sleep 0.01; done", timeout_ms=300
    )

    assert "bye\n" in error_text


def test_a_command_that_does_not_listen_is_killed(bench, tmp_path):
    command = "trap '' TERM; echo $$ > pids; while :; do sleep 0.05; done"

    assert "stopped" in bench.refused("shell", command=command, timeout_ms=300)
    assert not any(map(is_running, pids(tmp_path)))


@pytest.mark.parametrize(
    "start",
    ["sleep 1000 & echo $! >> pids", "(sleep 1000 & echo $! >> pids)", "setsid sh -c 'echo $$ >> pids; sleep 1000' &"],
    ids=["child", "orphan", "own session"],
)
def test_whatever_a_command_started_ends_with_it(bench, tmp_path, start):
    bench("shell", command=f"{start}\nuntil [ -s pids ]; do sleep 0.01; done")

    assert len(pids(tmp_path)) == 1
    assert not any(map(is_running, pids(tmp_path)))


@pytest.mark.requirement("S1-107", "S1-B7")
def test_cancelling_ends_grandchildren_too_and_comes_back_when_nothing_is_left(bench, tmp_path):
    command = "trap '' TERM; (setsid sleep 1000 & echo $! >> pids; sleep 1000 & echo $! >> pids; echo $$ >> pids); wait"

    async def cancelled():
        task = asyncio.create_task(
            bench.box.call(ToolCall("1", "shell", json.dumps({"command": f"{command}; sleep 1000"})))
        )
        while not (tmp_path / "pids").exists() or len(pids(tmp_path)) < 3:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), [pid for pid in pids(tmp_path) if is_running(pid)]

    assert run(cancelled()) == (True, [])


def test_cancelling_twice_leaves_nothing_either(bench, tmp_path):
    async def cancelled():
        command = "trap '' TERM; echo $$ > pids; while :; do sleep 0.05; done"
        task = asyncio.create_task(bench.box.call(ToolCall("1", "shell", json.dumps({"command": command}))))
        while not (tmp_path / "pids").exists() or not pids(tmp_path):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled(), [pid for pid in pids(tmp_path) if is_running(pid)]

    assert run(cancelled()) == (True, [])


def test_a_command_ends_when_the_one_who_started_it_is_killed(tmp_path):
    script = f"""
import asyncio
from pathlib import Path
from antiphon.tools.access import WRITABLE
from antiphon.tools.sandbox.runner import ShellSettings, run_command
command = "echo $$ > pids; echo ok; sleep 1000"
asyncio.run(run_command(Path({str(tmp_path)!r}), command, 100_000, ShellSettings(bubblewrap=False), {{}}, WRITABLE))
"""
    program = subprocess.Popen([sys.executable, "-c", script])
    while not (tmp_path / "pids").exists() or not pids(tmp_path):
        os.sched_yield()
    program.kill()
    program.wait()

    assert all(map(ends, pids(tmp_path)))


def test_a_flood_of_output_is_stopped_and_its_beginning_and_end_are_kept(bench):
    error_text = bench.refused("shell", command="echo first; yes")

    assert error_text.startswith("first\ny\n")
    assert "bytes omitted" in error_text
    assert "wrote more than 1,000,000 bytes" in error_text
    assert len(error_text) < 1_200


def test_a_command_with_too_many_processes_is_killed(bench):
    error_text = bench.refused("shell", command="for i in $(seq 100); do sleep 1000 & done; wait")

    assert "more than 20 processes" in error_text


def test_a_fork_bomb_is_bounded(bench, tmp_path):
    bench.ask("shell", command="bomb() { bomb | bomb & }; bomb; sleep 5", timeout_ms=4_000)

    assert processes_in(tmp_path) == []


def test_a_fork_bomb_starts_no_more_processes_than_its_limit_however_busy_the_machine_is(bench):
    # Each process writes a line, and none ends, so all that were ever started are counted.
    output = bench.ask("shell", command="bomb() { echo born >&2; bomb & bomb & wait; }; bomb", timeout_ms=4_000)

    assert 0 < str(output).count("born") <= 2 * QUICK.most_processes


def test_a_command_may_start_any_number_of_processes_one_after_another(bench):
    assert bench("shell", command="for i in $(seq 200); do /bin/true; done; echo end") == "end\n"


def test_a_program_with_too_many_threads_gets_an_error_and_goes_on(bench):
    program = """
import threading
stop = threading.Event()
threads = []
try:
    for _ in range(100):
        threads.append(threading.Thread(target=stop.wait))
        threads[-1].start()
except RuntimeError as error:
    print(error)
stop.set()
"""
    assert bench("shell", command=f"{sys.executable} -S -c '{program}'") == "can't start new thread\n"


def test_a_command_that_is_stopped_can_still_start_processes_to_clean_up(tmp_path):
    command = "trap '/bin/touch cleaned; exit' TERM; while :; do sleep 1000 & wait; done"
    with Workbench(tmp_path, shell=ShellSettings(grace_ms=10_000, bubblewrap=False)) as bench:
        bench.ask("shell", command=command, timeout_ms=1_000)

    assert (tmp_path / "cleaned").exists()


def test_a_command_that_only_computes_is_ended(tmp_path):
    with Workbench(tmp_path, shell=ShellSettings(cpu_s=1)) as bench:
        assert "SIGXCPU" in bench("shell", command="exec sh -c 'while :; do :; done'")


def test_a_file_that_grows_too_large_is_stopped(tmp_path):
    with Workbench(tmp_path, shell=ShellSettings(file_bytes=100_000)) as bench:
        bench("shell", command="head -c 1000000 /dev/zero > big; true")

    assert (tmp_path / "big").stat().st_size == 100_000


def test_no_zombie_is_left(bench):
    before = children()
    bench("shell", command="true & false & wait")

    assert children() - before == set()


def children():
    """Our own child processes, dead ones too."""
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent = Path(f"/proc/{name}/stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        if int(parent) == os.getpid():
            found.add(name)
    return found


def test_a_folder_that_is_gone_is_an_error(tmp_path):
    (tmp_path / "inner").mkdir()
    with Workbench(tmp_path / "inner") as bench:
        (tmp_path / "inner").rmdir()

        assert "failed" in bench.refused("shell", command="true")


def test_a_supervisor_that_is_killed_takes_its_command_along(tmp_path):
    command = "echo $$ > pids; kill -9 $PPID; sleep 1000"
    outcome = run(run_command(tmp_path, command, 20_000, ShellSettings(), OURS, Access(outside=True)))

    assert outcome.reason == "lost"
    assert all(map(ends, pids(tmp_path)))


@pytest.mark.parametrize("sizes", [[10], [100], [99, 1, 300], [1] * 500, [1_000, 1]])
def test_of_much_output_the_beginning_and_the_end_are_kept(sizes):
    buffer = OutputBuffer(100)
    written = b""
    for number, size in enumerate(sizes):
        data = bytes([65 + number % 26]) * size
        buffer.add(data)
        written += data

    if len(written) <= 100:
        assert buffer.text == written.decode()
    else:
        assert buffer.text.startswith(written[:50].decode() + "\n[… ")
        assert buffer.text.endswith(" bytes omitted …]\n" + written[-50:].decode())


@pytest.mark.parametrize("bubblewrap", [False, True])
def test_a_command_is_assessed_with_the_layers_that_it_runs_in(tmp_path, monkeypatch, bubblewrap):
    weak = Sandbox(True, ("landlock 1", "seccomp", "bubblewrap 0.8.0"), (), 1, True, "/usr/bin/bwrap")
    monkeypatch.setattr(confinement, "find_sandbox", lambda: weak)
    function = shell_function(Workspace(tmp_path), ShellSettings(bubblewrap=bubblewrap))

    assert function.assess is not None
    assert function.assess({"command": "ls", "network": False}).sandbox == bubblewrap


@pytest.mark.parametrize(
    ("line", "denied"),
    [
        ("cp: cannot create 'a': Permission denied", "write"),
        ("/opt/bin/read: line 41: /opt/version: Permission denied", None),
        ("{folder}/a: Read-only file system", "write"),
    ],
)
def test_only_a_denial_in_the_workspace_is_offered_again(tmp_path, line, denied):
    text = line.format(folder=tmp_path)
    work = run_command(tmp_path, f'echo "{text}"; exit 1', 20_000, ShellSettings(), dict(os.environ), READ_ONLY)

    assert asyncio.run(work).denied == denied
